//! Standing results on a database that changes at random: after every refresh each is what its
//! kernel says on the same snapshot, and what its verifier accepts.
//!
//! A failure names its seed; `EVERGRAPH_SEED` runs that seed alone, `EVERGRAPH_CASES` so many.

use evergraph::algo::Cancel;
use evergraph::kernels::standing::{Components, Degrees, Distances, Levels, Ranks, Triangles};
use evergraph::kernels::{
    BfsConfig, BfsOutput, PageRankConfig, SsspConfig, SsspOutput, TriangleConfig, WccConfig, bfs,
    degrees, pagerank, sssp, triangle_count, verify, wcc,
};
use evergraph::standing::{
    RanksConfig, Refresh, Standing, StandingBfs, StandingComponents, StandingDegrees,
    StandingPageRank, StandingSssp, StandingTriangles,
};
use evergraph::{
    Database, Durability, Error, Options, SelfLoops, StoreError, Transaction, Weights, with_view,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Seeds of a run, unless the environment says otherwise.
const SEEDS: u64 = 60;
/// Ranks so exact that no mistake hides in the tolerance.
fn exact() -> RanksConfig {
    RanksConfig { tolerance: 1e-9, ..RanksConfig::default() }
}

/// Refreshes of a seed.
const STEPS: usize = 25;
/// The source of paths, which is there from the start.
const SOURCE: u64 = 0;

/// A graph that changes at random. What it looks like is drawn from the seed.
struct World {
    db: Database,
    chance: Chance,
    _folder: tempfile::TempDir,
}

/// What is drawn.
struct Chance {
    rng: Pcg64Mcg,
    vertices: u64,
    /// The least of so many numbers is taken: with more than one, edges meet at small ones.
    skew: u32,
    weighted: bool,
    /// How many of the edges that are drawn are added, if they are not there.
    adds: f64,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options::default().durability(Durability::Os).self_loops(SelfLoops::Allowed);
        let options = if rng.random() { options.directed() } else { options.undirected() };
        let weights = [Weights::None, Weights::F32, Weights::F64][rng.random_range(0..3)];
        let db = options.weights(weights).open(folder.path()).expect("a folder");
        db.transaction(0, |tx| tx.add_vertex(SOURCE)).expect("it is new");
        let vertices = [6, 12, 40, 150][rng.random_range(0..4)];
        let skew = [1, 3][rng.random_range(0..2)];
        let (adds, weighted) = (rng.random_range(0.4..0.75), db.is_weighted());
        let chance = Chance { rng, vertices, skew, weighted, adds };
        Self { db, chance, _folder: folder }
    }

    /// Some transactions.
    fn change(&mut self) {
        for _ in 0..self.chance.rng.random_range(1..=6) {
            let mut tx = self.db.begin().expect("few are open");
            for _ in 0..self.chance.rng.random_range(1..=self.chance.vertices / 4 + 2) {
                self.chance.change(&mut tx).expect("it can be done");
            }
            tx.commit().expect("nobody else writes");
        }
        if self.chance.rng.random_range(0..8) == 0 {
            self.db.checkpoint().expect("there is room");
        }
    }
}

impl Chance {
    fn vertex(&mut self) -> u64 {
        let drawn = (0..self.skew).map(|_| self.rng.random_range(0..self.vertices));
        drawn.min().unwrap_or(SOURCE)
    }

    /// Something that can be done.
    fn change(&mut self, tx: &mut Transaction) -> Result<(), StoreError> {
        let (u, v) = (self.vertex(), self.vertex());
        // Weights of which some are nothing, and some sums are the same.
        let weight = f64::from(self.rng.random_range(0..5u8)) / 2.0;
        let (what, adds) = (self.rng.random::<f64>(), self.rng.random::<f64>() < self.adds);
        for v in [u, v] {
            if !tx.has_vertex(v)? {
                return tx.add_vertex(v);
            }
        }
        if what < 0.04 && u != SOURCE {
            return tx.remove_vertex(u);
        }
        match tx.has_edge(u, v)? {
            true if what < 0.3 && self.weighted => tx.set_weight(u, v, weight),
            true if !adds => tx.remove_edge(u, v),
            false if adds && self.weighted => tx.add_weighted_edge(u, v, weight),
            false if adds => tx.add_edge(u, v),
            _ => Ok(()),
        }
    }
}

