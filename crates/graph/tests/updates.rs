//! Workloads lead back to their graph; update logs say where they are wrong.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use evergraph_graph::generate::Weights;
use evergraph_graph::read::KeyChoice;
use evergraph_graph::update::{Update, UpdateReader, UpdateWriter, Workload, WorkloadOptions};
use evergraph_graph::{EdgeList, GraphSpec, KeyRef, KeyTable, VertexId};
use support::Scratch;

/// A graph under updates that accepts only what makes sense.
#[derive(Default, PartialEq, Debug)]
struct Model {
    directed: bool,
    edges: BTreeMap<(VertexId, VertexId), Option<u64>>,
}

impl Model {
    fn of(list: &EdgeList) -> Self {
        let mut model = Self { directed: list.directed, ..Self::default() };
        for (i, &(from, to)) in list.edges.iter().enumerate() {
            let weight = list.weights.as_ref().map(|weights| weights[i]);
            model.apply(&Update::AddEdge { from, to, weight });
        }
        model
    }

    fn apply(&mut self, update: &Update<VertexId>) {
        let name = |from: VertexId, to: VertexId| {
            if self.directed || from <= to { (from, to) } else { (to, from) }
        };
        match *update {
            Update::AddEdge { from, to, weight } => {
                let before = self.edges.insert(name(from, to), weight.map(f64::to_bits));
                assert_eq!(before, None, "{update:?} names an edge that is there");
            }
            Update::DeleteEdge { from, to } => {
                let there = self.edges.remove(&name(from, to)).is_some();
                assert!(there, "{update:?} names an edge that is not there");
            }
            _ => panic!("a workload has no {update:?}"),
        }
    }
}

fn graph(name: &str, weights: Weights) -> EdgeList {
    name.parse::<GraphSpec>().expect("good").generate(weights, &()).expect("small")
}

fn options(updates_per_edge: u32, seed: u64) -> WorkloadOptions {
    WorkloadOptions { updates_per_edge, seed, ..WorkloadOptions::default() }
}

#[test]
fn a_workload_ends_at_its_graph() {
    for list in [
        graph("graph500-10", Weights::Uniform),
        graph("uniform-10", Weights::None),
        graph("graph500-9", Weights::None).into_directed(),
    ] {
        let workload = Workload::new(&list, &options(9, 4)).expect("simple");
        let edges = list.edges.len();
        let expected = edges + (9 * edges).next_multiple_of(2);
        assert_eq!(workload.remaining(), expected as u64);
        let mut model = Model { directed: list.directed, ..Model::default() };
        let mut count = 0;
        for update in workload {
            model.apply(&update);
            count += 1;
            if count == edges {
                assert_eq!(model, Model::of(&list), "all insertions come first");
            } else if count > edges {
                let most = edges + edges / 16 * 3 / 2;
                assert!((edges..=most).contains(&model.edges.len()), "{count}: size");
            }
        }
        assert_eq!(count, expected);
        assert_eq!(model, Model::of(&list));
    }
}

#[test]
fn the_size_settles_at_the_share_asked_for() {
    let list = graph("uniform-12", Weights::None);
    let options = WorkloadOptions { temporary_share: 0.25, ..options(9, 1) };
    let edges = list.edges.len();
    let mut live = 0i64;
    let mut sizes = Vec::new();
    for (i, update) in Workload::new(&list, &options).expect("simple").enumerate() {
        if i < edges {
            continue;
        }
        live += if matches!(update, Update::AddEdge { .. }) { 1 } else { -1 };
        if (4 * edges..8 * edges).contains(&i) {
            sizes.push(live as f64 / edges as f64);
        }
    }
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    assert!((0.22..0.26).contains(&mean), "{mean}");
    assert_eq!(live, 0);
}

#[test]
fn insertions_are_in_random_order_and_by_seed() {
    let list = graph("uniform-10", Weights::None);
    let run = |seed| -> Vec<Update<u32>> {
        Workload::new(&list, &options(2, seed)).expect("simple").collect()
    };
    let (one, same, other) = (run(1), run(1), run(2));
    assert_eq!(one, same);
    assert_ne!(one, other);
    let kept = one.iter().zip(&list.edges).filter(|(update, edge)| {
        matches!(update, Update::AddEdge { from, to, .. } if (*from, *to) == **edge)
    });
    assert!(kept.count() < list.edges.len() / 100, "the order is not that of the list");
}

