//! Strong components by two depth-first searches (Kosaraju, Sharir): the second goes against the
//! edges, from the vertices in the reverse of the order in which the first left them.

use evergraph_graph::{GraphView, VertexId};

use super::{Mismatch, compare, total};
use crate::SccOutput;
use crate::wcc::NO_COMPONENT;

/// Checks the components that [`crate::scc()`] found.
pub fn scc<G: GraphView>(view: &G, output: &SccOutput) -> Result<(), Mismatch> {
    let mut labels = vec![NO_COMPONENT; view.vertex_bound() as usize];
    let mut components = 0;
    for root in leaving_order(view).into_iter().rev() {
        if labels[root as usize] != NO_COMPONENT {
            continue;
        }
        labels[root as usize] = root;
        let mut members = vec![root];
        let mut at = 0;
        while at < members.len() {
            view.for_each_in(members[at], |u| {
                if labels[u as usize] == NO_COMPONENT {
                    labels[u as usize] = root;
                    members.push(u);
                }
            });
            at += 1;
        }
        let smallest = members.iter().copied().min().unwrap_or(root);
        for v in members {
            labels[v as usize] = smallest;
        }
        components += 1;
    }
    compare(&labels, &output.labels, VertexId::eq)?;
    total("components", components, u64::from(output.components))
}

/// All vertices, in the order in which a depth-first search is done with them.
fn leaving_order<G: GraphView>(view: &G) -> Vec<VertexId> {
    let bound = view.vertex_bound();
    let mut seen = vec![false; bound as usize];
    let mut order = Vec::new();
    for root in (0..bound).filter(|&v| view.contains(v)) {
        // A vertex lies here twice: as one to enter, and below its neighbours as one to leave.
        let mut steps = vec![(root, Step::Enter)];
        while let Some((v, step)) = steps.pop() {
            match step {
                Step::Leave => order.push(v),
                Step::Enter if seen[v as usize] => {}
                Step::Enter => {
                    seen[v as usize] = true;
                    steps.push((v, Step::Leave));
                    view.for_each(v, |u| {
                        if !seen[u as usize] {
                            steps.push((u, Step::Enter));
                        }
                    });
                }
            }
        }
    }
    order
}

enum Step {
    Enter,
    Leave,
}