/// All results on one database.
struct Results {
    degrees: StandingDegrees,
    components: StandingComponents,
    triangles: StandingTriangles,
    levels: StandingBfs,
    distances: StandingSssp,
    ranks: StandingPageRank,
}

impl Results {
    fn new(db: &Database, recompute_above: f64) -> Self {
        let ok = "there is a source, and nothing to refuse";
        let ranks = StandingPageRank::new(db, &exact()).expect(ok);
        Self {
            degrees: StandingDegrees::new(db).expect(ok).recompute_above(recompute_above),
            components: StandingComponents::new(db).expect(ok).recompute_above(recompute_above),
            triangles: StandingTriangles::new(db).expect(ok).recompute_above(recompute_above),
            levels: StandingBfs::new(db, SOURCE).expect(ok).recompute_above(recompute_above),
            distances: StandingSssp::new(db, SOURCE).expect(ok).recompute_above(recompute_above),
            ranks: ranks.recompute_above(recompute_above),
        }
    }

    /// What they did; the same for all.
    fn refresh(&mut self) -> Refresh {
        let done = [
            self.degrees.refresh(),
            self.components.refresh(),
            self.triangles.refresh(),
            self.levels.refresh(),
            self.distances.refresh(),
            self.ranks.refresh(),
        ];
        let done = done.map(|done| done.expect("the source is there"));
        assert!(done.iter().all(|&one| one == done[0]), "{done:?}");
        done[0]
    }

    /// Each against its kernel and its verifier, on its own snapshot.
    fn check(&self, place: &str) {
        degrees_are_right(&self.degrees, place);
        components_are_right(&self.components, place);
        triangles_are_right(&self.triangles, place);
        levels_are_right(&self.levels, place);
        distances_are_right(&self.distances, place);
        ranks_are_right(&self.ranks, place);
    }
}

/// Runs a check on the view of the snapshot where a result stands; a macro, for closures cannot be
/// generic.
macro_rules! check_on {
    ($name:ident, $result:ty, |$place:ident, $view:ident, $output:ident, $snapshot:ident| $body:block) => {
        fn $name(standing: &Standing<$result>, $place: &str) {
            assert_eq!(standing.version(), standing.snapshot().version(), "{}", $place);
            let $snapshot = standing.snapshot();
            let $output = standing.output().expect("the refresh went well");
            with_view!($snapshot.view().expect("not expired"), |$view| {
                let checked: Result<(), verify::Mismatch> = $body;
                checked
                    .unwrap_or_else(|error| panic!("{}: {}: {error}", $place, stringify!($name)));
            });
        }
    };
}

check_on!(degrees_are_right, Degrees, |place, view, output, _snapshot| {
    assert!(*output == degrees(view), "{place}: degrees");
    verify::degrees(view, output)
});

check_on!(components_are_right, Components, |place, view, output, _snapshot| {
    let kernel = wcc(view, &WccConfig::default()).expect("nothing to refuse");
    assert!(*output == kernel, "{place}: components {output:?}, not {kernel:?}");
    verify::wcc(view, output)
});

check_on!(triangles_are_right, Triangles, |place, view, output, _snapshot| {
    let kernel = triangle_count(view, &TriangleConfig::default());
    assert_eq!(Ok(output), kernel, "{place}");
    verify::triangle_count(view, &output)
});

check_on!(levels_are_right, Levels, |place, view, output, snapshot| {
    let source = evergraph::algo::source(snapshot, SOURCE).expect("it is there");
    let config = BfsConfig { source, ..BfsConfig::default() };
    let kernel = bfs(view, &config).expect("the source is there").levels;
    assert!(output == kernel, "{place}: levels {output:?}, not {kernel:?}");
    verify::bfs(view, &config, &BfsOutput { levels: output.to_vec() })
});

