//! `evergraph check`: every file of a database read, everything that must hold checked.

use std::io::Write;
use std::path::Path;

use evergraph::{Checked, StoreError};
use serde_json::json;

use crate::args::{CheckArgs, ReportFormat};
use crate::database;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::numbers::{count, counted};
use crate::output::{self, line};
use crate::progress::Bar;

/// Checks the files; fails if anything is wrong.
pub(crate) fn check(args: &CheckArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let path = &args.path;
    database::must_be_folder(path)?;
    let wheel = Bar::wheel(interrupt, "checking");
    let checked = interrupt.ending_at_once(|| evergraph::check(path))?;
    drop(wheel);
    output::to_stdout(|out| match args.output_format {
        ReportFormat::Table => table(path, &checked, out),
        ReportFormat::Json => output::json(out, &object(path, &checked)),
    })?;
    match checked.problems.len() as u64 {
        0 => Ok(()),
        number => Err(Failure::Failed(format!(
            "{}: {} found; `evergraph salvage` makes a new database of what is good",
            path.display(),
            counted(number, "problem", "problems")
        ))),
    }
}

fn table(path: &Path, checked: &Checked, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}\n", path.display())?;
    line(out, "log", &counted(checked.segments as u64, "file", "files"))?;
    line(out, "checkpoint", &counted(checked.checkpoints as u64, "file", "files"))?;
    if checked.problems.is_empty() {
        let vertices = counted(checked.vertices, "vertex", "vertices");
        let edges = counted(checked.edges, "edge", "edges");
        line(out, "graph", &format!("{vertices}, {edges}"))?;
        line(out, "version", &count(checked.version.0).to_string())?;
        return line(out, "checked", "nothing is wrong");
    }
    problems(&checked.problems, out)
}

/// What is wrong with the files, a line each.
pub(super) fn problems(problems: &[StoreError], out: &mut dyn Write) -> std::io::Result<()> {
    problems.iter().try_for_each(|problem| line(out, "wrong", &problem.to_string()))
}

fn object(path: &Path, checked: &Checked) -> serde_json::Value {
    let problems = told(&checked.problems);
    json!({
        "path": path.display().to_string(),
        "log_files": checked.segments,
        "checkpoints": checked.checkpoints,
        "version": checked.version.0,
        "vertices": checked.vertices,
        "edges": checked.edges,
        "problems": problems,
    })
}

/// What is wrong with the files, as texts.
pub(super) fn told(problems: &[StoreError]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}
