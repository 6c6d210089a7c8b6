//! The store against the model: random transactions on the same data, several open at once,
//! several snapshots held, tiny sizes so that merges, cuts, hubs and collection happen all the
//! time. Every live version is compared in full, again and again.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use evergraph_graph::Key;
use evergraph_store::{
    Database, Error, Ingest, Options, Service, Snapshot, StaticView, Transaction, Tuning, Weights,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use support::for_each_seed;
use support::model::{Item, Model, Op, V, ingest, read_view, write};

/// A database and all that is known about it.
struct World<'db> {
    db: &'db Database,
    setting: Setting,
    rng: Pcg64Mcg,
    now: Model,
    /// When each item was changed last.
    changed: BTreeMap<Item, u64>,
    open: Vec<Open<'db>>,
    ingest: Ingest,
    /// What was ingested and not archived yet.
    window: Vec<Op>,
    snapshots: Vec<(Snapshot, Model)>,
    commits: u64,
    outcomes: [u64; 3],
}

/// How the database of a case was made.
#[derive(Clone, Copy, Debug)]
struct Setting {
    directed: bool,
    weights: Weights,
    keys: Keys,
    vertices: u64,
    tuning: Tuning,
    /// One change in so many is about vertices.
    vertex_share: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Keys {
    Dense,
    Number,
    Text,
}

/// An open transaction.
struct Open<'db> {
    tx: Transaction<'db>,
    model: Model,
    began: u64,
    written: BTreeSet<Item>,
    /// Vertices that an edge was added to and that were not added by the transaction itself.
    needed: BTreeSet<V>,
    added: BTreeSet<V>,
    /// Vertices that were there when it began and that it removed on the way.
    removed_from_start: BTreeSet<V>,
    /// An operation does not fit: the commit must refuse it.
    refused: bool,
}

impl Setting {
    fn random(rng: &mut Pcg64Mcg) -> Self {
        Self {
            directed: rng.random(),
            weights: [Weights::None, Weights::F32, Weights::F64][rng.random_range(0..3)],
            keys: [Keys::Dense, Keys::Number, Keys::Text][rng.random_range(0..3)],
            vertices: [3, 20, 80, 200][rng.random_range(0..4)],
            tuning: [Tuning::tiny(), Tuning::tiny(), Tuning::default()][rng.random_range(0..3)],
            vertex_share: [4, 30][rng.random_range(0..2)],
        }
    }

    fn options(self) -> Options {
        let options = match self.keys {
            Keys::Dense => Database::options().dense_keys(self.vertices as u32 / 2),
            Keys::Number => Database::options().number_keys(),
            Keys::Text => Database::options().text_keys(),
        };
        let options = if self.directed { options.directed() } else { options.undirected() };
        options.weights(self.weights).tuning(self.tuning).service(Service::Manual)
    }

    /// What the vertex of the model is called in the database.
    fn key(self, v: V) -> Key {
        match self.keys {
            Keys::Dense => Key::Number(v),
            Keys::Number => Key::Number(v.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            Keys::Text => Key::Text(format!("vertex {v}").into()),
        }
    }

    fn vertex(self, key: &Key) -> V {
        let found = (0..self.vertices).find(|&v| self.key(v) == *key);
        found.expect("the database has no other keys")
    }

    fn start(self) -> Model {
        let mut model = Model::new(self.directed);
        if self.keys == Keys::Dense {
            model.vertices.extend(0..self.vertices / 2);
        }
        model
    }
}

impl World<'_> {
    fn step(&mut self) {
        match self.rng.random_range(0..100) {
            0..70 => self.write(),
            70..80 => self.commit(),
            80..82 => self.roll_back(),
            82..86 => self.snapshot(),
            86..89 => self.drop_snapshot(),
            89..93 => _ = self.db.service(),
            93..97 => self.compare_one(),
            97 => self.check_points(),
            98 => self.ingest(),
            _ => self.bulk(),
        }
    }

