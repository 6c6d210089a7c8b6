//! The whole store under random schedules: writers, readers and the service as threads of a
//! scheduler that switches between them at every operation of a latch or an atomic. Every
//! snapshot, whoever opened it when, must show the commits up to its version and no other.
//!
//! `RUSTFLAGS="--cfg shuttle" cargo test -p evergraph-store --test shuttle`

#![cfg(shuttle)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evergraph_graph::{GraphView, Key};
use evergraph_store::{
    Database, Isolation, Service, Snapshot, Transaction, Tuning, Weights, with_view,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::Mutex;
use shuttle::thread;
use support::for_each_seed;
use support::model::{Model, Op, V};

/// What a test of one seed looks like.
#[derive(Clone, Copy, Debug)]
struct Setting {
    directed: bool,
    isolation: Isolation,
    vertices: u64,
    writers: u64,
    readers: u64,
    /// Transactions of a writer.
    transactions: usize,
}

impl Setting {
    fn random(rng: &mut Pcg64Mcg) -> Self {
        Self {
            directed: rng.random(),
            isolation: [Isolation::Snapshot, Isolation::Serializable][rng.random_range(0..2)],
            vertices: [4, 12, 80][rng.random_range(0..3)],
            writers: rng.random_range(1..4),
            readers: rng.random_range(1..4),
            transactions: rng.random_range(5..25),
        }
    }

    /// Half of the vertices exist from the start.
    fn database(self) -> Database {
        let options = Database::options().dense_keys(self.vertices as u32 / 2);
        let options = if self.directed { options.directed() } else { options.undirected() };
        let options = options.isolation(self.isolation).tuning(Tuning::tiny());
        options.weights(Weights::F64).service(Service::Manual).in_memory()
    }

    fn start(self) -> Model {
        let mut model = Model::new(self.directed);
        model.vertices.extend(0..self.vertices / 2);
        model
    }

    /// Something that fits what the transaction sees.
    fn random_op(self, tx: &Transaction<'_>, rng: &mut Pcg64Mcg) -> Op {
        // Two vertices get most of the edges: they become hubs.
        let (u, v) = (rng.random_range(0..self.vertices), rng.random_range(0..self.vertices));
        let u = if rng.random() { u % 2 } else { u };
        let weight = rng.random_range(0..9).into();
        match [u, v].into_iter().find(|&v| tx.has_vertex(v) == Ok(false)) {
            Some(missing) => Op::AddVertex(missing),
            None if rng.random_range(0..20) == 0 => Op::RemoveVertex(v),
            None => match (tx.has_edge(u, v), rng.random_range(0..3)) {
                (Ok(false), _) => Op::AddEdge(u, v, weight),
                (_, 0) => Op::SetWeight(u, v, weight),
                _ => Op::RemoveEdge(u, v),
            },
        }
    }
}

/// What was committed, by version, and what snapshots showed.
#[derive(Default)]
struct Log {
    commits: Mutex<Vec<(u64, Vec<Op>)>>,
    seen: Mutex<Vec<(u64, Model)>>,
    glances: Mutex<Vec<Glance>>,
}

/// A version, a vertex and its list, if it exists.
type Glance = (u64, V, Option<BTreeMap<V, f64>>);

fn write(db: &Database, setting: Setting, rng: &mut Pcg64Mcg, log: &Log) {
    for _ in 0..setting.transactions {
        let mut tx = db.begin().expect("few are open");
        let mut ops = Vec::new();
        for _ in 0..rng.random_range(1..5) {
            let op = setting.random_op(&tx, rng);
            let asked = match op {
                Op::AddVertex(v) => tx.add_vertex(v),
                Op::RemoveVertex(v) => tx.remove_vertex(v),
                Op::AddEdge(u, v, weight) => tx.add_weighted_edge(u, v, weight),
                Op::SetWeight(u, v, weight) => tx.set_weight(u, v, weight),
                Op::RemoveEdge(u, v) => tx.remove_edge(u, v),
            };
            asked.expect("it fits");
            ops.push(op);
        }
        // Refusals are part of the game.
        if let Ok(version) = tx.commit() {
            assert!(db.version() >= version, "a commit returned before it was visible");
            log.commits.lock().expect("nobody panicked").push((version.0, ops));
        }
    }
}

/// Reads everything twice, by a view and by point reads, which take no latch; the second time
/// through another lease.
fn read(db: &Database, rounds: usize, log: &Log) {
    for round in 0..rounds {
        let ways = [read_view, read_points];
        let snapshot = db.snapshot().expect("few are open");
        let first = ways[round % 2](&snapshot);
        let again = snapshot.again().expect("not expired");
        drop(snapshot);
        let second = ways[(round + 1) % 2](&again);
        assert_eq!(first, second, "version {}", again.version());
        log.seen.lock().expect("nobody panicked").push((again.version().0, first));
    }
}

/// Reads a list each of many snapshots: what is not in place yet is missed by whoever looks at once.
fn glance(db: &Database, setting: Setting, rng: &mut Pcg64Mcg, log: &Log) {
    for _ in 0..2 * setting.transactions {
        let snapshot = db.snapshot().expect("few are open");
        let v = rng.random_range(0..2);
        let list = snapshot.neighbours(v).ok();
        let list = list.map(|list| list.into_iter().map(|(key, w)| (number(&key), w)).collect());
        let glance = (snapshot.version().0, v, list);
        log.glances.lock().expect("nobody panicked").push(glance);
    }
}

fn number(key: &Key) -> V {
    let Key::Number(v) = key else { panic!("{key} is no number") };
    *v
}

/// The lists of a view; an edge stands in those of both its ends.
fn read_view(snapshot: &Snapshot) -> Model {
    with_view!(snapshot.view().expect("not expired"), |view| {
        let mut model = Model::new(view.is_directed());
        let (mut entries, mut in_entries) = (BTreeSet::new(), BTreeSet::new());
        for v in 0..view.vertex_bound() {
            let from = V::from(v);
            if view.contains(v) {
                model.vertices.insert(from);
            }
            let mut degree = 0;
            view.for_each_weighted(v, |u, weight| {
                degree += 1;
                let weight = evergraph_graph::Weight::to_f64(weight);
                entries.insert((from, V::from(u)));
                let edge = model.edge(from, u.into());
                let before = model.edges.insert(edge, weight);
                assert!(before.is_none_or(|before| before.to_bits() == weight.to_bits()));
            });
            assert_eq!(view.degree(v), degree);
            view.for_each_in(v, |u| _ = in_entries.insert((V::from(u), from)));
        }
        assert_eq!(entries, in_entries, "an edge stands in one list only");
        model
    })
}

fn read_points(snapshot: &Snapshot) -> Model {
    let is_directed = with_view!(snapshot.view().expect("not expired"), |view| view.is_directed());
    let mut model = Model::new(is_directed);
    let keys = snapshot.keys().expect("not expired");
    for v in (0..).zip(keys).filter_map(|(v, key)| key.map(|_| v)) {
        model.vertices.insert(v);
        let list = snapshot.neighbours(v).expect("it exists");
        assert_eq!(snapshot.degree(v), Ok(list.len() as u32));
        for (key, weight) in list {
            let u = number(&key);
            let edge = model.edge(v, u);
            model.edges.insert(edge, weight);
            assert_eq!(snapshot.weight(v, u), Ok(Some(weight)));
        }
    }
    model
}

/// Every snapshot against the commits up to its version, run one by one.
fn compare(setting: Setting, log: &Log, totals: &Totals) {
    let mut commits = std::mem::take(&mut *log.commits.lock().expect("nobody panicked"));
    commits.sort_unstable_by_key(|&(version, _)| version);
    let mut states = vec![setting.start()];
    for (version, ops) in commits {
        let mut model = states.last().expect("there is the first").clone();
        for op in ops {
            assert!(model.apply(op, &mut BTreeSet::new()), "{op:?} of {version} does not fit");
        }
        // What came to nothing took no version.
        if version == states.len() as u64 {
            states.push(model);
        } else {
            assert!(version < states.len() as u64, "version {version} is missing");
        }
    }
    let seen = log.seen.lock().expect("nobody panicked");
    for (version, seen) in seen.iter() {
        assert_eq!(Some(seen), states.get(*version as usize), "version {version}");
    }
    for (version, v, list) in log.glances.lock().expect("nobody panicked").iter() {
        let state = &states[*version as usize];
        let expected = state.vertices.contains(v).then(|| state.list(*v, false));
        assert_eq!(list, &expected, "{v} at version {version}");
    }
    totals.commits.fetch_add(states.len() - 1, Ordering::Relaxed);
    totals.snapshots.fetch_add(seen.len(), Ordering::Relaxed);
}

/// What all runs of a test did together. The scheduler does not know of it.
#[derive(Default)]
struct Totals {
    commits: AtomicUsize,
    snapshots: AtomicUsize,
}

impl Totals {
    /// A test in which nothing happens proves nothing.
    #[expect(clippy::print_stdout, reason = "shown by whoever asks for the output of tests")]
    fn check(&self) {
        let count = |total: &AtomicUsize| total.load(Ordering::Relaxed);
        let (commits, snapshots) = (count(&self.commits), count(&self.snapshots));
        println!("{commits} commits, {snapshots} snapshots compared");
        assert!(commits > 0 && snapshots > 0, "nothing happened");
    }
}

fn run_threads(seed: u64, totals: &Totals) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let setting = Setting::random(&mut rng);
    let (db, log) = (setting.database(), Arc::new(Log::default()));
    let spawn = |work: Box<dyn FnOnce(&Database, &Log) + Send>| {
        let (db, log) = (db.clone(), Arc::clone(&log));
        thread::spawn(move || work(&db, &log))
    };
    let mut threads = Vec::new();
    for writer in 0..setting.writers {
        let mut rng = Pcg64Mcg::seed_from_u64(seed << 8 | writer);
        threads.push(spawn(Box::new(move |db, log| write(db, setting, &mut rng, log))));
    }
    let rounds = setting.transactions / 3;
    for _ in 0..setting.readers {
        threads.push(spawn(Box::new(move |db, log| read(db, rounds, log))));
    }
    let mut glancer = Pcg64Mcg::seed_from_u64(!seed);
    threads.push(spawn(Box::new(move |db, log| glance(db, setting, &mut glancer, log))));
    threads.push(spawn(Box::new(move |db, _| {
        for _ in 0..setting.transactions {
            db.service();
            thread::yield_now();
        }
    })));
    for thread in threads {
        thread.join().expect("no panic");
    }
    read(&db, 1, &log);
    db.check().expect("every invariant holds");
    while db.service() {}
    let stats = db.stats();
    assert_eq!((stats.groups_pending, stats.groups_with_history), (0, 0), "all is settled");
    read(&db, 1, &log);
    compare(setting, &log, totals);
}