check_on!(distances_are_right, Distances, |place, view, output, snapshot| {
    let source = evergraph::algo::source(snapshot, SOURCE).expect("it is there");
    let config = SsspConfig { source, ..SsspConfig::default() };
    let kernel = sssp(view, &config).expect("the source is there").distances;
    assert!(output == kernel, "{place}: distances {output:?}, not {kernel:?}");
    verify::sssp(view, &config, &SsspOutput { distances: output.to_vec() })
});

check_on!(ranks_are_right, Ranks, |place, view, output, _snapshot| {
    let config =
        PageRankConfig { iterations: 1000, tolerance: Some(1e-13), ..PageRankConfig::default() };
    let kernel = pagerank(view, &config).expect("a good configuration");
    let off: f64 = output.ranks().zip(&kernel.ranks).map(|(a, b)| (a - b).abs()).sum();
    let tolerance = exact().tolerance;
    assert!(off <= tolerance, "{place}: ranks are off by {off}, not {tolerance} at most");
    assert_eq!(output.ranks().len(), kernel.ranks.len(), "{place}");
    verify::pagerank(view, &config, &kernel)
});

fn run(seed: u64) {
    let mut world = World::new(seed);
    // Half of the databases are filled before, half grow from one vertex.
    for _ in 0..(seed % 2) * 10 {
        world.change();
    }
    let mut results = Results::new(&world.db, f64::INFINITY);
    let mut updated = 0;
    for step in 0..STEPS {
        world.change();
        let done = results.refresh();
        assert_ne!(done, Refresh::Recomputed, "seed {seed}, step {step}");
        updated += usize::from(done == Refresh::Updated);
        results.check(&format!("seed {seed}, step {step}"));
        assert_eq!(results.refresh(), Refresh::Unchanged, "seed {seed}, step {step}");
    }
    assert!(updated > STEPS / 2, "seed {seed}: {updated} steps changed anything");
}

#[test]
fn every_refresh_is_what_the_kernels_say() {
    let given = |name| {
        let value: Option<String> = std::env::var(name).ok();
        value.map(|value| value.parse::<u64>().expect("it is a number"))
    };
    let seeds = match given("EVERGRAPH_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..given("EVERGRAPH_CASES").unwrap_or(SEEDS),
    };
    for seed in seeds {
        println!("EVERGRAPH_SEED={seed}");
        run(seed);
    }
}

fn small() -> (Database, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options::default().durability(Durability::Os);
    let db = options.open(folder.path()).expect("a folder");
    db.transaction(0, |tx| {
        (0..200u64).try_for_each(|v| tx.add_vertex(v))?;
        (0..199u64).try_for_each(|v| tx.add_edge(v, v + 1))
    })
    .expect("all is new");
    (db, folder)
}

#[test]
fn a_large_step_is_computed_anew_and_says_so() {
    let (db, _folder) = small();
    let mut results = Results::new(&db, 0.01);
    db.transaction(0, |tx| tx.remove_edge(5u64, 6u64)).expect("it is there");
    assert_eq!(results.refresh(), Refresh::Updated);
    results.check("one of 198 edges");
    db.transaction(0, |tx| (10..13u64).try_for_each(|v| tx.remove_edge(v, v + 1)))
        .expect("they are there");
    assert_eq!(results.refresh(), Refresh::Recomputed);
    results.check("three of 195 edges");
}

#[test]
fn a_source_that_goes_and_comes_again() {
    let (db, _folder) = small();
    let mut levels = StandingBfs::new(&db, 0u64).expect("it is there").recompute_above(1.0);
    db.transaction(0, |tx| tx.remove_vertex(0u64)).expect("it is there");
    assert!(matches!(levels.refresh(), Err(Error::SourceNotFound(_))));
    assert!(levels.output().is_none());
    db.transaction(0, |tx| tx.add_vertex(0u64)).expect("it is gone");
    assert_eq!(levels.refresh().expect("it is there"), Refresh::Recomputed);
    levels_are_right(&levels, "the source is alone");
}

