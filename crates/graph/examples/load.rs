//! Reads or makes a graph and says how long it took: `cargo run --release --example load -- GRAPH`.
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use std::error::Error;
use std::time::Instant;

use evergraph_graph::{GraphSource, ReadOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1).peekable();
    let mut options = ReadOptions::default();
    let mut graphs = Vec::new();
    for word in &mut words {
        match word.as_str() {
            "--directed" => options.directed = Some(true),
            "--undirected" => options.directed = Some(false),
            "--weighted" => options.weighted = true,
            _ => graphs.push(word),
        }
    }
    for graph in graphs {
        let source: GraphSource = graph.parse()?;
        let start = Instant::now();
        let list = source.load(&options, &())?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{graph}: {} vertices, {} edges, {seconds:.3} s",
            list.keys.len(),
            list.edges.len(),
        );
    }
    Ok(())
}
