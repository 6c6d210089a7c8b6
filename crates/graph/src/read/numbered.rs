//! What the formats have in common that say how many vertices there are and number them from 1.

use super::error::{ReadError, WeightFault};
use super::fields::{Field, parse_f64, parse_u64};
use super::lines::{At, Lines};
use super::options::{KeyChoice, ReadOptions};

/// Refuses options that only go with formats that name their vertices.
pub(crate) fn check_options(at: At<'_>, options: &ReadOptions) -> Result<(), ReadError> {
    let refuse = |option, reason| {
        Err(ReadError::OptionRefused { path: at.path.to_path_buf(), option, reason })
    };
    if options.keys == KeyChoice::Text {
        return refuse("text keys", "this format numbers its vertices from 1");
    }
    if options.vertices.is_some() {
        return refuse("vertex file", "this format says itself which vertices there are");
    }
    Ok(())
}

/// A column that says how many there are of something.
pub(crate) fn count(at: At<'_>, field: Field<'_>) -> Result<u64, ReadError> {
    parse_u64(field.bytes).ok_or_else(|| {
        at.malformed(format!("column {} is `{}`, not a count", field.column, field.shown()))
    })
}

/// Refuses a declared number of records that the file is too short to hold, before anything is
/// reserved for them.
pub(crate) fn check_room(
    lines: &Lines<'_>,
    what: &'static str,
    declared: u64,
    record_bytes_min: u64,
) -> Result<(), ReadError> {
    // The last record may lack the end of its line.
    let fits =
        lines.text_bytes_max().is_none_or(|bytes| declared <= (bytes + 1) / record_bytes_min);
    if fits {
        return Ok(());
    }
    Err(ReadError::CountTooLarge { at: lines.at().place(), what, declared })
}

/// Compares a declared number of records with what was found.
pub(crate) fn compare(
    at: At<'_>,
    what: &'static str,
    declared: u64,
    found: u64,
) -> Result<(), ReadError> {
    if declared == found {
        return Ok(());
    }
    Err(ReadError::CountMismatch { at: at.place(), what, declared, found })
}

/// Refuses a vertex that is not `1 ..= vertices`.
#[inline]
pub(crate) fn check_vertex(
    at: At<'_>,
    column: usize,
    vertex: u64,
    vertices: u64,
) -> Result<(), ReadError> {
    if vertex.wrapping_sub(1) < vertices {
        return Ok(());
    }
    Err(ReadError::KeyOutOfRange {
        at: at.place(),
        column,
        key: vertex.to_string(),
        least: 1,
        greatest: vertices,
    })
}

/// Checks that a column that is not used is a number.
pub(crate) fn check_number(at: At<'_>, field: Field<'_>) -> Result<(), ReadError> {
    match parse_f64(field.bytes) {
        Some(_) => Ok(()),
        None => Err(ReadError::BadWeight {
            at: at.place(),
            column: field.column,
            weight: field.shown(),
            fault: WeightFault::NotANumber,
        }),
    }
}
