//! `standing_*`: bringing a standing result up to date after a small batch of changes, beside
//! computing it anew on the same snapshot.
//!
//! # How
//!   The graph lies in a database in a folder, loaded edge by edge. A batch is one in ten thousand
//!   of its edges: half of them are removed, half are put back that the batch before removed. Then
//!   every result is refreshed and its output taken, ranks on all threads, all others on one, and the
//!   kernel runs on the snapshot where the result then stands, on all threads. Both answers have to be the same.

use std::time::{Duration, Instant};

use evergraph::kernels::standing::{
    Components, Degrees, Distances, Levels, Ranks, Standing as Kept, Triangles,
};
use evergraph::kernels::{
    BfsConfig, BfsOutput, DegreeOutput, PageRankConfig, PageRankOutput, SsspConfig, SsspOutput,
    TriangleConfig, TriangleOutput, WccConfig, WccOutput, bfs, degrees, pagerank, sssp,
    triangle_count, wcc,
};
use evergraph::standing::{
    RanksConfig, Refresh, Standing, StandingBfs, StandingComponents, StandingDegrees,
    StandingPageRank, StandingSssp, StandingTriangles,
};
use evergraph::{Database, Durability, Snapshot, with_view};
use rayon::ThreadPool;

use super::durable::OnDisk;
use super::{Session, on, pool};
use crate::input::{Edge, Input};
use crate::kernel::Inputs;
use crate::live::{Action, Live, load_each};
use crate::report::Row;
use crate::samples::Pairs;
use crate::{Error, Result};

/// One in so many edges is changed before each sample.
const BATCH_SHARE: usize = 10_000;

/// Measures all standing results.
pub(crate) fn measure(session: &mut Session<'_>, input: &Input, threads: usize) -> Result<()> {
    let pool = pool(threads)?;
    let source = Inputs::new(&input.twin()?, session.args.seed, 1).source(0);
    let mut disk = OnDisk::new(session, input, Durability::Os)?;
    session.begin(&input.name, threads, "loading edge by edge")?;
    let live = Live::dense(disk.db());
    load_each(live, input, threads, session.reporter)?;
    session.begin(&input.name, threads, "computing results")?;
    let mut results = results(disk.db(), source)?;
    let half = (input.len() / BATCH_SHARE / 2).max(1);
    let mut away: Vec<Edge> = Vec::new();
    for round in 0..session.repeats() {
        let of = format!("{} of {}", round + 1, session.repeats());
        session.begin(&input.name, threads, &format!("changing and refreshing, {of}"))?;
        let places = (round * half..(round + 1) * half).map(|place| place % input.len());
        let next: Vec<Edge> = places.map(|place| input.edge(place)).collect();
        live.commit_all(Action::Remove, &next)?;
        live.commit_all(Action::Add, &away)?;
        away = next;
        results.iter_mut().try_for_each(|result| result.sample(&pool))?;
    }
    let batch = Some(2 * half as u64);
    for result in results {
        let pairs = result.pairs();
        let row = Row::of_pairs(result.metric(), pairs, RECOMPUTED);
        let row = Row { batch, compared: pairs.ours.len(), ..row };
        session.report.add(on(input, threads, row));
    }
    disk.close()
}

/// What the baseline of these rows is called.
pub(crate) const RECOMPUTED: &str = "computed anew";

/// Runs a kernel on the view of a snapshot.
macro_rules! kernel_of {
    (|$view:ident| $kernel:expr) => {
        Box::new(move |snapshot: &Snapshot| {
            with_view!(snapshot.view()?, |$view| $kernel).map_err(Error::from)
        })
    };
}