    fn begin(&mut self) {
        let tx = self.db.begin().expect("few are open");
        assert_eq!(tx.snapshot_version().0, self.commits);
        self.open.push(Open {
            tx,
            model: self.now.clone(),
            began: self.commits,
            written: BTreeSet::new(),
            needed: BTreeSet::new(),
            added: BTreeSet::new(),
            removed_from_start: BTreeSet::new(),
            refused: false,
        });
    }

    fn random_vertex(&mut self) -> V {
        // Half of the time one of few vertices, so that there are hubs.
        let bound =
            if self.rng.random() { 3.min(self.setting.vertices) } else { self.setting.vertices };
        self.rng.random_range(0..bound)
    }

    fn random_op(&mut self) -> Op {
        let (u, v) = (self.random_vertex(), self.random_vertex());
        let weight = match self.setting.weights {
            Weights::None => 1.0,
            _ => f64::from(self.rng.random_range(0..100)),
        };
        if self.rng.random_range(0..self.setting.vertex_share) == 0 {
            return if self.rng.random_range(0..4) == 0 {
                Op::RemoveVertex(u)
            } else {
                Op::AddVertex(u)
            };
        }
        match self.rng.random_range(0..10) {
            0..6 => Op::AddEdge(u, v, weight),
            6..7 if self.setting.weights != Weights::None => Op::SetWeight(u, v, weight),
            _ => Op::RemoveEdge(u, v),
        }
    }

    fn write(&mut self) {
        if self.open.is_empty() || (self.open.len() < 3 && self.rng.random_range(0..8) == 0) {
            self.begin();
        }
        let mut op = self.random_op();
        let index = self.rng.random_range(0..self.open.len());
        let mut trial = self.open[index].model.clone();
        // Mostly what fits; sometimes not, to see the refusal.
        for _ in 0..6 {
            if trial.apply(op, &mut BTreeSet::new()) || self.rng.random_range(0..40) == 0 {
                break;
            }
            op = self.random_op();
            trial.clone_from(&self.open[index].model);
        }
        let setting = self.setting;
        self.open[index].write(op, setting);
    }

    fn bulk(&mut self) {
        self.begin();
        let last = self.open.len() - 1;
        for _ in 0..self.rng.random_range(50..300) {
            let op = self.random_op();
            let mut trial = self.open[last].model.clone();
            if trial.apply(op, &mut BTreeSet::new()) {
                let setting = self.setting;
                self.open[last].write(op, setting);
            }
        }
        self.commit_at(last);
    }

    /// Appends to the window, or archives it.
    fn ingest(&mut self) {
        if self.rng.random_range(0..3) == 0 {
            let private = self.db.static_view(StaticView::Private).expect("few are open");
            let mut model = self.now.clone();
            self.window.iter().for_each(|&op| model.wish(op));
            assert_eq!(read_view(&private, |key| self.setting.vertex(key)), model);
            assert_eq!(private.version().0, self.commits);
            return self.archive();
        }
        for _ in 0..self.rng.random_range(1..100) {
            let op = self.random_op();
            if !matches!(op, Op::AddVertex(_) | Op::RemoveVertex(_)) {
                let weighted = self.setting.weights != Weights::None;
                ingest(&self.ingest, op, weighted, |v| self.setting.key(v)).expect("there is room");
                self.window.push(op);
            }
        }
        assert_eq!(self.ingest.backlog().changes, self.window.len());
    }

    fn archive(&mut self) {
        let mut next = self.now.clone();
        self.window.drain(..).for_each(|op| next.wish(op));
        let version = self.ingest.flush().expect("memory is not limited");
        if next == self.now {
            assert_eq!(version.0, self.commits, "nothing changed");
            return;
        }
        self.commits += 1;
        assert_eq!(version.0, self.commits);
        let vertices = next.vertices.difference(&self.now.vertices).map(|&v| Item::Vertex(v));
        let edges = next.edges.keys().chain(self.now.edges.keys());
        let edges = edges.filter(|edge| next.edges.get(edge) != self.now.edges.get(edge));
        let edges = edges.map(|&(a, b)| Item::Edge(a, b));
        self.changed.extend(vertices.chain(edges).map(|item| (item, self.commits)));
        self.now = next;
    }

