//! Pairs of keys as they come in: four bytes a key until one needs more.

use rayon::prelude::*;

use crate::VertexId;

/// Pairs of keys, or of ids where the vertices are a range or texts.
pub(super) enum Ends {
    /// Every key so far fits 32 bits.
    Narrow(Vec<(u32, u32)>),
    /// Some key does not.
    Wide(Vec<(u64, u64)>),
}

impl Ends {
    /// The pairs, where they are known to be ids.
    pub(super) fn narrow(self) -> Vec<(u32, u32)> {
        match self {
            Self::Narrow(pairs) => pairs,
            Self::Wide(pairs) => pairs.into_iter().map(|(u, v)| (u as u32, v as u32)).collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(pairs) => pairs.len(),
            Self::Wide(pairs) => pairs.len(),
        }
    }

    pub(super) fn greatest(&self) -> u64 {
        match self {
            Self::Narrow(pairs) => {
                pairs.par_iter().map(|&(u, v)| u64::from(u.max(v))).max().unwrap_or(0)
            }
            Self::Wide(pairs) => pairs.par_iter().map(|&(u, v)| u.max(v)).max().unwrap_or(0),
        }
    }

    pub(super) fn for_each(&self, f: impl Fn(u64) + Sync) {
        match self {
            Self::Narrow(pairs) => pairs.par_iter().for_each(|&(u, v)| {
                f(u64::from(u));
                f(u64::from(v));
            }),
            Self::Wide(pairs) => pairs.par_iter().for_each(|&(u, v)| {
                f(u);
                f(v);
            }),
        }
    }

    /// Both ends of every pair.
    pub(super) fn flatten(&self) -> Vec<u64> {
        match self {
            Self::Narrow(pairs) => {
                pairs.par_iter().flat_map_iter(|&(u, v)| [u64::from(u), u64::from(v)]).collect()
            }
            Self::Wide(pairs) => pairs.par_iter().flat_map_iter(|&(u, v)| [u, v]).collect(),
        }
    }

    /// The pairs with each key replaced by its id; in place where they are narrow.
    pub(super) fn map(self, id: impl Fn(u64) -> VertexId + Sync) -> Vec<(VertexId, VertexId)> {
        match self {
            Self::Narrow(mut pairs) => {
                pairs.par_iter_mut().for_each(|(u, v)| {
                    (*u, *v) = (id(u64::from(*u)), id(u64::from(*v)));
                });
                pairs
            }
            Self::Wide(pairs) => pairs.into_par_iter().map(|(u, v)| (id(u), id(v))).collect(),
        }
    }
}
