//! One call for every algorithm: run it on a snapshot, or check its answer.

use evergraph::algo::{
    self, BfsConfig, BfsOutput, Cancel, CdlpConfig, CdlpOutput, LccConfig, LccOutput,
    PageRankConfig, PageRankOutput, SccConfig, SccOutput, SsspConfig, SsspOutput, TriangleConfig,
    TriangleOutput, WccConfig, WccOutput,
};
use evergraph::kernels::verify::{self, Mismatch};
use evergraph::{Snapshot, with_view};

use crate::failure::Failure;
use crate::resolve::Algorithm;

/// What is asked of a snapshot.
pub(super) struct Question<'a> {
    pub(super) algorithm: &'a Algorithm,
    /// Where a search starts.
    pub(super) source: u32,
    /// The first label of every id, where it is not the id.
    pub(super) labels: Option<Vec<u64>>,
    pub(super) cancel: Cancel,
}

/// What came out.
pub(super) enum Answer {
    Levels(BfsOutput),
    Ranks(PageRankOutput),
    Components(WccOutput),
    Communities(CdlpOutput),
    Coefficients(LccOutput),
    Distances(SsspOutput),
    Triangles(TriangleOutput),
    StrongComponents(SccOutput),
}

impl Question<'_> {
    fn bfs(&self) -> BfsConfig {
        BfsConfig { source: self.source, cancel: self.cancel.clone(), ..BfsConfig::default() }
    }

    fn sssp(&self) -> SsspConfig {
        SsspConfig { source: self.source, cancel: self.cancel.clone(), ..SsspConfig::default() }
    }

    fn pagerank(&self, iterations: u32, damping: f64) -> PageRankConfig {
        let cancel = self.cancel.clone();
        PageRankConfig { iterations, damping, cancel, ..PageRankConfig::default() }
    }

    fn cdlp(&self, iterations: u32) -> CdlpConfig<'_> {
        CdlpConfig { labels: self.labels.as_deref(), iterations, cancel: self.cancel.clone() }
    }
}

/// Runs the algorithm.
pub(super) fn compute(question: &Question<'_>, snapshot: &Snapshot) -> Result<Answer, Failure> {
    let cancel = question.cancel.clone();
    Ok(match *question.algorithm {
        Algorithm::Bfs { .. } => Answer::Levels(algo::bfs(snapshot, &question.bfs())?),
        Algorithm::PageRank { iterations, damping } => {
            Answer::Ranks(algo::pagerank(snapshot, &question.pagerank(iterations, damping))?)
        }
        Algorithm::Wcc => {
            Answer::Components(algo::wcc(snapshot, &WccConfig { cancel, ..WccConfig::default() })?)
        }
        Algorithm::Cdlp { iterations } => {
            Answer::Communities(algo::cdlp(snapshot, &question.cdlp(iterations))?)
        }
        Algorithm::Lcc => Answer::Coefficients(algo::lcc(
            snapshot,
            &LccConfig { cancel, ..LccConfig::default() },
        )?),
        Algorithm::Sssp { .. } => Answer::Distances(algo::sssp(snapshot, &question.sssp())?),
        Algorithm::Triangles => {
            Answer::Triangles(algo::triangle_count(snapshot, &TriangleConfig { cancel })?)
        }
        Algorithm::Scc => Answer::StrongComponents(algo::scc(snapshot, &SccConfig { cancel })?),
    })
}

/// Checks an answer with the oracle of its algorithm.
pub(super) fn verify(
    question: &Question<'_>,
    snapshot: &Snapshot,
    answer: &Answer,
) -> Result<(), Failure> {
    let (iterations, damping) = match *question.algorithm {
        Algorithm::PageRank { iterations, damping } => (iterations, damping),
        Algorithm::Cdlp { iterations } => (iterations, 0.0),
        _ => (0, 0.0),
    };
    let checked = with_view!(snapshot.view()?, |view| match answer {
        Answer::Levels(output) => verify::bfs(view, &question.bfs(), output),
        Answer::Ranks(output) => {
            verify::pagerank(view, &question.pagerank(iterations, damping), output)
        }
        Answer::Components(output) => verify::wcc(view, output),
        Answer::Communities(output) => verify::cdlp(view, &question.cdlp(iterations), output),
        Answer::Coefficients(output) => verify::lcc(view, &LccConfig::default(), output),
        Answer::Distances(output) => verify::sssp(view, &question.sssp(), output),
        Answer::Triangles(output) => verify::triangle_count(view, output),
        Answer::StrongComponents(output) => verify::scc(view, output),
    });
    checked.map_err(|mismatch| wrong(question.algorithm.name(), snapshot, &mismatch))
}

/// The first mismatch, with its vertex by key.
fn wrong(algorithm: &str, snapshot: &Snapshot, mismatch: &Mismatch) -> Failure {
    let what = match mismatch {
        Mismatch::Vertex { vertex, expected, found } => match snapshot.key(*vertex) {
            Ok(Some(key)) => format!("vertex {key}: expected {expected}, found {found}"),
            _ => format!("id {vertex}, which is no vertex: expected {expected}, found {found}"),
        },
        other => other.to_string(),
    };
    Failure::Failed(format!("the answer of {algorithm} is wrong: {what}; please report this"))
}

#[cfg(test)]
mod tests {
    use evergraph::Database;
    use evergraph::graph::Key;

    use super::*;

    fn snapshot() -> Snapshot {
        let db = Database::options().undirected().text_keys().in_memory();
        let add = |tx: &mut evergraph::Transaction<'_>| {
            ["ann", "bob", "cy"].iter().try_for_each(|key| tx.add_vertex(*key))?;
            tx.add_edge("ann", "bob")
        };
        db.transaction(0, add).expect("nobody else writes");
        db.snapshot().expect("a free lease")
    }

    #[test]
    fn a_wrong_answer_is_told_by_key() {
        let snapshot = snapshot();
        let algorithm = Algorithm::Wcc;
        let cancel = Cancel::default();
        let question = Question { algorithm: &algorithm, source: 0, labels: None, cancel };
        let mut answer = compute(&question, &snapshot).expect("nothing to refuse");
        assert!(verify(&question, &snapshot, &answer).is_ok());
        let Answer::Components(output) = &mut answer else { panic!("another algorithm") };
        let cy = (0..3).find(|&v| snapshot.key(v) == Ok(Some(Key::Text("cy".into()))));
        output.labels[cy.expect("a vertex") as usize] = 0;
        let Err(Failure::Failed(message)) = verify(&question, &snapshot, &answer) else {
            panic!("it is wrong")
        };
        assert!(message.contains("the answer of wcc is wrong: vertex cy: expected"), "{message}");
    }
}
