//! Long work: without the interpreter's lock, on our own threads, until it is done or the user
//! presses Ctrl-C.
//!
//! # Invariants
//!   - Work ends on the threads on which it began: [`set_threads`] is for work that begins later.

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

/// How often the waiting thread looks for Ctrl-C: often enough to feel immediate. It takes the
/// interpreter's lock for that, from whoever commits meanwhile.
const TICK: Duration = Duration::from_millis(100);

/// The threads of this process. Locked only by a thread that holds the interpreter's lock, so that no
/// fork can find it locked.
static CREW: Mutex<Crew> = Mutex::new(Crew { wanted: 0, pool: None });

struct Crew {
    /// How many threads work is to have; 0 for one per core.
    wanted: usize,
    /// The threads, the number of the process they belong to, and how many were wanted.
    pool: Option<(u32, usize, Arc<ThreadPool>)>,
}

/// Gives work that begins from now on so many threads; 0 is one per core.
#[pyfunction]
pub(crate) fn set_threads(threads: usize) {
    CREW.lock().unwrap_or_else(PoisonError::into_inner).wanted = threads;
}

/// How many threads work that begins now has.
#[pyfunction]
pub(crate) fn threads(py: Python<'_>) -> PyResult<usize> {
    Ok(pool(py)?.current_num_threads())
}

/// Runs `work` on the pool, while other Python threads go on. Ctrl-C raises the flag that `work`
/// is given and, once `work` has returned, `KeyboardInterrupt`.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Cancel) -> evergraph::Result<R> + Send,
) -> PyResult<R> {
    let cancel = Cancel::default();
    // No other thread hears signals, so no other looks.
    let tick = if is_main(py)? { TICK } else { Duration::MAX };
    run_ticking(py, &cancel, || work(&cancel), (tick, |_: Python<'_>| Ok(())))
}

/// Whether this is the thread that hears signals.
fn is_main(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}

/// As [`run`], with a flag of the caller's; meanwhile `watch` is called again and again by the thread
/// that waits. Its error stops the work as Ctrl-C does.
pub(crate) fn run_watched<R: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> evergraph::Result<R> + Send,
    watch: impl FnMut(Python<'_>) -> PyResult<()> + Send,
) -> PyResult<R> {
    run_ticking(py, cancel, work, (TICK, watch))
}

/// As [`run_watched`], at every tick.
fn run_ticking<R: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> evergraph::Result<R> + Send,
    (tick, mut watch): (Duration, impl FnMut(Python<'_>) -> PyResult<()> + Send),
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
                match receiver.recv_timeout(tick) {
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
    let mut crew = CREW.lock().unwrap_or_else(PoisonError::into_inner);
    let (home, wanted) = (process(), crew.wanted);
    match &crew.pool {
        Some((at, made_for, threads)) if *at == home && *made_for == wanted => {
            return Ok(Arc::clone(threads));
        }
        _ => {}
    }
    let builder = ThreadPoolBuilder::new().num_threads(wanted);
    let threads = builder.thread_name(|n| format!("evergraph-{n}")).build();
    let threads = Arc::new(threads.map_err(|error| internal(&error.to_string()))?);
    match crew.pool.replace((home, wanted, Arc::clone(&threads))) {
        // The threads of the parent do not exist here, so nothing may wait for them.
        Some(before) if before.0 != home => std::mem::forget(before),
        // Whoever works on them keeps them until the work is done.
        before => drop(before),
    }
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