#[test]
fn an_id_that_went_to_another_key_is_followed() {
    let (db, _folder) = small();
    let mut results = Results::new(&db, 1.0);
    db.transaction(0, |tx| tx.remove_vertex(100u64)).expect("it is there");
    for round in 0..5u64 {
        db.checkpoint().expect("there is room");
        let new = 1000 + round;
        db.transaction(0, |tx| {
            tx.add_vertex(new)?;
            tx.add_edge(new, 3u64)
        })
        .expect("it is new");
        results.refresh();
        results.check("an id was given up between");
        db.transaction(0, |tx| tx.remove_vertex(new)).expect("it is there");
    }
}

#[test]
fn a_position_is_stored_and_no_change() {
    let (db, _folder) = small();
    let mut results = Results::new(&db, 1.0);
    let version = results.components.version();
    db.transaction(0, |tx| {
        tx.set_position("components", version);
        Ok(())
    })
    .expect("commits");
    assert_eq!(db.position("components"), Some(version));
    assert_eq!(results.refresh(), Refresh::Unchanged);
    assert_eq!(results.components.version(), db.version());
}

#[test]
fn without_a_log_all_is_computed_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options::default().dense_keys(10).durability(Durability::None);
    let db = options.open(folder.path()).expect("a folder");
    let mut results = Results::new(&db, 1.0);
    db.transaction(0, |tx| tx.add_edge(0u64, 9u64)).expect("it is new");
    assert_eq!(results.refresh(), Refresh::Recomputed);
    results.check("nothing tells of the edge");
    assert_eq!(results.refresh(), Refresh::Unchanged);
}

#[test]
fn snapshots_that_expired_are_survived() {
    let (db, _folder) = small();
    let mut results = Results::new(&db, 1.0);
    db.transaction(0, |tx| tx.add_edge(0u64, 100u64)).expect("it is new");
    assert!(db.expire_snapshots(std::time::Duration::ZERO) >= 6);
    assert_eq!(results.refresh(), Refresh::Recomputed);
    results.check("after the snapshots before expired");
}

#[test]
fn what_was_cancelled_is_computed_anew() {
    fn stop<R: evergraph::kernels::standing::Standing>(standing: &mut Standing<R>) {
        let cancel = Cancel::default();
        cancel.cancel();
        let stopped = standing.refresh_cancellable(&cancel);
        assert!(matches!(stopped, Err(Error::Interrupted)), "{}", stopped.is_ok());
        assert!(standing.output().is_none());
    }
    let (db, _folder) = small();
    let raised = Cancel::default();
    raised.cancel();
    let refused = StandingComponents::new_cancellable(&db, &raised).err();
    assert!(matches!(refused, Some(Error::Interrupted)), "{refused:?}");
    let mut results = Results::new(&db, 1.0);
    // Enough for every method to look at the flag while it works.
    db.transaction(0, |tx| (0..199u64).try_for_each(|v| tx.remove_edge(v, v + 1)))
        .expect("they are there");
    stop(&mut results.degrees);
    stop(&mut results.components);
    stop(&mut results.triangles);
    stop(&mut results.levels);
    stop(&mut results.distances);
    stop(&mut results.ranks);
    assert_eq!(results.refresh(), Refresh::Recomputed);
    results.check("after all were cancelled");
}

#[test]
fn a_database_in_memory_is_refused() {
    let refused = StandingDegrees::new(&Database::in_memory()).err();
    assert!(matches!(refused, Some(Error::Store(StoreError::NotDurable))));
    let told = refused.map(|error| error.to_string()).unwrap_or_default();
    assert!(told.contains("open one in a folder with `Database::open`"), "{told}");
}