    fn commit(&mut self) {
        if !self.open.is_empty() {
            let index = self.rng.random_range(0..self.open.len());
            self.commit_at(index);
        }
    }

    fn commit_at(&mut self, index: usize) {
        let open = self.open.swap_remove(index);
        let touched = |items: &BTreeSet<Item>| {
            items.iter().any(|item| self.changed.get(item).is_some_and(|&at| at > open.began))
        };
        let needed = open.needed.iter().map(|&v| Item::Vertex(v)).collect();
        // A removed vertex also conflicts with edges that others gave it.
        let removed: Vec<V> = open
            .written
            .iter()
            .filter_map(|item| match *item {
                Item::Vertex(v) if open.removed_from_start.contains(&v) => Some(v),
                _ => None,
            })
            .collect();
        let edge_of_removed = self.changed.iter().any(|(item, &at)| match *item {
            Item::Edge(a, b) => at > open.began && (removed.contains(&a) || removed.contains(&b)),
            Item::Vertex(_) => false,
        });
        let conflict = touched(&open.written) || touched(&needed) || edge_of_removed;
        let empty = open.tx.is_empty();
        match open.tx.commit() {
            Ok(version) if empty => assert_eq!(version.0, open.began),
            Ok(version) => {
                assert!(!open.refused, "a transaction that does not fit was committed");
                assert!(!conflict, "a conflict was missed");
                self.commits += 1;
                assert_eq!(version.0, self.commits);
                self.replay(&open.model, &open.written);
                self.outcomes[0] += 1;
            }
            Err(refused) if refused.error.is_conflict() => {
                assert!(conflict || open.refused, "{refused}, but nobody else changed it");
                self.outcomes[1] += 1;
            }
            Err(refused) => {
                assert!(open.refused || conflict, "{refused}, but it fits");
                self.outcomes[2] += 1;
            }
        }
    }

    /// Takes what a transaction wrote over into the newest state.
    fn replay(&mut self, model: &Model, written: &BTreeSet<Item>) {
        for &item in written {
            // What comes to nothing in the end is no change.
            let changed = match item {
                Item::Vertex(v) => model.vertices.contains(&v) != self.now.vertices.contains(&v),
                Item::Edge(a, b) => {
                    [model, &self.now].iter().any(|m| m.edges.contains_key(&(a, b)))
                }
            };
            if changed {
                self.changed.insert(item, self.commits);
            }
            match item {
                Item::Vertex(v) if model.vertices.contains(&v) => _ = self.now.vertices.insert(v),
                Item::Vertex(v) => _ = self.now.vertices.remove(&v),
                Item::Edge(a, b) => match model.edges.get(&(a, b)) {
                    Some(&weight) => _ = self.now.edges.insert((a, b), weight),
                    None => _ = self.now.edges.remove(&(a, b)),
                },
            }
        }
    }

    fn roll_back(&mut self) {
        if let Some(open) = self.open.pop() {
            open.tx.rollback();
        }
    }

    fn snapshot(&mut self) {
        if self.snapshots.len() < 6 {
            let snapshot = if self.snapshots.is_empty() || self.rng.random() {
                (self.db.snapshot().expect("few are open"), self.now.clone())
            } else {
                let (old, model) = &self.snapshots[0];
                (old.again().expect("not expired"), model.clone())
            };
            self.snapshots.push(snapshot);
        }
    }

    fn drop_snapshot(&mut self) {
        if !self.snapshots.is_empty() {
            let index = self.rng.random_range(0..self.snapshots.len());
            self.snapshots.swap_remove(index);
        }
    }

    fn compare_one(&mut self) {
        if !self.snapshots.is_empty() {
            let index = self.rng.random_range(0..self.snapshots.len());
            self.compare(index);
        }
    }

