//! `nx_*` and `python_*`: the Python package beside `NetworkX` and igraph, and what its calls cost.
//!
//! A script does it (`python/bench/networkx_speed.py`), in the Python of the virtual environment that
//! is active, else in `python3`. It prints an object per figure.

use std::env;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use evergraph::graph::GraphSource;
use serde::Deserialize;

use super::Session;
use crate::report::Row;
use crate::samples::Samples;
use crate::{Error, Result};

const SCRIPT: &str = include_str!("../../../../python/bench/networkx_speed.py");

/// Prints which packages are missing.
const MISSING: &str = "import importlib.util as u
print(*[n for n in ('evergraph', 'networkx', 'igraph', 'pyarrow', 'scipy') if not u.find_spec(n)])";

/// The figures that the script may tell.
const METRICS: [&str; 11] = [
    "nx_pagerank",
    "nx_single_source_shortest_path_length",
    "nx_connected_components",
    "nx_strongly_connected_components",
    "nx_weakly_connected_components",
    "nx_triangles",
    "nx_clustering",
    "python_call",
    "python_load",
    "python_commits",
    "python_pagerank",
];
const UNITS: [&str; 2] = ["s", "1/s"];
const BASELINES: [&str; 3] = ["networkx", "igraph", "alone"];

/// A figure as the script tells it.
#[derive(Deserialize)]
struct Figure {
    metric: String,
    of: String,
    unit: String,
    samples: Vec<f64>,
    baseline: Option<String>,
    baseline_value: Option<f64>,
    remark: Option<String>,
    /// Those of the package; all unless said.
    threads: Option<usize>,
}

/// Runs the script and takes its figures.
pub(crate) fn measure(session: &mut Session<'_>) -> Result<()> {
    let python = python();
    check(&python)?;
    let mut script = Command::new(&python);
    // What lies in the current folder is none of its modules, whatever it is called.
    script.env("PYTHONSAFEPATH", "1");
    script.args(["-c", SCRIPT, "--json", "--graph"]);
    match &session.args.graph {
        GraphSource::File(path) => script.arg(path),
        GraphSource::Generated(spec) => script.arg(spec.to_string()),
    };
    script.args(["--repeats", &session.repeats().to_string()]);
    if session.args.directed {
        script.arg("--directed");
    }
    session.reporter.note(&format!("Python is {}", python.display()));
    let mut child =
        script.stdout(Stdio::piped()).spawn().map_err(|error| failed(&python, error))?;
    let lines = child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines);
    for line in lines {
        let figure = serde_json::from_str(&line?).map_err(|error| failed(&python, error))?;
        session.report.add(row(session, figure)?);
    }
    let status = child.wait()?;
    if session.reporter.advance(0, None) == ControlFlow::Break(()) {
        return Err(Error::Interrupted);
    }
    if status.success() { Ok(()) } else { Err(failed(&python, status)) }
}

/// The Python of the virtual environment, if one is active.
fn python() -> PathBuf {
    let active = env::var_os("VIRTUAL_ENV");
    active.map_or_else(|| "python3".into(), |folder| Path::new(&folder).join("bin/python"))
}

/// An error that says what to install, if something is missing.
fn check(python: &Path) -> Result<()> {
    let asked = Command::new(python).args(["-c", MISSING]).output();
    let asked = asked.map_err(|error| failed(python, error))?;
    let missing = String::from_utf8_lossy(&asked.stdout);
    let missing: Vec<&str> = missing.split_whitespace().collect();
    if missing.is_empty() {
        return Ok(());
    }
    // The package itself is built from a clone.
    let install: Vec<&str> =
        missing.iter().map(|&name| if name == "evergraph" { "." } else { name }).collect();
    let (python, missing, install) = (python.display(), missing.join(", "), install.join(" "));
    Err(Error::Python(format!(
        "{python} has no {missing}; in a clone: {python} -m pip install {install}"
    )))
}

fn failed(python: &Path, error: impl std::fmt::Display) -> Error {
    Error::Python(format!("{}: {error}", python.display()))
}

fn row(session: &Session<'_>, figure: Figure) -> Result<Row> {
    let metric = known(&METRICS, &figure.metric)?;
    let row = Row::of(metric, known(&UNITS, &figure.unit)?, &Samples(figure.samples));
    let threads = figure.threads.unwrap_or_else(crate::machine::cores);
    let directed = session.args.directed;
    let row = Row { graph: figure.of, directed, threads, remark: figure.remark, ..row };
    Ok(match (figure.baseline, figure.baseline_value) {
        (Some(baseline), Some(value)) => row.against(known(&BASELINES, &baseline)?, value),
        _ => row,
    })
}

fn known(names: &[&'static str], name: &str) -> Result<&'static str> {
    let found = names.iter().find(|&&known| known == name);
    found.copied().ok_or_else(|| Error::Python(format!("the script tells of `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_script_tells_has_a_name() {
        assert_eq!(known(&METRICS, "nx_pagerank").ok(), Some("nx_pagerank"));
        assert!(known(&METRICS, "nx_nothing").is_err());
        for name in METRICS.iter().filter_map(|name| name.strip_prefix("nx_")) {
            assert!(SCRIPT.contains(&format!("nx.{name}")), "{name}");
        }
    }
}
