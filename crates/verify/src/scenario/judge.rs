//! Runs a scenario in every interleaving, and judges what came of it.
//!
//! An interleaving is serializable if the transactions that committed, run one after the other on
//! the model in some order, give the same answers and the same graph; one that ended before another
//! began must come first in that order. All orders are tried.

use super::model::{Answer, Graph, ask};
use super::play::{End, Played, play};
use super::program::Step;
use super::schedule::schedules;
use super::{Layout, Never, Outcome, Program, Scenario};
use crate::level::Level;
use crate::tally::Tally;

/// How a scenario is run.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// The level of its transactions.
    pub level: Level,
    /// How the store keeps the graph.
    pub layout: Layout,
    /// Of how many interleavings at most; a random choice if there are more.
    pub interleavings_max: usize,
    /// For that choice.
    pub seed: u64,
}

impl Scenario {
    /// Runs every interleaving. An error tells the one that the level does not allow, or what was
    /// to be seen and was not.
    pub fn judge(&self, trial: Trial) -> Result<Tally, String> {
        let Trial { level, layout, interleavings_max, seed } = trial;
        let steps: Vec<usize> = self.programs.iter().map(|p| p.steps.len() + 2).collect();
        let mut tally = Tally::default();
        let mut seen = vec![false; self.never_if_serial.len()];
        for schedule in schedules(&steps, interleavings_max, seed) {
            let judged = play(self, (level, layout), &schedule)
                .and_then(|played| self.weigh(level, &played, &mut seen).map(|more| tally += more));
            judged.map_err(|problem| {
                let turns: Vec<String> = schedule.iter().map(|txn| (txn + 1).to_string()).collect();
                let turns = turns.join(" ");
                format!("{} ({level}, {layout:?}), turns {turns}: {problem}", self.name)
            })?;
        }
        self.look_back(level, tally, &seen)?;
        Ok(tally)
    }

    /// Weighs one interleaving.
    fn weigh(&self, level: Level, played: &Played, seen: &mut [bool]) -> Result<Tally, String> {
        let is_serial = self.is_serial(played);
        let skew_is_allowed = level == Level::Snapshot && self.outcome == Outcome::Skew;
        if !is_serial && !skew_is_allowed {
            let runs = &played.runs;
            return Err(format!("no serial order ends in {:?} after {runs:?}", played.end));
        }
        for (words, test) in &self.never {
            if test(&played.end) {
                return Err(format!("{words}: {:?}", played.end));
            }
        }
        for (seen, (words, test)) in seen.iter_mut().zip(&self.never_if_serial) {
            if test(&played.end) {
                if is_serial {
                    return Err(format!("{words} after a serial order: {:?}", played.end));
                }
                *seen = true;
            }
        }
        let count = |end| played.runs.iter().filter(|run| run.end == end).count() as u64;
        Ok(Tally {
            interleavings: 1,
            committed: count(End::Committed),
            conflicts: count(End::Conflict),
            skews: u64::from(!is_serial),
        })
    }

    /// Makes sure that the interleavings showed what they had to.
    fn look_back(&self, level: Level, tally: Tally, seen: &[bool]) -> Result<(), String> {
        let missed = |what: &str| Err(format!("{} ({level}): no interleaving {what}", self.name));
        if level == Level::Serializable {
            return Ok(());
        }
        if self.outcome == Outcome::Skew && tally.skews == 0 {
            return missed("skews");
        }
        if self.conflicts && tally.conflicts == 0 {
            return missed("conflicts");
        }
        if !self.conflicts && tally.conflicts > 0 {
            return Err(format!("{} ({level}): {} conflicts", self.name, tally.conflicts));
        }
        let unseen = seen.iter().zip(&self.never_if_serial).find(|(seen, _)| !**seen);
        unseen.map_or(Ok(()), |(_, (words, _)): (_, &Never)| missed(&format!("ends so: {words}")))
    }

    fn is_serial(&self, played: &Played) -> bool {
        let ended = |txn: &usize| played.runs[*txn].end == End::Committed;
        let committed: Vec<usize> = (0..self.programs.len()).filter(ended).collect();
        self.continues(played, &self.start, &committed)
    }

    /// Whether some order of these transactions leads from a graph to the end.
    fn continues(&self, played: &Played, from: &Graph, left: &[usize]) -> bool {
        if left.is_empty() {
            return *from == played.end;
        }
        left.iter().any(|&txn| {
            let run = &played.runs[txn];
            let comes_first = |other: &usize| played.runs[*other].time.1 < run.time.0;
            if left.iter().any(comes_first) {
                return false;
            }
            let after =
                execute(&self.programs[txn], from).filter(|(found, _)| *found == run.answers);
            let rest: Vec<usize> = left.iter().copied().filter(|&other| other != txn).collect();
            after.is_some_and(|(_, after)| self.continues(played, &after, &rest))
        })
    }
}

/// The answers and the end of a transaction that runs alone; `None` if it cannot commit.
fn execute(program: &Program, start: &Graph) -> Option<(Vec<Answer>, Graph)> {
    let mut graph = start.clone();
    let mut answers = Vec::new();
    for step in &program.steps {
        match step {
            Step::Ask(query) => answers.push(ask(&graph, query).ok()?),
            Step::Do(change) => {
                graph.apply(&change.map(|amount| amount.value(&answers))).ok()?;
            }
            Step::When(test) if !test.holds(&answers) => break,
            Step::When(_) => {}
            Step::RollBack => return None,
        }
    }
    Some((answers, graph))
}
