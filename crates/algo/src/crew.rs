//! Threads with scratch memory of their own.
//!
//! Rayon's `map_init` makes fresh scratch whenever it splits work; scratch of one entry per
//! vertex is too dear for that. A crew has one state per thread, and its members take the next
//! task from a shared counter until none is left. If the pool runs two members on one thread, the
//! second finds nothing to do.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

/// One state per thread of the current pool.
pub(crate) fn crew<S>(new: impl FnMut() -> S) -> Vec<S> {
    std::iter::repeat_with(new).take(rayon::current_num_threads()).collect()
}

/// Numbers handed out once each, to whichever member asks next.
pub(crate) struct Tasks {
    /// Relaxed: it only hands out numbers; the end of the parallel loop publishes the work.
    next: AtomicUsize,
    end: usize,
}

impl Tasks {
    /// The tasks that nobody has taken, until there are none.
    pub(crate) fn rest(&self) -> impl Iterator<Item = usize> {
        std::iter::from_fn(|| {
            let task = self.next.fetch_add(1, Ordering::Relaxed);
            (task < self.end).then_some(task)
        })
    }
}

/// Runs `work` on every member at once; they share the tasks `0 .. tasks`.
pub(crate) fn share<S: Send>(
    members: &mut [S],
    tasks: usize,
    work: impl Fn(&mut S, &Tasks) + Sync,
) {
    let tasks = Tasks { next: AtomicUsize::new(0), end: tasks };
    members.par_iter_mut().with_max_len(1).for_each(|state| work(state, &tasks));
}