/// Steps after which a schedule counts as one that never ends.
const STEPS_MAX: usize = 20_000_000;
const STACK_BYTES: usize = 1 << 20;

fn run_under(scheduler: impl Scheduler + 'static, seed: u64, totals: &Arc<Totals>) {
    let mut config = shuttle::Config::new();
    config.stack_size = STACK_BYTES;
    config.failure_persistence = shuttle::FailurePersistence::None;
    config.max_steps = shuttle::MaxSteps::FailAfter(STEPS_MAX);
    // It says that orderings are not modelled; loom does that.
    config.silence_warnings = true;
    let totals = Arc::clone(totals);
    shuttle::Runner::new(scheduler, config).run(move || run_threads(seed, &totals));
}

#[test]
fn shuttle_random_schedules() {
    let totals = Arc::new(Totals::default());
    for_each_seed(600, |seed| {
        run_under(RandomScheduler::new_from_seed(seed, 1), seed, &totals);
    });
    totals.check();
}

#[test]
fn shuttle_few_preemptions() {
    // Depth 3: two changes of priority at the worst moments. The first run only counts steps.
    let totals = Arc::new(Totals::default());
    for_each_seed(150, |seed| {
        run_under(PctScheduler::new_from_seed(seed, 3, 4), seed, &totals);
    });
    totals.check();
}