#[test]
fn temporary_edges_follow_the_degrees() {
    let list = graph("graph500-12", Weights::None);
    let mut degrees = vec![0u64; list.keys.len() as usize];
    for &(u, v) in &list.edges {
        degrees[u as usize] += 1;
        degrees[v as usize] += 1;
    }
    let mut order: Vec<usize> = (0..degrees.len()).collect();
    order.sort_by_key(|&v| std::cmp::Reverse(degrees[v]));
    let hubs: BTreeSet<usize> = order.into_iter().take(degrees.len() / 20).collect();
    let total: u64 = degrees.iter().sum();
    let expected = hubs.iter().map(|&v| degrees[v]).sum::<u64>() as f64 / total as f64;
    let (mut named, mut at_hubs) = (0u64, 0u64);
    let workload = Workload::new(&list, &options(4, 3)).expect("simple");
    for update in workload.skip(list.edges.len()) {
        if let Update::AddEdge { from, to, .. } = update {
            assert!(degrees[from as usize] > 0 && degrees[to as usize] > 0);
            named += 2;
            at_hubs +=
                [from, to].map(|v| u64::from(hubs.contains(&(v as usize)))).iter().sum::<u64>();
        }
    }
    // Hubs have many of their edges already, so that fewer of the draws at them are free.
    let share = at_hubs as f64 / named as f64;
    assert!(share > 0.6 * expected && share < expected, "{share} of {expected}");
}

#[test]
fn either_end_of_an_undirected_edge_can_be_drawn() {
    // All edges lead from the first half of the vertices to the second.
    let edges: Vec<_> = (0..100u32).map(|i| (i, 100 + (7 * i) % 100)).collect();
    let list = EdgeList { directed: false, keys: KeyTable::dense(200), edges, weights: None };
    let second = |v: u32| v >= 100;
    let kinds = |list: &EdgeList| -> BTreeSet<(bool, bool)> {
        let workload = Workload::new(list, &options(9, 2)).expect("simple");
        workload
            .skip(list.edges.len())
            .filter_map(|update| match update {
                Update::AddEdge { from, to, .. } => Some((second(from), second(to))),
                _ => None,
            })
            .collect()
    };
    assert_eq!(kinds(&list).len(), 4);
    let arcs = EdgeList { directed: true, ..list };
    assert_eq!(kinds(&arcs), BTreeSet::from([(false, true)]), "arcs keep their sides");
}

#[test]
fn deletions_strike_old_and_new_edges_alike() {
    let list = graph("uniform-10", Weights::None);
    let workload = Workload::new(&list, &options(9, 5)).expect("simple");
    let mut live = Vec::new();
    let (mut deletions, mut newest, mut older_half) = (0, 0, 0);
    for update in workload.skip(list.edges.len()) {
        match update {
            Update::AddEdge { from, to, .. } => live.push((from, to)),
            Update::DeleteEdge { from, to } => {
                let age = live.iter().position(|&edge| edge == (from, to)).expect("it is there");
                deletions += 1;
                newest += u32::from(age + 1 == live.len());
                older_half += u32::from(age < live.len() / 2);
                live.remove(age);
            }
            other => panic!("a workload has no {other:?}"),
        }
    }
    assert!(newest < deletions / 50, "{newest} of {deletions}");
    assert!((deletions * 2 / 5..deletions * 3 / 5).contains(&older_half), "{older_half}");
}

#[test]
fn a_graph_without_room_ends_its_workload_early() {
    let edges: Vec<_> = (0..5u32).flat_map(|u| (u + 1..5).map(move |v| (u, v))).collect();
    let list = EdgeList { directed: false, keys: KeyTable::dense(5), edges, weights: None };
    let mut workload = Workload::new(&list, &options(9, 1)).expect("simple");
    assert_eq!(workload.by_ref().count(), 10);
    assert_eq!((workload.remaining(), workload.next()), (0, None));
    let empty = EdgeList { edges: Vec::new(), ..list.clone() };
    assert_eq!(Workload::new(&empty, &options(9, 1)).expect("simple").count(), 0);
    let twice = EdgeList { edges: vec![(0, 1), (1, 0)], ..list };
    assert!(Workload::new(&twice, &options(9, 1)).is_err());
}

#[test]
fn a_log_of_a_workload_replays_to_its_graph() {
    let list = graph("graph500-7", Weights::Uniform);
    let scratch = Scratch::new();
    let path = scratch.path("updates.log.gz");
    let mut writer = UpdateWriter::new(Vec::new(), &path).expect("memory");
    let workload = Workload::new(&list, &options(5, 8)).expect("simple");
    writer.write_workload(&list, workload).expect("memory");
    std::fs::write(&path, writer.finish().expect("memory")).expect("scratch");

    let mut reader = UpdateReader::open(&path, KeyChoice::Auto, &()).expect("good");
    let mut model = Model::default();
    let mut vertices = 0;
    while let Some((_, update)) = reader.read().expect("good") {
        let update = update.map(|key| list.keys.id(key).expect("a key of the graph"));
        match update {
            Update::AddVertex(v) => {
                assert_eq!(v, vertices, "vertices come first, in order");
                vertices += 1;
            }
            update => model.apply(&update),
        }
    }
    assert_eq!(vertices, list.keys.len());
    assert_eq!(model, Model::of(&list));
}

