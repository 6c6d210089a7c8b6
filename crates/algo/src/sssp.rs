//! Single-source shortest paths: the least sum of weights from a source to every vertex, along
//! out-edges, for weights of 0 or more.
//!
//! # Method
//! Delta-stepping: vertices wait in buckets by distance, each bucket `delta` wide. The lowest
//! bucket is relaxed in parallel until it stays empty, then the next: almost the order of
//! Dijkstra, with enough vertices at a time for several threads. A thread that finds only a few
//! vertices of the current bucket in its own memory goes on with them at once (*bucket fusion*)
//! instead of meeting the others; on graphs of long paths that saves nearly all rounds.
//!
//! Sums of floats never fall as terms of 0 or more are added, so the least distance is one
//! definite number and the answer is equal to the last bit for any number of threads.
//!
//! # Encoding
//! Distances are the bits of an `f64`, which for numbers of 0 or more sort like the numbers: a
//! relaxation is a compare-exchange. Buckets further ahead than a fixed window share one list
//! that is dealt out when the window gets there, so the smallest `delta` costs bounded memory.
//!
//! # Papers
//! Meyer, Sanders: Delta-Stepping: A Parallelizable Shortest Path Algorithm, J. Algorithms 2003;
//! Zhang et al.: Optimizing Ordered Graph Algorithms with GraphIt, CGO 2020, for bucket fusion.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use evergraph_graph::{GraphView, VertexId, Weight};

use crate::crew::{crew, share};
use crate::{AlgoError, Cancel};

/// What to search, and how wide the buckets are.
#[derive(Clone, Debug, Default)]
pub struct SsspConfig {
    /// Where the paths start.
    pub source: VertexId,
    /// The width of a bucket, a positive number; `None` takes a quarter of the mean weight of a
    /// sample of the edges divided by the mean degree. Only speed depends on it.
    pub delta: Option<f64>,
    /// Stops the search between two rounds.
    pub cancel: Cancel,
}

/// How far every vertex is from the source.
#[derive(Clone, Debug, PartialEq)]
pub struct SsspOutput {
    /// The length of the shortest path to each id; infinity if there is no path, or no such
    /// vertex.
    pub distances: Vec<f64>,
}

/// Finds the distance of every vertex. Edges without a weight count 1.
///
/// The weights of edges that leave reached vertices are checked; others are not looked at.
pub fn sssp<G: GraphView>(view: &G, config: &SsspConfig) -> Result<SsspOutput, AlgoError> {
    if !view.contains(config.source) {
        return Err(AlgoError::SourceNotFound(config.source));
    }
    let flat = view.flat();
    let delta = config.delta.unwrap_or_else(|| choose_delta(&flat));
    if !(delta > 0.0 && delta.is_finite()) {
        return Err(AlgoError::BadDelta(delta));
    }
    let search = Search {
        view: &flat,
        delta,
        mean_degree: mean_degree(&flat),
        distances: (0..flat.vertex_bound())
            .map(|_| AtomicU64::new(f64::INFINITY.to_bits()))
            .collect(),
        bad_weight: AtomicBool::new(false),
    };
    search.run(config)?;
    let distances = search.distances.into_iter();
    Ok(SsspOutput { distances: distances.map(|bits| f64::from_bits(bits.into_inner())).collect() })
}

/// How many vertices [`choose_delta`] looks at: enough for a mean good to some percent.
const SAMPLES: u32 = 1 << 10;

/// Buckets per mean weight and mean degree. Measured: on Graph500 scale 20 with weights in (0, 1]
/// widths of 1/8 to 1/2 of `mean weight / mean degree` are within 15 % of the best and wider ones
/// up to five times slower; uniform graphs and roads hardly care.
const BUCKETS_PER_EDGE: f64 = 4.0;

/// A bucket so narrow that few edges of a vertex lead back into it; a bucket per level where all
/// edges count 1.
fn choose_delta<G: GraphView>(view: &G) -> f64 {
    if !G::Weight::WEIGHTED {
        return 1.0;
    }
    let delta = mean_weight(view) / (BUCKETS_PER_EDGE * mean_degree(view));
    if delta > 0.0 && delta.is_finite() { delta } else { 1.0 }
}

/// The mean weight of the edges of an even sample of vertices, of those that are usable.
fn mean_weight<G: GraphView>(view: &G) -> f64 {
    let bound = view.vertex_bound();
    let step = bound.div_ceil(SAMPLES).max(1);
    let (mut sum, mut edges) = (0.0, 0_u32);
    for v in (0..bound).step_by(step as usize) {
        view.for_each_weighted(v, |_, weight| {
            let weight = weight.to_f64();
            if weight > 0.0 && weight.is_finite() {
                sum += weight;
                edges += 1;
            }
        });
    }
    sum / f64::from(edges)
}

