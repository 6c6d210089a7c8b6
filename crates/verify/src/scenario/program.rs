//! What a transaction of a scenario does, written as a chain of calls.

use std::ops::Range;

use super::model::{Answer, Change, Query, Side, V};

/// The steps of a transaction; it commits at the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    pub(super) steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Ask(Query),
    Do(Change<Amount>),
    /// The rest is left out if the test does not hold.
    When(Test),
    RollBack,
}

/// A weight to write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    Is(f64),
    /// What was answered last, and so much more.
    Last(f64),
    /// The sum of all answers, and so much more.
    Total(f64),
}

/// A question about what was answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Test {
    /// The last answer says that something is there.
    Present,
    /// It says that nothing is there.
    Absent,
    /// The sum of all answers is at least this.
    TotalAtLeast(f64),
    /// It is less than this.
    TotalBelow(f64),
}

fn total(answers: &[Answer]) -> f64 {
    answers.iter().map(Answer::number).sum()
}

impl Amount {
    pub(super) fn value(self, answers: &[Answer]) -> f64 {
        match self {
            Self::Is(weight) => weight,
            Self::Last(more) => answers.last().map_or(0.0, Answer::number) + more,
            Self::Total(more) => total(answers) + more,
        }
    }
}

impl Test {
    pub(super) fn holds(self, answers: &[Answer]) -> bool {
        let last_is_there = answers.last().is_some_and(Answer::is_there);
        match self {
            Self::Present => last_is_there,
            Self::Absent => !last_is_there,
            Self::TotalAtLeast(bound) => total(answers) >= bound,
            Self::TotalBelow(bound) => total(answers) < bound,
        }
    }
}

/// A transaction that does nothing yet.
pub fn tx() -> Program {
    Program::default()
}

/// Calls that add a step each.
impl Program {
    #[must_use]
    fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub(super) fn ask(self, query: Query) -> Self {
        self.then(Step::Ask(query))
    }

    pub(super) fn change(self, change: Change) -> Self {
        self.then(Step::Do(change.map(Amount::Is)))
    }

    /// Asks whether a vertex exists.
    #[must_use]
    pub fn vertex(self, v: V) -> Self {
        self.ask(Query::Vertex(v))
    }

    /// Asks whether an edge exists.
    #[must_use]
    pub fn edge(self, u: V, v: V) -> Self {
        self.ask(Query::Edge(u, v))
    }

    /// Asks for the weight of an edge.
    #[must_use]
    pub fn weight(self, u: V, v: V) -> Self {
        self.ask(Query::Weight(u, v))
    }

    /// Asks how many out-edges a vertex has.
    #[must_use]
    pub fn degree(self, v: V) -> Self {
        self.ask(Query::Degree(Side::Out, v))
    }

    /// Asks how many in-edges a vertex has.
    #[must_use]
    pub fn in_degree(self, v: V) -> Self {
        self.ask(Query::Degree(Side::In, v))
    }

    /// Asks for the out-edges of a vertex.
    #[must_use]
    pub fn list(self, v: V) -> Self {
        self.ask(Query::List(Side::Out, v))
    }

    /// Asks for the in-edges of a vertex.
    #[must_use]
    pub fn in_list(self, v: V) -> Self {
        self.ask(Query::List(Side::In, v))
    }

    /// Asks for the out-edges of at least this weight.
    #[must_use]
    pub fn heavy(self, v: V, least: f64) -> Self {
        self.ask(Query::Heavy(v, least))
    }

    /// Asks which of these vertices exist.
    #[must_use]
    pub fn vertices(self, range: Range<V>) -> Self {
        self.ask(Query::Vertices(range))
    }

    /// Asks which vertices exist at all.
    #[must_use]
    pub fn all_vertices(self) -> Self {
        self.ask(Query::AllVertices)
    }

    /// Asks which keys lie in a range.
    #[must_use]
    pub fn keys(self, range: Range<V>) -> Self {
        self.ask(Query::Keys(range))
    }

    /// Asks how many edges there are.
    #[must_use]
    pub fn edge_count(self) -> Self {
        self.ask(Query::EdgeCount)
    }

    /// Asks whether a way leads from one vertex to another.
    #[must_use]
    pub fn path(self, from: V, to: V) -> Self {
        self.ask(Query::Path(from, to))
    }

    /// Adds a vertex.
    #[must_use]
    pub fn add_vertex(self, v: V) -> Self {
        self.change(Change::AddVertex(v))
    }

    /// Removes a vertex and its edges.
    #[must_use]
    pub fn remove_vertex(self, v: V) -> Self {
        self.change(Change::RemoveVertex(v))
    }

    /// Adds an edge.
    #[must_use]
    pub fn add_edge(self, u: V, v: V, weight: f64) -> Self {
        self.change(Change::AddEdge(u, v, weight))
    }

    /// Adds an edge whose weight is what was answered last, and so much more.
    #[must_use]
    pub fn add_edge_of_last(self, u: V, v: V, more: f64) -> Self {
        self.then(Step::Do(Change::AddEdge(u, v, Amount::Last(more))))
    }

    /// Gives an edge another weight.
    #[must_use]
    pub fn set(self, u: V, v: V, weight: f64) -> Self {
        self.change(Change::SetWeight(u, v, weight))
    }

    /// Gives an edge what was answered last as weight, and so much more.
    #[must_use]
    pub fn set_last(self, u: V, v: V, more: f64) -> Self {
        self.then(Step::Do(Change::SetWeight(u, v, Amount::Last(more))))
    }

    /// Gives an edge the sum of all answers as weight, and so much more.
    #[must_use]
    pub fn set_total(self, u: V, v: V, more: f64) -> Self {
        self.then(Step::Do(Change::SetWeight(u, v, Amount::Total(more))))
    }

    /// Removes an edge.
    #[must_use]
    pub fn remove_edge(self, u: V, v: V) -> Self {
        self.change(Change::RemoveEdge(u, v))
    }

    /// Goes on only if the last answer says that something is there.
    #[must_use]
    pub fn if_present(self) -> Self {
        self.then(Step::When(Test::Present))
    }

    /// Goes on only if the last answer says that nothing is there.
    #[must_use]
    pub fn if_absent(self) -> Self {
        self.then(Step::When(Test::Absent))
    }

    /// Goes on only if the answers sum up to this at least.
    #[must_use]
    pub fn if_total_at_least(self, bound: f64) -> Self {
        self.then(Step::When(Test::TotalAtLeast(bound)))
    }

    /// Goes on only if the answers sum up to less than this.
    #[must_use]
    pub fn if_total_below(self, bound: f64) -> Self {
        self.then(Step::When(Test::TotalBelow(bound)))
    }

    /// Rolls back.
    #[must_use]
    pub fn roll_back(self) -> Self {
        self.then(Step::RollBack)
    }
}
