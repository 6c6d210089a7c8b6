//! Random small graphs, whole and in pieces.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{Pieces, check_all, graph};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernels_agree_with_their_verifiers(
        directed: bool,
        hide_isolated: bool,
        run_max in 1_usize..4,
        vertices in 1_u32..40,
        ends in vec((any::<u32>(), any::<u32>(), 0_u32..20), 0..150),
    ) {
        let edges: Vec<_> = ends
            .iter()
            .map(|&(u, v, weight)| (u % vertices, v % vertices, f64::from(weight) / 4.0))
            .collect();
        let csr = graph(directed, vertices, &edges);
        check_all(&csr);
        check_all(&Pieces { csr, run_max, hide_isolated });
    }
}
