//! `read_bandwidth`: what the machine can read, and what share of it a scan of the static graph
//! moves. A baseline that is far below what memory gives would flatter every ratio.

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;

use super::{Session, on, pool};
use crate::Result;
use crate::input::Input;
use crate::kernel::{Inputs, Kernel};
use crate::report::Row;
use crate::samples::Samples;
use crate::twin::Twin;

/// Far more than caches hold.
const ARRAY_BYTES: usize = 256 << 20;
/// A megabyte a task.
const WORDS_PER_TASK: usize = 1 << 17;

/// Measures with one thread, and with `threads`.
pub(crate) fn measure(
    session: &mut Session<'_>,
    (input, twin): (&Input, &Twin),
    threads: usize,
) -> Result<()> {
    let inputs = Inputs::new(twin, session.args.seed, 1);
    let words: Vec<u64> = (1..=(ARRAY_BYTES / size_of::<u64>()) as u64).collect();
    let counts = if threads == 1 { vec![1] } else { vec![1, threads] };
    for threads in counts {
        session.begin(&input.name, threads, "read bandwidth")?;
        let (mut reads, mut scans) = (Samples::default(), Samples::default());
        let pool = pool(threads)?;
        for _ in 0..session.repeats() {
            let start = Instant::now();
            black_box(pool.install(|| sum(&words)));
            reads.push(ARRAY_BYTES as f64 / start.elapsed().as_secs_f64());
            let (_, time) = pool.install(|| twin.run(Kernel::ScanSeq, &inputs, 0))?;
            scans.push(twin.scan_bytes() as f64 / time.as_secs_f64());
        }
        let read = Row::of("read_bandwidth", "B/s", &reads);
        session.report.add(on(input, threads, read));
        let scan = Row::of("csr_scan_bandwidth", "B/s", &scans);
        let scan = scan.against("read_bandwidth", reads.median());
        session.report.add(on(input, threads, scan));
    }
    Ok(())
}

fn sum(words: &[u64]) -> u64 {
    let chunk = |words: &[u64]| words.iter().fold(0, |total: u64, &word| total.wrapping_add(word));
    words.par_chunks(WORDS_PER_TASK).map(chunk).reduce(|| 0, u64::wrapping_add)
}
