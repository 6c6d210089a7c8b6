//! Threads that share one piece of work and wait for nobody while they do it.
//!
//! # Invariants
//!   - Work that is given to a pool waits for no latch that the giver holds: the giver waits for it.
//!     So it is not the pool of the kernels, whose threads may be waiting for just such a latch.
//!   - Under a model checker, whose threads are not those of the system, the caller works alone.

#[cfg(not(any(loom, shuttle)))]
use rayon::prelude::*;

/// Fewer items than this are sorted by the caller.
#[cfg(not(any(loom, shuttle)))]
const SORT_MIN: usize = 1 << 12;

/// Threads for work on many groups at once.
pub(crate) struct Pool {
    #[cfg(not(any(loom, shuttle)))]
    threads: Option<rayon::ThreadPool>,
}

impl Pool {
    /// So many threads; with one the caller works alone, as it does if the system gives none.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn new(threads: usize) -> Self {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let builder = builder.thread_name(|at| format!("evergraph-pool-{at}"));
        Self { threads: if threads > 1 { builder.build().ok() } else { None } }
    }

    /// Does `work` for each task.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn for_each<T: Send>(&self, tasks: &mut [T], work: impl Fn(&mut T) + Send + Sync) {
        match &self.threads {
            Some(threads) if tasks.len() > 1 => {
                threads.install(|| tasks.par_iter_mut().with_max_len(1).for_each(work));
            }
            _ => tasks.iter_mut().for_each(work),
        }
    }

    /// Sorts items, none of which equals another.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn sort<T: Ord + Send>(&self, items: &mut [T]) {
        match &self.threads {
            Some(threads) if items.len() >= SORT_MIN => {
                threads.install(|| items.par_sort_unstable());
            }
            _ => items.sort_unstable(),
        }
    }

    #[cfg(any(loom, shuttle))]
    pub(crate) fn new(_threads: usize) -> Self {
        Self {}
    }

    #[cfg(any(loom, shuttle))]
    pub(crate) fn for_each<T: Send>(&self, tasks: &mut [T], work: impl Fn(&mut T) + Send + Sync) {
        tasks.iter_mut().for_each(work);
    }

    #[cfg(any(loom, shuttle))]
    pub(crate) fn sort<T: Ord + Send>(&self, items: &mut [T]) {
        items.sort_unstable();
    }
}
