//! Reads or makes graphs, says how long it took, and writes the last one to a file if asked to.
//!
//! `cargo run --release -p evergraph-graph --example load -- [--directed | --undirected]
//! [--weighted] [--output FILE] GRAPH ..`
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::time::Instant;

use evergraph_graph::{EdgeList, GraphSource, ReadOptions, write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut options = ReadOptions::default();
    let (mut graphs, mut output) = (Vec::new(), None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--directed" => options.directed = Some(true),
            "--undirected" => options.directed = Some(false),
            "--weighted" => options.weighted = true,
            "--output" => output = words.next(),
            _ => graphs.push(word),
        }
    }
    let mut last = None;
    for graph in graphs {
        let source: GraphSource = graph.parse()?;
        let start = Instant::now();
        let list = source.load(&options, &())?;
        report(&graph, &list, start.elapsed().as_secs_f64());
        last = Some(list);
    }
    if let (Some(path), Some(list)) = (output, last) {
        let start = Instant::now();
        write::graph(&list, Path::new(&path), File::create(&path)?)?;
        report(&path, &list, start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn report(name: &str, list: &EdgeList, seconds: f64) {
    let bytes = fs::metadata(name).map_or(0, |metadata| metadata.len());
    println!(
        "{name}: {} vertices, {} edges, {seconds:.3} s, {:.1} M edges/s, {:.0} MB/s",
        list.keys.len(),
        list.edges.len(),
        list.edges.len() as f64 / seconds / 1e6,
        bytes as f64 / seconds / 1e6,
    );
}