    fn compare(&self, index: usize) {
        let (snapshot, model) = &self.snapshots[index];
        let found = read_view(snapshot, |key| self.setting.vertex(key));
        assert_eq!(&found, model, "at version {}", snapshot.version());
        assert_eq!(snapshot.edge_count(), Ok(model.edges.len() as u64));
        let (from, to) = (self.setting.key(0), self.setting.key(self.setting.vertices / 2));
        let (from, to) = (from.clone().min(to.clone()), from.max(to));
        let mut keys: Vec<Key> = model.vertices.iter().map(|&v| self.setting.key(v)).collect();
        keys.retain(|key| (&from..=&to).contains(&key));
        keys.sort_unstable();
        assert_eq!(snapshot.vertices_in(from.as_ref()..=to.as_ref()), Ok(keys));
    }

    /// Point reads of a snapshot and of a transaction.
    fn check_points(&mut self) {
        for _ in 0..20 {
            let (u, v) = (self.random_vertex(), self.random_vertex());
            let (u_key, v_key) = (self.setting.key(u), self.setting.key(v));
            for (snapshot, model) in &self.snapshots {
                let degree = model.vertices.contains(&u).then(|| model.list(u, false).len());
                let found = snapshot.degree(&u_key).ok().map(|degree| degree as usize);
                assert_eq!(found, degree);
                let ends = model.vertices.contains(&u) && model.vertices.contains(&v);
                let weight = snapshot.weight(&u_key, &v_key);
                assert_eq!(weight.ok(), ends.then(|| model.weight(u, v)));
            }
            for open in self.open.iter().filter(|open| !open.refused) {
                open.check_points(self.setting, u, v);
            }
        }
    }

    fn finish(mut self) -> [u64; 3] {
        self.archive();
        self.snapshot();
        for index in 0..self.snapshots.len() {
            self.compare(index);
        }
        self.db.check().expect("every invariant holds");
        self.open.clear();
        self.snapshots.clear();
        for _ in 0..4 {
            self.db.service();
        }
        let stats = self.db.stats();
        assert_eq!((stats.groups_pending, stats.groups_with_history), (0, 0), "all is settled");
        assert_eq!(stats.edges, self.now.edges.len() as u64);
        assert_eq!(stats.vertices, self.now.vertices.len() as u64);
        self.snapshot();
        self.compare(0);
        self.db.check().expect("every invariant holds");
        self.outcomes
    }
}

