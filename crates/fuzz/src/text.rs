//! Text files of graphs, in every format, and update logs.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use evergraph::graph::read::{Duplicates, Format, KeyChoice, ReadOptions, SelfLoops, load};
use tempfile::TempDir;

/// A folder of this thread, and the file in it that is written again and again.
struct Place {
    _folder: TempDir,
    file: PathBuf,
}

thread_local! {
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// Reads a graph file: the first byte says in which format and how, the rest is the file.
///
/// # Panics
/// If reading does harm, or there is no room for a file.
pub fn text(bytes: &[u8]) {
    let Some((&how, content)) = bytes.split_first() else { return };
    let (_, format) = Format::NAMES[usize::from(how) % Format::NAMES.len()];
    let bit = |bit: u8| how >> bit & 1 == 1;
    let options = ReadOptions {
        format: Some(format),
        directed: bit(3).then(|| bit(4)),
        weighted: bit(5),
        keys: if bit(6) { KeyChoice::Text } else { KeyChoice::default() },
        duplicates: if bit(7) { Duplicates::Ignore } else { Duplicates::default() },
        self_loops: SelfLoops::default(),
        vertices: None,
    };
    PLACE.with_borrow_mut(|place| {
        let place = place.get_or_insert_with(|| {
            let folder = tempfile::tempdir().expect("a folder");
            Place { file: folder.path().join("graph.e"), _folder: folder }
        });
        fs::write(&place.file, content).expect("room for a file");
        if format == Format::Graphalytics {
            // The vertices are what stands before the first empty line.
            let end = content.windows(2).position(|pair| pair == b"\n\n").unwrap_or(content.len());
            fs::write(place.file.with_extension("v"), &content[..end]).expect("room for a file");
        }
        // Whatever is wrong with it is told.
        if let Ok(list) = load(&place.file, &options, &()) {
            let bound = list.keys.len();
            assert!(list.edges.iter().all(|&(u, v)| u < bound && v < bound), "ends are vertices");
        }
    });
}
