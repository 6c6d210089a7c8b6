//! How much memory the machine still has, so that work which cannot fit is refused before it
//! starts rather than ended by the system half-way.

use std::fs;

/// Bytes that can still be taken without swapping: the least of what the machine and the control
/// group of this process allow. `None` where the system does not say.
pub(crate) fn available() -> Option<u64> {
    let machine =
        fs::read_to_string("/proc/meminfo").ok().and_then(|text| meminfo_available(&text));
    let group = group_available();
    match (machine, group) {
        (Some(machine), Some(group)) => Some(machine.min(group)),
        (machine, group) => machine.or(group),
    }
}

/// The `MemAvailable` line of `/proc/meminfo`, in bytes.
fn meminfo_available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// What the memory limit of a container leaves; `None` without a limit. File pages that the
/// system gives up on demand count as free.
fn group_available() -> Option<u64> {
    let number = |path: &str| -> Option<u64> { fs::read_to_string(path).ok()?.trim().parse().ok() };
    let limit = number("/sys/fs/cgroup/memory.max")?;
    let used = number("/sys/fs/cgroup/memory.current")?;
    let cache = fs::read_to_string("/sys/fs/cgroup/memory.stat")
        .ok()
        .and_then(|text| inactive_file(&text))
        .unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

/// The `inactive_file` line of a group's `memory.stat`, in bytes.
fn inactive_file(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("inactive_file "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_available_line_is_read_in_bytes() {
        let text = "MemTotal:       100 kB\nMemFree: 1 kB\nMemAvailable:     40 kB\n";
        assert_eq!(meminfo_available(text), Some(40 * 1024));
        assert_eq!(meminfo_available("MemTotal: 100 kB\n"), None);
        assert_eq!(meminfo_available("MemAvailable: many kB\n"), None);
    }

    #[test]
    fn the_page_cache_of_a_group_is_read() {
        assert_eq!(inactive_file("active_file 3\ninactive_file 7\n"), Some(7));
        assert_eq!(inactive_file("active_file 3\n"), None);
    }
}
