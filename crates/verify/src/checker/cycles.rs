//! Finds cycles in the graph of a history, and gives them their names.
//!
//! A history is serializable if its graph has no cycle. It is one of snapshot isolation if it has no
//! cycle in which every *rw* is followed by something else. Such cycles are looked for in a graph
//! with two nodes per transaction, one for those who come by *rw*, and no *rw* from there.

use hashbrown::{HashMap, HashSet};

use super::edges::{Graph, RT, RW, WR, WW, Why};
use super::{Anomaly, Kind};

/// How many cycles of one kind are looked for.
const EXAMPLES_MAX: usize = 4;

/// How many starting points are tried for a cycle of a certain form.
const TRIES_MAX: usize = 64;

/// Of how many nodes the shortest cycle is looked for; the shortest of these is told.
const STARTS_MAX: usize = 16;

/// A way through the graph: by which edges, and whether two *rw* may follow one another.
#[derive(Clone, Copy)]
struct Walk<'g> {
    graph: &'g Graph,
    mask: Why,
    rows_of_rw: bool,
}

/// Twice the transaction, and 1 for those that were reached by *rw*, if that matters.
type Node = u32;

/// Transactions, with why each comes before the next, the last before the first.
type Cycle = Vec<(u32, Why)>;

/// Adds what the graph has of cycles.
pub(super) fn find(graph: &Graph, anomalies: &mut Vec<Anomaly>) {
    for &(reader, between) in graph.lost.iter().take(EXAMPLES_MAX) {
        anomalies.push(Anomaly {
            kind: Kind::LostUpdate,
            real_time: false,
            txns: vec![reader, between].into_iter().map(|txn| txn as usize).collect(),
            text: format!("T{reader} changed what it had read, but T{between} came in between"),
        });
    }
    let all = Walk { graph, mask: WW | WR | RW | RT, rows_of_rw: true };
    let suspects = all.components((0..graph.node_count() as u32).map(|txn| 2 * txn));
    let suspects: Vec<Node> = suspects.into_iter().flatten().collect();
    if suspects.is_empty() {
        return;
    }
    for times in [0, RT] {
        for (mask, rows_of_rw) in [(WW, true), (WW | WR, true), (WW | WR | RW, false)] {
            let walk = Walk { graph, mask: mask | times, rows_of_rw };
            for component in walk.components(suspects.iter().copied()).iter().take(EXAMPLES_MAX) {
                add(walk.cycle(component), anomalies);
            }
        }
        let walk = Walk { graph, mask: WW | WR | RW | times, rows_of_rw: true };
        for component in walk.components(suspects.iter().copied()).iter().take(EXAMPLES_MAX) {
            add(walk.skew(component), anomalies);
        }
    }
}

/// Adds a cycle under its name, if it is there and is new.
fn add(cycle: Option<Cycle>, anomalies: &mut Vec<Anomaly>) {
    let Some(cycle) = cycle else { return };
    let count = |why| cycle.iter().filter(|&&(_, of)| of == why).count();
    let next = cycle.iter().cycle().skip(1);
    let in_a_row = cycle.iter().zip(next).any(|(&(_, a), &(_, b))| a == RW && b == RW);
    let kind = match count(RW) {
        0 if count(WR) > 0 => Kind::G1c,
        0 => Kind::G0,
        1 => Kind::GSingle,
        _ if in_a_row => Kind::G2Item,
        _ => Kind::GNonadjacent,
    };
    let name = |why| match why {
        WW => "ww",
        WR => "wr",
        RW => "rw",
        _ => "rt",
    };
    let steps: Vec<String> =
        cycle.iter().map(|&(txn, why)| format!("T{txn} -{}->", name(why))).collect();
    let text = format!("{} T{}", steps.join(" "), cycle[0].0);
    let txns = cycle.iter().map(|&(txn, _)| txn as usize).collect();
    let anomaly = Anomaly { kind, real_time: count(RT) > 0, txns, text };
    if !anomalies.contains(&anomaly) {
        anomalies.push(anomaly);
    }
}

impl<'g> Walk<'g> {
    /// Where an edge leads from a node, if it may be taken.
    fn follow(&self, node: Node, (to, why): (u32, Why)) -> Option<Node> {
        let may = self.mask & why != 0 && (self.rows_of_rw || why != RW || node & 1 == 0);
        may.then_some(2 * to + u32::from(!self.rows_of_rw && why == RW))
    }

