//! LDBC Graphalytics: an edge list `NAME.e`, the list of all its vertices `NAME.v`, and perhaps
//! `NAME.properties`, which says what they are.
//!
//! # Properties used
//!   `graph.NAME.vertex-file`, `graph.NAME.edge-file` (beside the properties),
//!   `graph.NAME.directed`, `graph.NAME.edge-properties.names` (empty: no weights),
//!   `graph.NAME.meta.vertices`, `graph.NAME.meta.edges` (compared with what is read).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::edge_list::{self, Listing};
use super::error::ReadError;
use super::fields::{parse_u64, shown};
use super::input::{Meter, extension, strip_compression};
use super::lines::Lines;
use super::options::{KeyChoice, ReadOptions};
use super::sink::{Counts, Sink};
use crate::progress::Progress;

/// Where the files of a Graphalytics graph are by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) edges: PathBuf,
    vertices: PathBuf,
    properties: Option<PathBuf>,
}

/// A Graphalytics graph whose properties are known.
pub(crate) struct Graph {
    pub(crate) edges: PathBuf,
    pub(crate) vertices: PathBuf,
    properties: Properties,
}

/// The Graphalytics graph that `path` names, if it does: by its properties, by its vertex file,
/// by an edge file with a vertex file beside it, or by the prefix of them all.
pub(crate) fn find(path: &Path) -> Option<Files> {
    let (inner, _) = strip_compression(path);
    let prefix = inner.with_extension("");
    let files = match extension(&inner).as_deref() {
        Some("properties") => Files::of(&prefix, Some(path.to_owned())),
        Some("v") => Files { vertices: path.to_owned(), ..Files::of(&prefix, None) },
        Some("e") => {
            let files = Files { edges: path.to_owned(), ..Files::of(&prefix, None) };
            return files.vertices.exists().then_some(files);
        }
        _ if path.exists() => return None,
        _ => {
            let files = Files::of(path, None);
            return (files.edges.exists() || files.properties.is_some()).then_some(files);
        }
    };
    Some(files)
}

impl Files {
    /// The files that are called `prefix` and an extension. Those that need not be there are
    /// named all the same, so that the error for a missing one names it.
    pub(crate) fn of(prefix: &Path, properties: Option<PathBuf>) -> Self {
        let properties = properties.or_else(|| {
            let beside = with_suffix(prefix, ".properties");
            beside.is_file().then_some(beside)
        });
        Self { edges: beside(prefix, ".e"), vertices: beside(prefix, ".v"), properties }
    }
}

/// `prefix` and `suffix`, compressed or not, whichever is there.
fn beside(prefix: &Path, suffix: &str) -> PathBuf {
    ["", ".zst", ".gz", ".xz"]
        .iter()
        .map(|compression| with_suffix(prefix, &format!("{suffix}{compression}")))
        .find(|path| path.is_file())
        .unwrap_or_else(|| with_suffix(prefix, suffix))
}

/// Unlike `with_extension`, keeps what follows a dot in `prefix`.
fn with_suffix(prefix: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(prefix);
    name.push(suffix);
    name.into()
}

