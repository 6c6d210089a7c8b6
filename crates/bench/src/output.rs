//! Where the results go: a table, JSON, charts.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::report::Report;
use crate::{Error, Result, plot, table};

/// Everything that will be written to. Made before anything is measured, so that a mistaken path
/// is told at once and not after an hour.
pub struct Output<'a> {
    json: Json<'a>,
    charts: Option<&'a Path>,
}

enum Json<'a> {
    None,
    /// In place of the table.
    Standard,
    File(&'a Path, File),
}

impl<'a> Output<'a> {
    /// Opens the file for the rows and makes the folder for charts.
    pub fn prepare(json: Option<&'a Path>, charts: Option<&'a Path>) -> Result<Self> {
        let json = match json {
            None => Json::None,
            Some(path) if path == Path::new("-") => Json::Standard,
            Some(path) => {
                Json::File(path, File::create(path).map_err(|error| cannot_write(path, error))?)
            }
        };
        if let Some(folder) = charts {
            fs::create_dir_all(folder).map_err(|error| cannot_write(folder, error))?;
        }
        Ok(Self { json, charts })
    }

    /// Writes the results to every place that was asked for.
    pub fn write(self, report: &Report, out: &mut dyn Write) -> Result<()> {
        match self.json {
            Json::Standard => write_json(report, out)?,
            Json::None => writeln!(out, "{}", table::draw(&report.rows))?,
            Json::File(path, file) => {
                let mut file = BufWriter::new(file);
                write_json(report, &mut file).map_err(|error| cannot_write(path, error))?;
                writeln!(out, "{}", table::draw(&report.rows))?;
            }
        }
        out.flush()?;
        self.charts.map_or(Ok(()), |folder| plot::draw(report, folder))
    }
}

fn write_json(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &report.rows)?;
    writeln!(out)?;
    out.flush()
}

fn cannot_write(path: &Path, source: std::io::Error) -> Error {
    Error::Write { path: PathBuf::from(path), source }
}
