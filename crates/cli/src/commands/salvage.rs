//! `evergraph salvage`: a new database of what can still be read of a damaged one.

use std::io::Write;

use evergraph::Salvaged;
use serde_json::json;

use super::check::{problems, told};
use crate::args::{ReportFormat, SalvageArgs};
use crate::database;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::numbers::{count, counted};
use crate::output::{self, line};
use crate::progress::Bar;

/// Saves what is good; fails if something was not.
pub(crate) fn salvage(args: &SalvageArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let SalvageArgs { path, into, output_format } = args;
    database::must_be_folder(path)?;
    database::must_be_free(into)?;
    let wheel = Bar::wheel(interrupt, "salvaging");
    // Half of a new database is none, and the next try writes it again.
    let saved = interrupt.ending_at_once(|| evergraph::salvage(path, into))?;
    drop(wheel);
    output::to_stdout(|out| match output_format {
        ReportFormat::Table => table(args, &saved, out),
        ReportFormat::Json => output::json(out, &object(args, &saved)),
    })?;
    if saved.problems.is_empty() && saved.gaps.is_empty() && saved.dangling == 0 {
        return Ok(());
    }
    Err(Failure::Failed(format!(
        "{}: files are damaged; what is good of them is in {}",
        path.display(),
        into.display()
    )))
}

fn table(args: &SalvageArgs, saved: &Salvaged, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{} from {}\n", args.into.display(), args.path.display())?;
    let vertices = counted(saved.vertices, "vertex", "vertices");
    let edges = counted(saved.edges, "edge", "edges");
    line(out, "saved", &format!("{vertices}, {edges}"))?;
    line(out, "version", &count(saved.version.0).to_string())?;
    for (first, next) in &saved.gaps {
        let (first, next) = (count(first.0), count(next.0));
        line(out, "lost", &format!("the commits of version {first} up to, not with, {next}"))?;
    }
    if saved.dangling > 0 {
        let edges = counted(saved.dangling, "edge", "edges");
        line(out, "lost", &format!("{edges} with an end that was lost"))?;
    }
    problems(&saved.problems, out)
}

fn object(args: &SalvageArgs, saved: &Salvaged) -> serde_json::Value {
    let problems = told(&saved.problems);
    let gap = |(first, next): &(evergraph::Version, evergraph::Version)| json!([first.0, next.0]);
    json!({
        "path": args.path.display().to_string(),
        "into": args.into.display().to_string(),
        "version": saved.version.0,
        "vertices": saved.vertices,
        "edges": saved.edges,
        "gaps": saved.gaps.iter().map(gap).collect::<Vec<_>>(),
        "dangling": saved.dangling,
        "problems": problems,
    })
}