fn read_all(text: &[u8], keys: KeyChoice) -> Result<Vec<String>, String> {
    let name = Path::new("u.log");
    let mut reader = UpdateReader::from_stream(text, name, keys, &()).map_err(|e| e.to_string())?;
    let mut all = Vec::new();
    while let Some((line, update)) = reader.read().map_err(|error| error.to_string())? {
        all.push(format!("{line}: {update:?}"));
    }
    Ok(all)
}

#[test]
fn every_kind_of_update_is_read() {
    let text = b"\xef\xbb\xbf# c\r\nav 7\r\n\na 7 8\na\t7 9 0.5\nu 7 9 -2\nd 7 8\ndv 9\n";
    let expected = [
        "2: AddVertex(Number(7))",
        "4: AddEdge { from: Number(7), to: Number(8), weight: None }",
        "5: AddEdge { from: Number(7), to: Number(9), weight: Some(0.5) }",
        "6: SetWeight { from: Number(7), to: Number(9), weight: -2.0 }",
        "7: DeleteEdge { from: Number(7), to: Number(8) }",
        "8: DeleteVertex(Number(9))",
    ];
    assert_eq!(read_all(text, KeyChoice::Auto).expect("good"), expected);
    let texts = read_all(b"a x,y \"a \"\"b\"\"\"\nav 7\n", KeyChoice::Auto).expect("good");
    assert_eq!(texts[0], r#"1: AddEdge { from: Text("x,y"), to: Text("a \"b\""), weight: None }"#);
    assert_eq!(texts[1], r#"2: AddVertex(Text("7"))"#);
    assert_eq!(read_all(b"", KeyChoice::Auto), Ok(vec![]));
}

#[test]
fn broken_updates_are_named_by_their_line() {
    let numbers = KeyChoice::Number;
    for (text, keys, message) in [
        (
            &b"av 1\nx 1 2\n"[..],
            numbers,
            "u.log:2: `x` is no update; a line begins with a, d, u, av or dv",
        ),
        (b"a 1\n", numbers, "u.log:1: found 2 of the 3 columns that are needed"),
        (b"av\n", numbers, "u.log:1: found 1 of the 2 columns that are needed"),
        (
            b"d 1 2 3\n",
            numbers,
            "u.log:1: more than 3 columns; put keys that hold spaces, tabs or commas in double quotes",
        ),
        (
            b"av 1 2\n",
            numbers,
            "u.log:1: more than 2 columns; put keys that hold spaces, tabs or commas in double quotes",
        ),
        (b"a 1 2 x\n", numbers, "u.log:1, column 4: the weight `x` is not a number"),
        (
            b"a 1 2 nan\n",
            numbers,
            "u.log:1, column 4: the weight `nan` is NaN; an edge needs a number to be compared by",
        ),
        (
            b"u 1 2\n",
            numbers,
            "u.log:1: the edge 1 2 has no weight; read the graph without weights, or add one",
        ),
        (
            b"av 1\nav b\n",
            KeyChoice::Auto,
            "u.log:2, column 2: vertex `b` is not a number; ask for text keys if vertices have names",
        ),
        (
            b"a 1 -2\n",
            numbers,
            "u.log:1, column 3: vertex -2 is outside the range 0 to 18446744073709551615",
        ),
        (
            b"a \"1 2\n",
            numbers,
            "u.log:1: column 2 opens a double quote that is not closed on this line",
        ),
        (
            b"av \xff\n",
            KeyChoice::Text,
            "u.log:1, column 2: the text is not valid UTF-8; convert the file to UTF-8",
        ),
    ] {
        assert_eq!(read_all(text, keys).expect_err("broken"), message);
    }
}

#[test]
fn a_reader_goes_on_behind_an_error() {
    let name = Path::new("u.log");
    let text = &b"av 1\nwhat\nav 2\n"[..];
    let mut reader = UpdateReader::from_stream(text, name, KeyChoice::Auto, &()).expect("opens");
    assert_eq!(reader.read().expect("first"), Some((1, Update::AddVertex(KeyRef::Number(1)))));
    assert!(reader.read().is_err());
    assert_eq!(reader.place().to_string(), "u.log:2");
    assert_eq!(reader.read().expect("third"), Some((3, Update::AddVertex(KeyRef::Number(2)))));
    assert_eq!(reader.read().expect("end"), None);
}

#[test]
fn keys_that_no_line_can_hold_are_refused() {
    let mut writer = UpdateWriter::new(Vec::new(), Path::new("u.log")).expect("memory");
    for key in ["a\nb", "\0"] {
        let error = writer.write(Update::AddVertex(KeyRef::Text(key))).expect_err(key);
        let expected =
            format!("the key {key:?} cannot be written: it holds a line end or a NUL character");
        assert_eq!(error.to_string(), expected);
    }
}