impl Open<'_> {
    fn write(&mut self, op: Op, setting: Setting) {
        let key = |v| setting.key(v);
        let weighted = setting.weights != Weights::None;
        let tx = &mut self.tx;
        let asked = match op {
            Op::AddVertex(v) => tx.add_vertex(&key(v)),
            Op::RemoveVertex(v) => tx.remove_vertex(&key(v)),
            Op::AddEdge(u, v, w) if weighted => tx.add_weighted_edge(&key(u), &key(v), w),
            Op::AddEdge(u, v, _) => tx.add_edge(&key(u), &key(v)),
            Op::SetWeight(u, v, w) => tx.set_weight(&key(u), &key(v), w),
            Op::RemoveEdge(u, v) => tx.remove_edge(&key(u), &key(v)),
        };
        if self.refused {
            return;
        }
        let mut written = BTreeSet::new();
        let before = self.model.clone();
        let fits = self.model.apply(op, &mut written);
        match asked {
            Ok(()) => {
                self.refused |= !fits;
                self.note(op, &before);
                self.written.extend(written);
            }
            Err(Error::UnknownVertex { .. }) => {
                assert!(!fits, "{op:?} fits, but an end is said to be unknown");
            }
            Err(error) => panic!("{op:?}: {error}"),
        }
    }

    fn note(&mut self, op: Op, before: &Model) {
        match op {
            Op::AddVertex(v) => _ = self.added.insert(v),
            Op::RemoveVertex(v) if before.vertices.contains(&v) && !self.added.contains(&v) => {
                self.removed_from_start.insert(v);
            }
            Op::AddEdge(u, v, _) | Op::SetWeight(u, v, _) | Op::RemoveEdge(u, v) => {
                self.needed.extend([u, v].into_iter().filter(|v| !self.added.contains(v)));
            }
            Op::RemoveVertex(_) => {}
        }
    }

    /// What the transaction reads is its snapshot with its own changes.
    fn check_points(&self, setting: Setting, u: V, v: V) {
        let (u_key, v_key) = (setting.key(u), setting.key(v));
        let has = |v| self.model.vertices.contains(&v);
        assert_eq!(self.tx.has_vertex(&u_key), Ok(has(u)));
        let weight = self.tx.weight(&u_key, &v_key).ok();
        assert_eq!(weight, (has(u) && has(v)).then(|| self.model.weight(u, v)));
        for reverse in [false, true] {
            let list =
                if reverse { self.tx.in_neighbours(&u_key) } else { self.tx.neighbours(&u_key) };
            let list = list.ok().map(|list| {
                list.into_iter().map(|(key, weight)| (setting.vertex(&key), weight)).collect()
            });
            assert_eq!(list, has(u).then(|| self.model.list(u, reverse)));
        }
        assert_eq!(self.tx.edge_count(), Ok(self.model.edges.len() as u64));
        let degree = self.tx.degree(&u_key).ok();
        assert_eq!(degree, has(u).then(|| self.model.list(u, false).len() as u32));
    }
}

/// Runs one case; how many commits went through, conflicted, and were refused.
fn run(seed: u64, steps: usize) -> [u64; 3] {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let setting = Setting::random(&mut rng);
    let db = setting.options().in_memory();
    let mut world = World {
        db: &db,
        setting,
        now: setting.start(),
        rng: Pcg64Mcg::seed_from_u64(rng.next_u64()),
        changed: BTreeMap::new(),
        open: Vec::new(),
        ingest: db.ingest().expect("it is not read only"),
        window: Vec::new(),
        snapshots: Vec::new(),
        // Versions need not begin at 0.
        commits: db.version().0,
        outcomes: [0; 3],
    };
    for _ in 0..steps {
        world.step();
    }
    world.finish()
}

#[test]
fn every_version_agrees_with_the_model() {
    let mut outcomes = [0; 3];
    for_each_seed(300, |seed| {
        for (total, n) in outcomes.iter_mut().zip(run(seed, 600)) {
            *total += n;
        }
    });
    // A run in which one of them never happens tests less than it says.
    assert!(outcomes.iter().all(|&n| n > 0), "committed, conflicted, refused: {outcomes:?}");
}

#[test]
fn a_refusal_names_the_call_that_was_at_fault() {
    let db = Database::options().weights(Weights::F64).dense_keys(10).in_memory();
    let version = db.transaction(0, |tx| tx.add_edge(1u64, 2u64)).expect("new");
    let refused = |calls: &[Op]| {
        let mut tx = db.begin().expect("few are open");
        for (count, op) in calls.iter().enumerate() {
            assert_eq!(tx.len(), count);
            write(&mut tx, *op).expect("known keys");
        }
        assert_eq!((tx.len(), tx.is_empty()), (calls.len(), calls.is_empty()));
        tx.commit().expect_err("it does not fit").operation
    };
    let fits = Op::AddEdge(3, 4, 1.0);
    assert_eq!(refused(&[Op::AddEdge(1, 2, 1.0)]), Some(0));
    assert_eq!(refused(&[fits, Op::AddEdge(1, 2, 1.0)]), Some(1));
    assert_eq!(refused(&[fits, Op::RemoveEdge(3, 4), Op::RemoveEdge(3, 4)]), Some(2));
    assert_eq!(refused(&[fits, Op::AddEdge(5, 6, 1.0), Op::AddVertex(1)]), Some(2));
    assert_eq!((db.version(), db.stats().edges), (version, 1));
}