/// How many edges leave a vertex, at least 1.
fn mean_degree<G: GraphView>(view: &G) -> f64 {
    (view.entry_count() as f64 / f64::from(view.vertex_count())).max(1.0)
}

/// Buckets ahead of the current one that have a list of their own.
const WINDOW: u64 = 1 << 10;

/// Vertices of the front per task.
const FRONT_PER_TASK: usize = 64;

/// Fronts with fewer edges than this, by the mean degree, stay on the calling thread: some 50 us of
/// work, not worth waking another one for.
const SEQUENTIAL_EDGES_MAX: f64 = 8192.0;

/// A thread goes on alone with the current bucket while it holds fewer vertices than this. The
/// paper's constant: enough to save rounds, too few to keep the other threads waiting.
const FUSION_MAX: usize = 1000;

struct Search<'a, G> {
    view: &'a G,
    delta: f64,
    mean_degree: f64,
    /// Distances as bits. All accesses are `Relaxed`: a stale one is too large and is corrected
    /// by whoever lowers it, and rounds are ordered by the ends of parallel loops.
    distances: Vec<AtomicU64>,
    bad_weight: AtomicBool,
}

/// One thread's vertices that wait to be relaxed.
struct Waiting {
    /// Those of bucket `base + i` at `i`, for `i < WINDOW`.
    near: Vec<Vec<VertexId>>,
    /// Those of later buckets.
    far: Vec<VertexId>,
}

impl<G: GraphView> Search<'_, G> {
    fn run(&self, config: &SsspConfig) -> Result<(), AlgoError> {
        let mut members =
            crew(|| Waiting { near: vec![Vec::new(); WINDOW as usize], far: Vec::new() });
        self.distances[config.source as usize].store(0.0_f64.to_bits(), Ordering::Relaxed);
        let mut front = vec![config.source];
        let (mut base, mut current) = (0, 0);
        loop {
            config.cancel.check()?;
            self.relax_front(&mut members, &front, (base, current));
            if self.bad_weight.load(Ordering::Relaxed) {
                return Err(self.name_bad_weight());
            }
            let Some(next) = self.next_bucket(&mut members, &mut base, current) else {
                return Ok(());
            };
            current = next;
            front.clear();
            for waiting in &mut members {
                front.append(&mut waiting.near[(current - base) as usize]);
            }
        }
    }

    /// The lowest bucket that holds a vertex. Moves the window when it is empty.
    fn next_bucket(&self, members: &mut [Waiting], base: &mut u64, current: u64) -> Option<u64> {
        let near = (current - *base..WINDOW)
            .find(|&i| members.iter().any(|waiting| !waiting.near[i as usize].is_empty()));
        if let Some(i) = near {
            return Some(*base + i);
        }
        let passed = base.saturating_add(WINDOW);
        for waiting in &mut *members {
            // Those lowered into the window since they were put here have been relaxed in it.
            waiting.far.retain(|&v| self.bucket(self.distance(v)) >= passed);
        }
        let far = members.iter().flat_map(|waiting| &waiting.far);
        *base = far.map(|&v| self.bucket(self.distance(v))).min()?;
        for waiting in members {
            for v in std::mem::take(&mut waiting.far) {
                waiting.push(v, self.bucket(self.distance(v)), *base);
            }
        }
        Some(*base)
    }

    /// Relaxes the edges of a front of the current bucket.
    fn relax_front(&self, members: &mut [Waiting], front: &[VertexId], at: (u64, u64)) {
        if front.len() as f64 * self.mean_degree < SEQUENTIAL_EDGES_MAX {
            self.relax_all(&mut members[0], front, at);
            self.fuse(&mut members[0], at);
        } else {
            let tasks = front.len().div_ceil(FRONT_PER_TASK);
            share(members, tasks, |waiting, tasks| {
                for task in tasks.rest() {
                    let from = task * FRONT_PER_TASK;
                    let to = front.len().min(from + FRONT_PER_TASK);
                    self.relax_all(waiting, &front[from..to], at);
                }
                self.fuse(waiting, at);
            });
        }
    }

    /// Goes on with the vertices of the current bucket that this thread has just found.
    fn fuse(&self, waiting: &mut Waiting, (base, current): (u64, u64)) {
        let slot = (current - base) as usize;
        while !waiting.near[slot].is_empty() && waiting.near[slot].len() < FUSION_MAX {
            let found = std::mem::take(&mut waiting.near[slot]);
            self.relax_all(waiting, &found, (base, current));
        }
    }

    fn relax_all(&self, waiting: &mut Waiting, vertices: &[VertexId], (base, current): (u64, u64)) {
        for &v in vertices {
            let distance = self.distance(v);
            // Lowered into an earlier bucket since it was put here: relaxed already.
            if self.bucket(distance) >= current {
                self.relax(waiting, v, distance, base);
            }
        }
    }

    #[inline]
    fn relax(&self, waiting: &mut Waiting, v: VertexId, distance: f64, base: u64) {
        self.view.for_each_weighted(v, |u, weight| {
            let weight = weight.to_f64();
            if weight >= 0.0 {
                let reach = distance + weight;
                if self.lower(u, reach) {
                    waiting.push(u, self.bucket(reach), base);
                }
            } else {
                self.bad_weight.store(true, Ordering::Relaxed);
            }
        });
    }

    /// Lowers the distance of `v`; true if this call did.
    #[inline]
    fn lower(&self, v: VertexId, reach: f64) -> bool {
        let slot = &self.distances[v as usize];
        let mut old = slot.load(Ordering::Relaxed);
        while reach < f64::from_bits(old) {
            match slot.compare_exchange_weak(
                old,
                reach.to_bits(),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => old = now,
            }
        }
        false
    }

    #[inline]
    fn distance(&self, v: VertexId) -> f64 {
        f64::from_bits(self.distances[v as usize].load(Ordering::Relaxed))
    }

    /// Which bucket a distance belongs to; those beyond 2^64 share the last.
    #[inline]
    #[expect(clippy::cast_sign_loss, reason = "distances are sums of weights of 0 or more")]
    fn bucket(&self, distance: f64) -> u64 {
        (distance / self.delta) as u64
    }

    /// The first edge in id order whose weight no path can use.
    fn name_bad_weight(&self) -> AlgoError {
        let found = (0..self.view.vertex_bound()).find_map(|from| {
            self.view
                .weighted_runs(from, |run, weights| {
                    let weights = weights.iter().map(|weight| weight.to_f64());
                    let bad = run
                        .iter()
                        .zip(weights)
                        .find(|&(_, weight)| weight.is_nan() || weight < 0.0);
                    bad.map_or(ControlFlow::Continue(()), |(&to, weight)| {
                        ControlFlow::Break(AlgoError::BadWeight { from, to, weight })
                    })
                })
                .break_value()
        });
        found.expect("a bad weight was met during the search, and views never change")
    }
}

