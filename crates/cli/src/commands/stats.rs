//! `evergraph stats`: what a database in a folder holds, and in which files.

use std::io::Write;
use std::path::Path;

use evergraph::graph::KeyKind;
use evergraph::{Database, Files};
use indicatif::HumanBytes;
use serde_json::json;

use super::keep::told;
use crate::args::{ReportFormat, StatsArgs};
use crate::database;
use crate::failure::Failure;
use crate::input::describe;
use crate::interrupt::Interrupt;
use crate::keep;
use crate::numbers::{count, counted};
use crate::output::{self, line};

/// Shows what there is.
pub(crate) fn stats(args: &StatsArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let db = database::open_read_only(&args.path, interrupt)?;
    let files = db.files()?;
    output::to_stdout(|out| match args.output_format {
        ReportFormat::Table => table((&args.path, &db, &files), out),
        ReportFormat::Json => output::json(out, &object(&args.path, &db, &files)),
    })
}

fn table(
    (path, db, files): (&Path, &Database, &Files),
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let stats = db.stats();
    writeln!(out, "{}\n", path.display())?;
    let kind = (db.is_directed(), db.is_weighted());
    line(out, "graph", &describe(stats.vertices, stats.edges, kind))?;
    line(
        out,
        "keys",
        match db.key_kind() {
            KeyKind::Dense => "the numbers from 0 on",
            KeyKind::Number => "64-bit numbers",
            KeyKind::Text => "texts",
        },
    )?;
    line(out, "version", &count(stats.version.0).to_string())?;
    let past = format!("snapshots back to version {}", count(files.oldest.0));
    line(out, "past", &format!("{past}, changes after version {}", count(files.changes_after.0)))?;
    line(out, "kept", &told(db.keep()))?;
    let files_in = |number: usize, bytes: u64| {
        format!("{}, {}", counted(number as u64, "file", "files"), HumanBytes(bytes))
    };
    line(out, "log", &files_in(files.segments, files.segment_bytes))?;
    line(out, "checkpoint", &files_in(files.checkpoints, files.checkpoint_bytes))
}

fn object(path: &Path, db: &Database, files: &Files) -> serde_json::Value {
    let stats = db.stats();
    json!({
        "path": path.display().to_string(),
        "vertices": stats.vertices,
        "edges": stats.edges,
        "directed": db.is_directed(),
        "weighted": db.is_weighted(),
        "keys": match db.key_kind() {
            KeyKind::Dense => "dense",
            KeyKind::Number => "number",
            KeyKind::Text => "text",
        },
        "version": stats.version.0,
        "oldest_version": files.oldest.0,
        "changes_after": files.changes_after.0,
        "keep": keep::object(db.keep()),
        "log": { "files": files.segments, "bytes": files.segment_bytes },
        "checkpoints": { "files": files.checkpoints, "bytes": files.checkpoint_bytes },
    })
}
