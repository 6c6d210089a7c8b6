//! The same answer to the last bit for any number of threads and any cut into runs.

use evergraph_algo::{
    BfsConfig, BfsOutput, CdlpConfig, CdlpOutput, LccConfig, LccOutput, PageRankConfig,
    PageRankOutput, SccConfig, SccOutput, SsspConfig, SsspOutput, TriangleConfig, TriangleOutput,
    WccConfig, WccOutput, bfs, cdlp, lcc, pagerank, scc, sssp, triangle_count, wcc,
};
use evergraph_graph::GraphView;

use crate::support::{Pieces, skewed};

#[derive(Debug, PartialEq)]
struct Answers {
    bfs: BfsOutput,
    cdlp: CdlpOutput,
    lcc: LccOutput,
    pagerank: PageRankOutput,
    scc: SccOutput,
    sssp: SsspOutput,
    triangles: TriangleOutput,
    wcc: WccOutput,
}

fn answers<G: GraphView>(view: &G) -> Answers {
    let refused = "nothing to refuse";
    Answers {
        bfs: bfs(view, &BfsConfig::default()).expect(refused),
        cdlp: cdlp(view, &CdlpConfig::default()).expect(refused),
        lcc: lcc(view, &LccConfig::default()).expect(refused),
        pagerank: pagerank(view, &PageRankConfig::default()).expect(refused),
        scc: scc(view, &SccConfig::default()).expect(refused),
        sssp: sssp(view, &SsspConfig::default()).expect(refused),
        triangles: triangle_count(view, &TriangleConfig::default()).expect(refused),
        wcc: wcc(view, &WccConfig::default()).expect(refused),
    }
}

#[test]
fn threads_and_runs_do_not_show() {
    for directed in [false, true] {
        let csr = skewed(directed, 50_000, 400_000, 3);
        let pieces = Pieces { csr: csr.clone(), run_max: 3, hide_isolated: false };
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads can be started")
        };
        let first = on(1).install(|| answers(&csr));
        for threads in [2, 4] {
            assert!(on(threads).install(|| answers(&csr)) == first);
        }
        assert!(on(2).install(|| answers(&pieces)) == first);
    }
}
