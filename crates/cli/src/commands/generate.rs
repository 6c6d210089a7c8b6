//! `evergraph generate`: a graph or a log of updates, into a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use evergraph::graph::update::{UpdateWriter, Workload};
use evergraph::graph::write::{self, WriteError};
use evergraph::graph::{EdgeList, KeyTable};
use indicatif::HumanBytes;

use crate::failure::Failure;
use crate::input::{self, describe};
use crate::interrupt::Interrupt;
use crate::numbers::{Seconds, counted};
use crate::output::{self, Target};
use crate::progress::Bar;
use crate::resolve::GeneratePlan;

/// Bytes gathered before they go to the file.
const BUFFER_BYTES: usize = 1 << 20;

/// Makes what the plan says.
pub(crate) fn generate(plan: &GeneratePlan, interrupt: &Interrupt) -> Result<(), Failure> {
    let (GeneratePlan::Graph { graph, path } | GeneratePlan::Updates { graph, path, .. }) = plan;
    if matches!(plan, GeneratePlan::Graph { .. }) {
        check_name(path)?;
    }
    let mut target = Target::open(path)?;
    let made = input::read(graph, interrupt)?;
    let list = &made.list;
    let kind = (list.directed, list.weights.is_some());
    let what = describe(list.keys.len().into(), list.edges.len() as u64, kind);
    output::note(&format!("{}: {what}, in {}", graph.name, Seconds(made.time)));
    let start = Instant::now();
    match plan {
        GeneratePlan::Graph { .. } => write_graph(list, path, (target.file(), interrupt))?,
        GeneratePlan::Updates { options, .. } => {
            let workload = Workload::new(list, options)
                .map_err(|error| Failure::Failed(format!("{}: {error}", graph.name)))?;
            write_updates((list, workload), path, (target.file(), interrupt))?;
        }
    }
    let size = HumanBytes(target.file().metadata().map_or(0, |metadata| metadata.len()));
    target.complete(path)?;
    output::note(&format!("{}: {size}, in {}", path.display(), Seconds(start.elapsed())));
    Ok(())
}

/// Fails if the name does not tell the format: better before the work than after it.
fn check_name(path: &Path) -> Result<(), Failure> {
    let keys = KeyTable::dense(0);
    let nothing = EdgeList { directed: false, keys, edges: Vec::new(), weights: None };
    match write::graph(&nothing, path, io::sink()) {
        Err(error @ WriteError::UnknownFormat { .. }) => Err(Failure::Usage(error.to_string())),
        _ => Ok(()),
    }
}

fn write_graph(
    list: &EdgeList,
    path: &Path,
    (file, interrupt): (&mut File, &Interrupt),
) -> Result<(), Failure> {
    let bar = Bar::writing(interrupt);
    let watched = Watched { out: file, bytes: 0, bar: &bar };
    let written = write::graph(list, path, BufWriter::with_capacity(BUFFER_BYTES, watched));
    let flushed = written.and_then(|mut out| Ok(out.flush()?));
    interrupt.check()?;
    flushed.map_err(|error| of_write(path, error))
}

fn write_updates(
    (list, workload): (&EdgeList, Workload<'_>),
    path: &Path,
    (file, interrupt): (&mut File, &Interrupt),
) -> Result<(), Failure> {
    let bar = Bar::counted(interrupt, "writing", workload.remaining());
    let mut done = 0u64;
    let updates = workload.take_while(|_| {
        done += 1;
        bar.advance(done).is_continue()
    });
    let write = || {
        let mut writer = UpdateWriter::new(BufWriter::with_capacity(BUFFER_BYTES, file), path)?;
        writer.write_workload(list, updates)?;
        Ok(writer.finish()?.flush()?)
    };
    let written = write();
    interrupt.check()?;
    written.map_err(|error| of_write(path, error))?;
    let vertices = counted(list.keys.len(), "vertex", "vertices");
    let updates = counted(done, "update of an edge", "updates of edges");
    drop(bar);
    output::note(&format!("{vertices}, {updates}"));
    Ok(())
}

fn of_write(path: &Path, error: WriteError) -> Failure {
    match error {
        WriteError::Io(error) => Failure::of_file(path, &error),
        error => error.into(),
    }
}

/// A file whose growth is shown, and which takes no more when asked to stop.
struct Watched<'a, W> {
    out: W,
    bytes: u64,
    bar: &'a Bar,
}

impl<W: Write> Write for Watched<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bar.advance(self.bytes).is_break() {
            return Err(io::Error::other("stopped on request"));
        }
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
