//! Standing results, as Python holds them: answers that are kept up to date.

use evergraph::algo::{Cancel, WccOutput};
use evergraph::graph::KeyRef;
use evergraph::kernels::standing as kept;
use evergraph::standing::{
    DegreeOutput, RanksConfig, Refresh, Standing as Following, StandingBfs, StandingComponents,
    StandingDegrees, StandingPageRank, StandingSssp, StandingTriangles,
};
use evergraph::{Database, Result};
use pyo3::prelude::*;

use crate::changes::Columns;
use crate::column::Column;
use crate::components::Components;
use crate::error::{InvalidError, internal, to_python};
use crate::key::PyKey;
use crate::lend::{Lender, Loan};
use crate::run::run;
use crate::snapshot::Members;

/// What is to be followed, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Question {
    /// `"degrees"`, `"components"`, `"triangles"`, `"bfs"`, `"sssp"` or `"pagerank"`.
    about: String,
    source: Option<PyKey>,
    damping: f64,
    tolerance: f64,
    recompute_above: Option<f64>,
}

/// An answer: a number, values of vertices, or both.
type Answer = (Option<u64>, Columns);

/// An answer that is kept up to date, whatever it is about.
trait Kept: Send {
    fn refresh(&mut self, cancel: &Cancel) -> Result<Refresh>;
    fn version(&self) -> u64;
    /// None after a refresh that failed.
    fn answer(&self) -> Result<Option<PyResult<Answer>>>;
}

/// How the output of a method becomes an answer.
type Say<R> = for<'a> fn(<R as kept::Standing>::Output<'a>, &Members) -> PyResult<Answer>;

struct About<R: kept::Standing> {
    standing: Following<R>,
    say: Say<R>,
}

impl<R> Kept for About<R>
where
    R: kept::Standing + Send,
    R::Config: Send,
{
    fn refresh(&mut self, cancel: &Cancel) -> Result<Refresh> {
        self.standing.refresh_cancellable(cancel)
    }

    fn version(&self) -> u64 {
        self.standing.version().0
    }

    fn answer(&self) -> Result<Option<PyResult<Answer>>> {
        let Some(output) = self.standing.output() else { return Ok(None) };
        Ok(Some((self.say)(output, &Members::of(self.standing.snapshot())?)))
    }
}

/// A standing result.
#[pyclass(frozen, module = "evergraph._native")]
pub(crate) struct Standing {
    kept: Loan<Box<dyn Kept>>,
}

impl Standing {
    pub(crate) fn of(py: Python<'_>, lender: &Lender, question: Question) -> PyResult<Self> {
        let kept = run(py, |cancel| Ok(lender.lend(|db| begin(db, &question, cancel))))??;
        Ok(Self { kept: kept? })
    }
}

fn begin(db: &Database, question: &Question, cancel: &Cancel) -> PyResult<Box<dyn Kept>> {
    let source = || {
        let source = question.source.as_ref().map(KeyRef::from);
        source.ok_or_else(|| internal("paths without a source"))
    };
    let above = question.recompute_above;
    let share = |share: f64| {
        if share >= 0.0 {
            Ok(share)
        } else {
            Err(InvalidError::new_err("recompute_above is a share of the edges, 0 or more"))
        }
    };
    let above = above.map(share).transpose()?;
    let config = RanksConfig { damping: question.damping, tolerance: question.tolerance };
    Ok(match question.about.as_str() {
        "degrees" => {
            about(StandingDegrees::new_cancellable(db, cancel), above, |output, members| {
                Ok(degrees(output, members))
            })?
        }
        "components" => {
            about(StandingComponents::new_cancellable(db, cancel), above, |output, members| {
                components(output, members)
            })?
        }
        "triangles" => {
            about(StandingTriangles::new_cancellable(db, cancel), above, |output, _| {
                Ok((Some(output.triangles), Vec::new()))
            })?
        }
        "bfs" => {
            about(StandingBfs::new_cancellable(db, source()?, cancel), above, |output, members| {
                Ok(by_vertex(members, "hops", Column::hops(members.of_members(output.to_vec()))))
            })?
        }
        "sssp" => about(
            StandingSssp::new_cancellable(db, source()?, cancel),
            above,
            |output, members| {
                let distances = members.of_members(output.to_vec());
                Ok(by_vertex(members, "distance", Column::floats(distances)))
            },
        )?,
        "pagerank" => {
            let ranks = StandingPageRank::new_cancellable(db, &config, cancel);
            about(ranks, above, |output, members| {
                let ranks = members.of_members(output.ranks().collect());
                Ok(by_vertex(members, "rank", Column::floats(ranks)))
            })?
        }
        other => return Err(internal(&format!("a standing result about {other}"))),
    })
}

fn about<R>(
    standing: Result<Following<R>>,
    above: Option<f64>,
    say: Say<R>,
) -> PyResult<Box<dyn Kept>>
where
    R: kept::Standing + Send + 'static,
    R::Config: Send + 'static,
{
    let standing = standing.map_err(to_python)?;
    let standing = match above {
        Some(share) => standing.recompute_above(share),
        None => standing,
    };
    Ok(Box::new(About { standing, say }))
}

fn by_vertex(members: &Members, name: &'static str, column: Column) -> Answer {
    (None, vec![("vertex", Column::new(members.keys().clone())), (name, column)])
}

fn degrees(output: &DegreeOutput, members: &Members) -> Answer {
    let column = |degrees: &[u32]| {
        let degrees = degrees.iter().map(|&degree| u64::from(degree)).collect();
        Column::numbers(members.of_members(degrees))
    };
    let (count, mut columns) = by_vertex(members, "degree", column(&output.degrees));
    if !output.in_degrees.is_empty() {
        columns.push(("in_degree", column(&output.in_degrees)));
    }
    (count, columns)
}

fn components(output: &WccOutput, members: &Members) -> PyResult<Answer> {
    let found = Components::of(members, &output.labels, output.components);
    let named = found.name(&Column::new(members.keys().clone()))?;
    let (_, columns) = by_vertex(members, "component", named);
    Ok((Some(u64::from(output.components)), columns))
}

#[pymethods]
impl Standing {
    /// Brings the answer to the newest version, and tells how.
    fn refresh(&self, py: Python<'_>) -> PyResult<&'static str> {
        let done = run(py, |cancel| match self.kept.quick(|kept| kept.refresh(cancel)) {
            Ok(done) => done.map(Ok),
            Err(closed) => Ok(Err(closed)),
        })??;
        Ok(match done {
            Refresh::Unchanged => "unchanged",
            Refresh::Updated => "updated",
            Refresh::Recomputed => "recomputed",
        })
    }

    /// The version that the answer is of.
    #[getter]
    fn version(&self, py: Python<'_>) -> PyResult<u64> {
        self.kept.with(py, |kept| kept.version())
    }

    /// The version, and the answer of it.
    fn answer(&self, py: Python<'_>) -> PyResult<(u64, Option<u64>, Columns)> {
        let (version, answer) = self.kept.with(py, |kept| (kept.version(), kept.answer()))?;
        let answer = answer.map_err(to_python)?.ok_or_else(|| {
            InvalidError::new_err("the last refresh failed, and there is no answer; refresh again")
        })?;
        let (count, columns) = answer?;
        Ok((version, count, columns))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.kept.end(py)
    }
}
