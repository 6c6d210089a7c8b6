//! Shapes that break kernels: nothing, one vertex, depth, hubs, everything joined.

use evergraph_algo::{
    AlgoError, BfsConfig, Cancel, CdlpConfig, LccConfig, PageRankConfig, SccConfig, SsspConfig,
    TriangleConfig, WccConfig, bfs, cdlp, lcc, pagerank, scc, sssp, triangle_count, verify, wcc,
};

use crate::support::{Pieces, check_all, check_searches, graph, skewed};

const DEEP: u32 = 100_000;

#[test]
fn graphs_of_no_and_of_one_vertex() {
    for directed in [false, true] {
        check_all(&graph(directed, 0, &[]));
        check_all(&graph(directed, 1, &[]));
        check_all(&graph(directed, 1, &[(0, 0, 2.0)]));
        check_all(&graph(directed, 130, &[]));
        let gone = Pieces { csr: graph(directed, 70, &[]), run_max: 1, hide_isolated: true };
        check_all(&gone);
    }
}

/// A path whose ids ascend, descend, or jump.
fn path(directed: bool, id: impl Fn(u32) -> u32) -> evergraph_graph::Csr<f64> {
    let edges: Vec<_> = (1..DEEP).map(|i| (id(i - 1), id(i), f64::from(i % 7))).collect();
    graph(directed, DEEP, &edges)
}

#[test]
fn a_path_of_a_hundred_thousand() {
    let jump = |i| (u64::from(i) * 61_717 % u64::from(DEEP)) as u32;
    for directed in [false, true] {
        for view in [path(directed, |i| i), path(directed, |i| DEEP - 1 - i), path(directed, jump)]
        {
            let config = BfsConfig::default();
            let output = bfs(&view, &config).expect("source 0 exists");
            verify::bfs(&view, &config, &output).expect("bfs");
            let config = SsspConfig::default();
            let output = sssp(&view, &config).expect("source 0 exists");
            verify::sssp(&view, &config, &output).expect("sssp");
            let output = wcc(&view, &WccConfig::default()).expect("nothing to refuse");
            assert_eq!(output.components, 1);
            verify::wcc(&view, &output).expect("wcc");
            let output = scc(&view, &SccConfig::default()).expect("nothing to refuse");
            assert_eq!(output.components, if directed { DEEP } else { 1 });
            verify::scc(&view, &output).expect("scc");
        }
    }
}

#[test]
fn circles_that_trimming_cannot_open() {
    // A large circle, and small ones hanging off it that the forward and backward searches from
    // the large one leave to the depth-first search; one of those is deep itself.
    let mut edges: Vec<_> = (0..1000).map(|v| (v, (v + 1) % 1000, 1.0)).collect();
    for v in (1000..2000).step_by(2) {
        edges.extend([(v - 1000, v, 1.0), (v, v + 1, 1.0), (v + 1, v, 1.0)]);
    }
    edges.extend((2000..DEEP).map(|v| (v, v + 1, 1.0)));
    edges.extend([(DEEP, 2000, 1.0), (DEEP, 0, 1.0), (7, 8, 1.0), (3, 3, 1.0)]);
    // The best connected vertices, so that the search from a pivot takes the first circle.
    edges.extend((1000..1500).map(|v| (5, v, 1.0)));
    edges.extend((2000..2500).map(|v| (v, 5, 1.0)));
    let view = graph(true, DEEP + 1, &edges);
    let output = scc(&view, &SccConfig::default()).expect("nothing to refuse");
    assert_eq!(output.components, 1 + 500 + 1);
    verify::scc(&view, &output).expect("scc");
}

#[test]
fn a_star_seen_from_its_middle_and_from_a_tip() {
    let tips = 5000;
    for directed in [false, true] {
        let out: Vec<_> = (1..=tips).map(|v| (0, v, f64::from(v))).collect();
        let back: Vec<_> = (1..=tips).map(|v| (v, 0, f64::from(v))).collect();
        check_all(&graph(directed, tips + 1, &out));
        check_searches(&graph(directed, tips + 1, &back));
    }
}

#[test]
fn legs_that_end_in_ever_smaller_ids() {
    // The middle is joined with leg after leg, and each leg's end becomes the new smallest id: the
    // way from the middle to the root of its tree grows with every leg.
    let legs = DEEP;
    let edges = (1..=legs).flat_map(|i| [(legs, legs + i, 1.0), (legs + i, legs - i, 1.0)]);
    let view = graph(false, 2 * legs + 1, &edges.collect::<Vec<_>>());
    let output = wcc(&view, &WccConfig::default()).expect("nothing to refuse");
    assert!(output.labels.iter().all(|&label| label == 0));
}

#[test]
fn everything_joined_to_everything() {
    let n = 60;
    let pairs = (0..n).flat_map(|u| (0..n).map(move |v| (u, v, f64::from((u * v) % 5))));
    let all: Vec<_> = pairs.collect();
    for directed in [false, true] {
        let view = graph(directed, n, &all);
        check_all(&view);
        let output = triangle_count(&view, &TriangleConfig::default()).expect("nothing to refuse");
        assert_eq!(output.triangles, u64::from(n * (n - 1) * (n - 2) / 6));
        let output = lcc(&view, &LccConfig::default()).expect("nothing to refuse");
        assert!(output.coefficients.iter().all(|c| (c - 1.0).abs() < 1e-12));
        let output = pagerank(&view, &PageRankConfig::default()).expect("nothing to refuse");
        let even = 1.0 / f64::from(n);
        assert!(output.ranks.iter().all(|rank| (rank - even).abs() < 1e-12));
    }
}

#[test]
fn hubs_long_lists_and_large_fronts() {
    for directed in [false, true] {
        let csr = skewed(directed, 6000, 60_000, 11);
        check_all(&csr);
        check_all(&Pieces { csr, run_max: 7, hide_isolated: true });
    }
}

#[test]
fn a_raised_flag_stops_every_kernel() {
    let cancel = Cancel::default();
    cancel.cancel();
    let flag = || cancel.clone();
    for directed in [false, true] {
        let view = &skewed(directed, 100, 500, 5);
        let stopped = [
            bfs(view, &BfsConfig { cancel: flag(), ..BfsConfig::default() }).err(),
            cdlp(view, &CdlpConfig { cancel: flag(), ..CdlpConfig::default() }).err(),
            lcc(view, &LccConfig { cancel: flag(), ..LccConfig::default() }).err(),
            pagerank(view, &PageRankConfig { cancel: flag(), ..PageRankConfig::default() }).err(),
            scc(view, &SccConfig { cancel: flag() }).err(),
            sssp(view, &SsspConfig { cancel: flag(), ..SsspConfig::default() }).err(),
            triangle_count(view, &TriangleConfig { cancel: flag() }).err(),
            wcc(view, &WccConfig { cancel: flag(), ..WccConfig::default() }).err(),
        ];
        assert_eq!(stopped, [const { Some(AlgoError::Cancelled) }; 8]);
    }
}
