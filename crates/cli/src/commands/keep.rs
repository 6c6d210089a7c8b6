//! `evergraph keep`: how far back a database in a folder keeps the past, told and changed.

use evergraph::Keep;
use serde_json::json;

use crate::args::ReportFormat;
use crate::database;
use crate::failure::Failure;
use crate::keep;
use crate::output::{self, line};
use crate::resolve::KeepPlan;

/// Changes it if that was asked for, and tells what it is.
pub(crate) fn keep(plan: &KeepPlan) -> Result<(), Failure> {
    database::must_be_folder(&plan.path)?;
    if let Some(keep) = plan.keep {
        evergraph::set_keep(&plan.path, keep)?;
    }
    let kept = evergraph::keep_of(&plan.path)?;
    output::to_stdout(|out| match plan.format {
        ReportFormat::Table => {
            writeln!(out, "{}\n", plan.path.display())?;
            line(out, "kept", &told(kept))
        }
        ReportFormat::Json => {
            let path = plan.path.display().to_string();
            output::json(out, &json!({ "path": path, "keep": keep::object(kept) }))
        }
    })
}

/// What is kept, in a sentence.
pub(crate) fn told(kept: Keep) -> String {
    let words = keep::words(kept);
    match kept {
        Keep::Nothing => "no more than is needed to open it".to_owned(),
        Keep::Everything => words,
        Keep::Versions(_) | Keep::Time(_) => format!("{words} back"),
        Keep::Bytes(_) => format!("{words} of the log"),
    }
}
