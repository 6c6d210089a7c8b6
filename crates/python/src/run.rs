//! Long work: without the interpreter's lock, on our own threads, until it is done or the user
//! presses Ctrl-C.

use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evergraph::algo::Cancel;
use evergraph::graph::progress::{Progress, Status};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{InvalidError, internal, to_python};
use crate::fork::process;

/// How often the waiting thread looks for Ctrl-C: often enough to feel immediate.
const TICK: Duration = Duration::from_millis(50);

/// The threads of this process, with the number of the process they belong to. Locked only by a
/// thread that holds the interpreter's lock, so that no fork can find it locked.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs `work` on the pool, while other Python threads go on. Ctrl-C raises the flag that `work`
/// is given and, once `work` has returned, `KeyboardInterrupt`.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Cancel) -> evergraph::Result<R> + Send,
) -> PyResult<R> {
    let cancel = Cancel::default();
    run_watched(py, &cancel, || work(&cancel), |_| Ok(()))
}

/// As [`run`], with a flag of the caller's; meanwhile `watch` is called again and again by the thread
/// that waits. Its error stops the work as Ctrl-C does.
pub(crate) fn run_watched<R: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> evergraph::Result<R> + Send,
    mut watch: impl FnMut(Python<'_>) -> PyResult<()> + Send,
) -> PyResult<R> {
    let pool = pool(py)?;
    let (sender, receiver) = mpsc::sync_channel(1);
    let pool = &pool;
    py.detach(move || {
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                // The receiver lives until the scope ends.
                let _ = sender.send(work());
            });
            let mut interrupt = None;
            loop {
                match receiver.recv_timeout(TICK) {
                    Ok(_) if interrupt.is_some() => break,
                    Ok(answer) => return answer.map_err(to_python),
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        let looked = Python::attach(|py| py.check_signals().and(watch(py)));
                        if let Err(error) = looked {
                            cancel.cancel();
                            interrupt.get_or_insert(error);
                        }
                    }
                }
            }
            // Without a signal it is a panic of the work, which the scope passes on.
            Err(interrupt.unwrap_or_else(|| internal("the work ended without an answer")))
        })
    })
}

/// The threads of this process.
fn pool(_attached: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((home, threads)) = &*pool
        && *home == process()
    {
        return Ok(Arc::clone(threads));
    }
    let threads = ThreadPoolBuilder::new().thread_name(|n| format!("evergraph-{n}")).build();
    let threads = Arc::new(threads.map_err(|error| internal(&error.to_string()))?);
    // The threads of the parent do not exist here, so nothing may wait for them.
    std::mem::forget(pool.replace((process(), Arc::clone(&threads))));
    Ok(threads)
}

/// A duration that Python gave in seconds.
pub(crate) fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|error| InvalidError::new_err(error.to_string()))
}

/// Passes a raised flag on to readers and loaders.
pub(crate) struct Listener<'a>(pub(crate) &'a Cancel);

impl Progress for Listener<'_> {
    fn tick(&self, _: &Status) -> ControlFlow<()> {
        if self.0.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