    fn next(self, node: Node) -> impl Iterator<Item = (Node, Why)> + 'g {
        let edges = self.graph.after(node / 2).iter();
        edges.filter_map(move |&edge| Some((self.follow(node, edge)?, edge.1)))
    }

    /// The strongly connected components with more than one node, of what is reached from `starts`.
    fn components(&self, starts: impl Iterator<Item = Node>) -> Vec<Vec<Node>> {
        let mut search = Search::new(2 * self.graph.node_count());
        for start in starts {
            if search.order[start as usize] == 0 {
                search.from(self, start);
            }
        }
        search.components
    }

    /// The shortest way between two nodes inside of a component, the first with no edge before it.
    fn path(&self, from: Node, to: Node, inside: &HashSet<Node>) -> Option<Cycle> {
        let mut came: HashMap<Node, (Node, Why)> = HashMap::new();
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for (next, why) in self.next(node).filter(|(next, _)| inside.contains(next)) {
                if next == to {
                    let mut path = vec![(node / 2, why)];
                    let mut at = node;
                    while at != from {
                        let (before, why) = came[&at];
                        path.push((before / 2, why));
                        at = before;
                    }
                    path.reverse();
                    return Some(path);
                }
                if next != from {
                    came.entry(next).or_insert_with(|| {
                        queue.push_back(next);
                        (node, why)
                    });
                }
            }
        }
        None
    }

    /// A short cycle of a component, with one *rw* if there is such a cycle, or with any.
    fn cycle(&self, component: &[Node]) -> Option<Cycle> {
        let inside: HashSet<Node> = component.iter().copied().collect();
        let without = Walk { mask: self.mask & !RW, rows_of_rw: true, ..*self };
        let txns: HashSet<Node> = component.iter().map(|node| node & !1).collect();
        let single = component.iter().filter(|&node| node & 1 == 0).flat_map(|&node| {
            let reads = self.next(node).filter(|&(_, why)| why == RW);
            reads.map(move |(next, _)| (node, next & !1))
        });
        let single = single.take(TRIES_MAX).find_map(|(reader, next)| {
            let mut cycle = without.path(next, reader, &txns)?;
            cycle.push((reader / 2, RW));
            Some(cycle)
        });
        let any = || {
            let starts = component.iter().step_by(component.len() / STARTS_MAX + 1);
            starts.filter_map(|&start| self.path(start, start, &inside)).min_by_key(Vec::len)
        };
        single.or_else(any)
    }

    /// A cycle of a component with two *rw* in a row.
    fn skew(&self, component: &[Node]) -> Option<Cycle> {
        let inside: HashSet<Node> = component.iter().copied().collect();
        let by_rw = |node: Node| {
            let reads = self.next(node).filter(|&(next, why)| why == RW && inside.contains(&next));
            reads.map(|(next, _)| next)
        };
        let rows = component.iter().flat_map(|&first| {
            by_rw(first)
                .flat_map(move |second| by_rw(second).map(move |third| [first, second, third]))
        });
        rows.take(TRIES_MAX).find_map(|[first, second, third]| {
            let start = vec![(first / 2, RW), (second / 2, RW)];
            let rest = if third == first { Vec::new() } else { self.path(third, first, &inside)? };
            Some([start, rest].concat())
        })
    }
}

/// Tarjan's search for strongly connected components, without recursion.
struct Search {
    /// When a node was reached, from 1.
    order: Vec<u32>,
    /// The earliest node on the stack that it leads to.
    low: Vec<u32>,
    is_on_stack: Vec<bool>,
    stack: Vec<Node>,
    /// Nodes being looked at, and which of their edges is next.
    calls: Vec<(Node, usize)>,
    reached: u32,
    components: Vec<Vec<Node>>,
}

impl Search {
    fn new(nodes: usize) -> Self {
        Self {
            order: vec![0; nodes],
            low: vec![0; nodes],
            is_on_stack: vec![false; nodes],
            stack: Vec::new(),
            calls: Vec::new(),
            reached: 0,
            components: Vec::new(),
        }
    }

    fn enter(&mut self, node: Node) {
        self.reached += 1;
        self.order[node as usize] = self.reached;
        self.low[node as usize] = self.reached;
        self.is_on_stack[node as usize] = true;
        self.stack.push(node);
        self.calls.push((node, 0));
    }

    fn from(&mut self, walk: &Walk<'_>, start: Node) {
        self.enter(start);
        while let Some((node, edge)) = self.calls.last_mut() {
            let node = *node;
            let Some(&next) = walk.graph.after(node / 2).get(*edge) else {
                self.leave(node);
                continue;
            };
            *edge += 1;
            let Some(next) = walk.follow(node, next) else { continue };
            if self.order[next as usize] == 0 {
                self.enter(next);
            } else if self.is_on_stack[next as usize] {
                self.low[node as usize] = self.low[node as usize].min(self.order[next as usize]);
            }
        }
    }

    fn leave(&mut self, node: Node) {
        self.calls.pop();
        let low = self.low[node as usize];
        if let Some(&(caller, _)) = self.calls.last() {
            self.low[caller as usize] = self.low[caller as usize].min(low);
        }
        if low == self.order[node as usize] {
            let start = self.stack.iter().rposition(|&other| other == node);
            let component = self.stack.split_off(start.expect("a node stays until its component"));
            for &node in &component {
                self.is_on_stack[node as usize] = false;
            }
            if component.len() > 1 {
                self.components.push(component);
            }
        }
    }
}