/// All results on a database.
fn results(db: &Database, source: u32) -> Result<Vec<Box<dyn Sampled>>> {
    let ranks = RanksConfig::default();
    let kernel = PageRankConfig {
        damping: ranks.damping,
        iterations: u32::MAX,
        // Where the ranks are then off by no more than the tolerance.
        tolerance: Some(ranks.tolerance * (1.0 - ranks.damping) / ranks.damping),
        ..PageRankConfig::default()
    };
    let key = u64::from(source);
    let one = |metric| (metric, Pairs::default());
    Ok(vec![
        Box::new(Case::<Degrees, DegreeOutput> {
            named: one("standing_degrees"),
            standing: StandingDegrees::new(db)?,
            anew: Box::new(|snapshot| with_view!(snapshot.view()?, |view| Ok(degrees(view)))),
            same: |kept, anew| kept == anew,
        }),
        Box::new(Case::<Components, WccOutput> {
            named: one("standing_wcc"),
            standing: StandingComponents::new(db)?,
            anew: kernel_of!(|view| wcc(view, &WccConfig::default())),
            same: |kept, anew| kept == anew,
        }),
        Box::new(Case::<Triangles, TriangleOutput> {
            named: one("standing_triangles"),
            standing: StandingTriangles::new(db)?,
            anew: kernel_of!(|view| triangle_count(view, &TriangleConfig::default())),
            same: |kept, anew| kept == *anew,
        }),
        Box::new(Case::<Levels, BfsOutput> {
            named: one("standing_bfs"),
            standing: StandingBfs::new(db, key)?,
            anew: kernel_of!(|view| bfs(view, &BfsConfig { source, ..BfsConfig::default() })),
            same: |kept, anew| kept == anew.levels,
        }),
        Box::new(Case::<Distances, SsspOutput> {
            named: one("standing_sssp"),
            standing: StandingSssp::new(db, key)?,
            anew: kernel_of!(|view| sssp(view, &SsspConfig { source, ..SsspConfig::default() })),
            same: |kept, anew| kept == anew.distances,
        }),
        Box::new(Case::<Ranks, PageRankOutput> {
            named: one("standing_pagerank"),
            standing: StandingPageRank::new(db, &ranks)?,
            anew: kernel_of!(|view| pagerank(view, &kernel)),
            same: |kept, anew| {
                let off: f64 = kept.ranks().zip(&anew.ranks).map(|(a, b)| (a - b).abs()).sum();
                // Each may be off by the tolerance.
                off <= 2.0 * RanksConfig::default().tolerance
            },
        }),
    ])
}

/// A result that is measured.
trait Sampled {
    /// Refreshes it and computes it anew, both timed.
    fn sample(&mut self, pool: &ThreadPool) -> Result<()>;
    fn metric(&self) -> &'static str;
    fn pairs(&self) -> &Pairs;
}

/// What computes an answer on a snapshot.
type Anew<A> = Box<dyn Fn(&Snapshot) -> Result<A> + Sync>;

struct Case<R: Kept, A> {
    named: (&'static str, Pairs),
    standing: Standing<R>,
    anew: Anew<A>,
    same: for<'a> fn(R::Output<'a>, &A) -> bool,
}

impl<R: Kept, A: Send> Sampled for Case<R, A> {
    fn sample(&mut self, pool: &ThreadPool) -> Result<()> {
        let (metric, pairs) = &mut self.named;
        let differs = || Error::Differs { what: (*metric).into(), other: RECOMPUTED };
        let start = Instant::now();
        let done = self.standing.refresh()?;
        let kept = self.standing.output().ok_or_else(differs)?;
        let ours = start.elapsed();
        if done != Refresh::Updated {
            return Err(differs());
        }
        let (snapshot, anew) = (self.standing.snapshot(), &*self.anew);
        let (anew, base) = pool.install(|| timed(|| anew(snapshot)))?;
        if !(self.same)(kept, &anew) {
            return Err(differs());
        }
        pairs.ours.push_time(ours);
        pairs.base.push_time(base);
        Ok(())
    }

    fn metric(&self) -> &'static str {
        self.named.0
    }

    fn pairs(&self) -> &Pairs {
        &self.named.1
    }
}

fn timed<A>(run: impl FnOnce() -> Result<A>) -> Result<(A, Duration)> {
    let start = Instant::now();
    Ok((run()?, start.elapsed()))
}
