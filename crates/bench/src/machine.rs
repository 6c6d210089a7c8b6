//! What the results say about the machine and the program: processor, commit, memory in use.

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::{Error, Result};

/// How many threads can run at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// The processor's name, with how many of its cores there are; `None` where nobody says.
pub(crate) fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    Some(format!("{} x {}", cores(), model_name(&text)?))
}

/// The `model name` line of `/proc/cpuinfo`.
fn model_name(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

/// The commit this was built from.
pub(crate) fn commit() -> Option<&'static str> {
    option_env!("EVERGRAPH_COMMIT")
}

/// A process whose memory can be asked for.
#[derive(Clone, Copy, Debug)]
pub enum Process {
    /// This one.
    Own,
    /// One that was started.
    Other(u32),
}

impl Process {
    /// Bytes of memory that are resident.
    pub(crate) fn resident(self) -> Result<u64> {
        self.status("VmRSS:")
    }

    /// The most bytes of memory that were resident at a time.
    pub fn peak(self) -> Result<u64> {
        self.status("VmHWM:")
    }

    /// A line of the process' status, in bytes.
    fn status(self, name: &str) -> Result<u64> {
        let path = match self {
            Self::Own => PathBuf::from("/proc/self/status"),
            Self::Other(id) => PathBuf::from(format!("/proc/{id}/status")),
        };
        let text = fs::read_to_string(path).ok();
        let resident = text.as_deref().and_then(|text| status_bytes(text, name));
        resident.ok_or(Error::Unknown("how much memory is resident (/proc/self/status)"))
    }
}

/// The line of `/proc/self/status` that begins so, in bytes.
fn status_bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_proc_are_read() {
        let cpus = "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nflags\t: fpu\n";
        assert_eq!(model_name(cpus), Some("Some CPU @ 2.00GHz"));
        assert_eq!(model_name("processor : 0\n"), None);
        let text = "VmHWM:\t 9 kB\nVmRSS:\t  2048 kB\n";
        assert_eq!(status_bytes(text, "VmRSS:"), Some(2 << 20));
        assert_eq!(status_bytes(text, "VmHWM:"), Some(9 << 10));
        assert_eq!(status_bytes(text, "VmSwap:"), None);
    }

    #[test]
    fn memory_that_is_written_is_resident() {
        let before = Process::Own.resident().expect("Linux");
        let block = vec![1u8; 64 << 20];
        let after = Process::Other(std::process::id()).resident().expect("Linux");
        assert!(after > before + (48 << 20), "{before} {after}");
        drop(block);
    }
}
