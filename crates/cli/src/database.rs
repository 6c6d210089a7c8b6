//! Databases in folders: opening them with a bar, and what is known of a folder before that.

use std::path::Path;
use std::sync::Arc;

use evergraph::{Database, Options, StoreError};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Bar;

/// What a folder may hold in which a database is made: what making one leaves if it is interrupted,
/// and files about which the store knows more to say.
const FILES: [&str; 5] = ["LOCK", "KEEP", ".tmp", ".evl", ".evc"];
/// Without it a folder is no database.
const NAME: &str = "DATABASE";

/// Opens the database in a folder to read it.
pub(crate) fn open_read_only(path: &Path, interrupt: &Interrupt) -> Result<Database, Failure> {
    must_be_folder(path)?;
    Ok(watched(Database::options(), interrupt, |options| options.open_read_only(path))?)
}

/// Opens the database in a folder with these options, or makes it.
pub(crate) fn open(
    path: &Path,
    options: Options,
    interrupt: &Interrupt,
) -> Result<Database, StoreError> {
    watched(options, interrupt, |options| options.open(path))
}

fn watched(
    options: Options,
    interrupt: &Interrupt,
    open: impl FnOnce(Options) -> Result<Database, StoreError>,
) -> Result<Database, StoreError> {
    // The database keeps its listener.
    let bar = Arc::new(Bar::new(interrupt));
    let opened = open(options.progress(Arc::<Bar>::clone(&bar)));
    bar.clear();
    opened
}

/// Fails if there is something that is no folder.
pub(crate) fn must_be_folder(path: &Path) -> Result<(), Failure> {
    if path.exists() && !path.is_dir() {
        let path = path.display();
        return Err(Failure::Failed(format!("{path}: this is a file; a database is a folder")));
    }
    Ok(())
}

/// Fails if a database can neither be there nor be made there.
pub(crate) fn must_be_free(path: &Path) -> Result<(), Failure> {
    must_be_folder(path)?;
    if holds_database(path) || !path.exists() {
        return Ok(());
    }
    let told = |reason: String| Failure::Failed(format!("{}: {reason}", path.display()));
    let entries = std::fs::read_dir(path).map_err(|error| told(error.to_string()))?;
    for entry in entries {
        let name = entry.map_err(|error| told(error.to_string()))?.file_name();
        let name = name.to_string_lossy();
        if !FILES.iter().any(|file| name.ends_with(file)) {
            return Err(told(format!(
                "this folder holds other files ({name}) and no database; name a new or empty one"
            )));
        }
    }
    Ok(())
}

/// Whether there is a database in a folder.
pub(crate) fn holds_database(path: &Path) -> bool {
    path.join(NAME).exists()
}