impl Graph {
    /// Reads the properties, if there are any, and places the other files.
    pub(crate) fn open(
        files: Files,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Self, ReadError> {
        let Files { mut edges, mut vertices, properties: path } = files;
        let mut properties = Properties::default();
        if let Some(path) = path {
            // The properties are no part of the work that progress is counted by.
            let meter = Meter::new(progress, []).second_look();
            properties = Properties::read(&path, &meter)?;
            let folder = path.parent().unwrap_or(Path::new(""));
            let place = |name: &String| beside(&folder.join(name), "");
            edges = properties.edge_file.as_ref().map_or(edges, place);
            vertices = properties.vertex_file.as_ref().map_or(vertices, place);
        }
        if let Some(given) = &options.vertices {
            vertices.clone_from(given);
        }
        Ok(Self { edges, vertices, properties })
    }
}

/// Reads the graph.
pub(crate) fn read<S: Sink>(
    graph: &Graph,
    options: &ReadOptions,
    meter: &Arc<Meter<'_>>,
    sink: &mut S,
) -> Result<Counts, ReadError> {
    let properties = &graph.properties;
    if options.weighted
        && let Some((line, names)) = &properties.weights
        && names.is_empty()
    {
        return Err(ReadError::NoWeights { at: properties.place(*line), what: "this graph" });
    }
    let options = ReadOptions {
        keys: match options.keys {
            KeyChoice::Auto => KeyChoice::Number,
            chosen => chosen,
        },
        ..options.clone()
    };
    let listing = Listing {
        edges: &graph.edges,
        vertices: Some(&graph.vertices),
        directed: properties.directed,
    };
    let counts = edge_list::read(&listing, &options, meter, sink)?;
    properties.compare(&counts)?;
    Ok(counts)
}

/// What a properties file says, with the lines that say it.
#[derive(Default)]
struct Properties {
    path: Option<Arc<Path>>,
    vertex_file: Option<String>,
    edge_file: Option<String>,
    directed: Option<bool>,
    weights: Option<(u64, String)>,
    vertices: Option<(u64, u64)>,
    edges: Option<(u64, u64)>,
}

impl Properties {
    fn read(path: &Path, meter: &Arc<Meter<'_>>) -> Result<Self, ReadError> {
        let mut lines = Lines::open(path, meter)?;
        let mut properties = Self { path: Some(path.into()), ..Self::default() };
        let mut known = false;
        while lines.advance_past(b"#!")? {
            let line = String::from_utf8_lossy(lines.line()).into_owned();
            let (key, value) = line.split_once(['=', ':']).unwrap_or((&line, ""));
            if let Some(key) = key.trim().strip_prefix("graph.") {
                known = true;
                properties.set(key, value.trim(), &lines)?;
            }
        }
        if !known {
            let problem = "no property begins with `graph.`; this does not describe a Graphalytics \
                           graph";
            return Err(lines.at_line(0).malformed(problem));
        }
        Ok(properties)
    }

    /// Takes a property. `key` is what follows `graph.`: the name of the graph, which may hold
    /// dots, and the name of the property.
    fn set(&mut self, key: &str, value: &str, lines: &Lines<'_>) -> Result<(), ReadError> {
        let at = lines.at();
        let is = |name: &str| key.ends_with(name);
        let number = || {
            parse_u64(value.as_bytes()).map(|number| (at.line, number)).ok_or_else(|| {
                at.malformed(format!("`{}` is not a count", shown(value.as_bytes())))
            })
        };
        if is(".vertex-file") {
            self.vertex_file = Some(value.to_owned());
        } else if is(".edge-file") {
            self.edge_file = Some(value.to_owned());
        } else if is(".edge-properties.names") {
            self.weights = Some((at.line, value.to_owned()));
        } else if is(".meta.vertices") {
            self.vertices = Some(number()?);
        } else if is(".meta.edges") {
            self.edges = Some(number()?);
        } else if is(".directed") {
            self.directed = Some(match value {
                "true" => true,
                "false" => false,
                _ => return Err(at.malformed("`directed` is neither `true` nor `false`")),
            });
        }
        Ok(())
    }

    fn place(&self, line: u64) -> super::error::Place {
        super::error::Place {
            path: self.path.clone().unwrap_or_else(|| Path::new("").into()),
            line,
        }
    }

    /// Compares what was read with what there should be.
    fn compare(&self, counts: &Counts) -> Result<(), ReadError> {
        let vertices = counts.vertices + counts.duplicate_vertices;
        let edges = counts.edges + counts.duplicate_edges + counts.self_loops;
        for (what, declared, found) in
            [("vertices", self.vertices, vertices), ("edges", self.edges, edges)]
        {
            if let Some((line, declared)) = declared
                && declared != found
            {
                return Err(ReadError::CountMismatch {
                    at: self.place(line),
                    what,
                    declared,
                    found,
                });
            }
        }
        Ok(())
    }
}