impl Waiting {
    #[inline]
    fn push(&mut self, v: VertexId, bucket: u64, base: u64) {
        match self.near.get_mut((bucket - base) as usize) {
            Some(list) => list.push(v),
            None => self.far.push(v),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{undirected, weighted};
    use crate::verify;

    #[test]
    fn the_lighter_way_wins_over_the_shorter() {
        let view = weighted(6, &[(0, 1, 9.0), (0, 2, 1.5), (2, 3, 0.0), (3, 1, 2.0), (1, 4, 0.25)]);
        for delta in [None, Some(0.001), Some(100.0)] {
            let config = SsspConfig { delta, ..SsspConfig::default() };
            let output = sssp(&view, &config).expect("good weights");
            assert_eq!(output.distances, [0.0, 3.5, 1.5, 1.5, 3.75, f64::INFINITY]);
            verify::sssp(&view, &config, &output).expect("as Dijkstra says");
        }
    }

    #[test]
    fn edges_without_weights_count_one() {
        let view = undirected(4, &[(0, 1), (1, 2), (2, 3)]);
        let output = sssp(&view, &SsspConfig::default()).expect("good weights");
        assert_eq!(output.distances, [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn bad_weights_are_named_where_they_can_be_reached() {
        let bad = |weight| weighted(4, &[(0, 1, 1.0), (1, 2, weight), (3, 0, -7.0)]);
        assert_eq!(
            sssp(&bad(-0.5), &SsspConfig { source: 1, ..SsspConfig::default() }),
            Err(AlgoError::BadWeight { from: 1, to: 2, weight: -0.5 })
        );
        let nan = sssp(&bad(f64::NAN), &SsspConfig::default());
        assert!(matches!(nan, Err(AlgoError::BadWeight { from: 1, to: 2, .. })));
        assert!(sssp(&bad(1.0), &SsspConfig::default()).is_ok());
    }

    #[test]
    fn infinite_and_huge_weights_end() {
        let view = weighted(4, &[(0, 1, f64::INFINITY), (0, 2, 1e300), (2, 3, 1e305)]);
        let config = SsspConfig { delta: Some(1e-300), ..SsspConfig::default() };
        let output = sssp(&view, &config).expect("good weights");
        assert_eq!(output.distances, [0.0, f64::INFINITY, 1e300, 1e300 + 1e305]);
    }

    #[test]
    fn bad_configurations_are_refused() {
        let view = undirected(2, &[(0, 1)]);
        for delta in [0.0, -1.0, f64::INFINITY] {
            let config = SsspConfig { delta: Some(delta), ..SsspConfig::default() };
            assert_eq!(sssp(&view, &config), Err(AlgoError::BadDelta(delta)));
        }
        let config = SsspConfig { source: 2, ..SsspConfig::default() };
        assert_eq!(sssp(&view, &config), Err(AlgoError::SourceNotFound(2)));
    }
}
