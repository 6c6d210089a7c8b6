//! What the tests of readers and writers share: files in a scratch folder, graphs by key, the
//! folder of real graphs.
#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use evergraph_graph::EdgeList;
use evergraph_graph::read::{self, ReadError, ReadOptions};
use tempfile::TempDir;

/// A folder that goes away.
pub(crate) struct Scratch {
    folder: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a scratch folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and gives its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("the scratch folder takes files");
        path
    }

    /// Loads a graph from a file of this name and content.
    pub(crate) fn load(
        &self,
        name: &str,
        content: impl AsRef<[u8]>,
        options: &ReadOptions,
    ) -> Result<EdgeList, ReadError> {
        load(&self.file(name, content), options)
    }
}

pub(crate) fn load(path: &Path, options: &ReadOptions) -> Result<EdgeList, ReadError> {
    read::load(path, options, &())
}

pub(crate) fn directed() -> ReadOptions {
    ReadOptions { directed: Some(true), ..ReadOptions::default() }
}

pub(crate) fn undirected() -> ReadOptions {
    ReadOptions { directed: Some(false), ..ReadOptions::default() }
}

pub(crate) fn weighted() -> ReadOptions {
    ReadOptions { weighted: true, ..ReadOptions::default() }
}

/// The edges by the keys of their ends, as they stand in the list.
pub(crate) fn edges(list: &EdgeList) -> Vec<(String, String)> {
    let key = |v| list.keys.key(v).expect("ends have keys").to_string();
    list.edges.iter().map(|&(u, v)| (key(u), key(v))).collect()
}

/// The edges in one line: `1-2 2-3`.
pub(crate) fn shown(list: &EdgeList) -> String {
    let edges: Vec<String> = edges(list).into_iter().map(|(u, v)| format!("{u}-{v}")).collect();
    edges.join(" ")
}

/// The keys in one line, in id order.
pub(crate) fn keys(list: &EdgeList) -> String {
    let keys: Vec<String> = list.keys.iter().map(|key| key.to_string()).collect();
    keys.join(" ")
}

/// Everything about a graph but the order of its edges and of its ids. Weights by their bits.
pub(crate) type Content = (bool, BTreeSet<String>, BTreeSet<(String, String, Option<u64>)>);

pub(crate) fn content(list: &EdgeList) -> Content {
    let weight = |i: usize| list.weights.as_ref().map(|weights| weights[i].to_bits());
    let edges = edges(list).into_iter().enumerate().map(|(i, (u, v))| {
        let swap = !list.directed && u > v;
        let (u, v) = if swap { (v, u) } else { (u, v) };
        (u, v, weight(i))
    });
    (list.directed, list.keys.iter().map(|key| key.to_string()).collect(), edges.collect())
}

/// A file of the folder of real graphs; says so and gives `None` where it is absent.
#[expect(
    clippy::print_stderr,
    reason = "a test that had no data must not look like one that passed"
)]
pub(crate) fn data(path: &str) -> Option<PathBuf> {
    let folder = env::var_os("EVERGRAPH_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: no data at {}", path.display());
    None
}
