//! Limits of Linux.

use std::fs;
use std::path::Path;

use super::Check;
use crate::cli::output::format_bytes;
use crate::system;

/// Memory that a sandbox with Python and its compiler needs.
const COMFORTABLE_MEMORY: u64 = 512 << 20;

/// Disk that the compiled programs and a pack need.
const COMFORTABLE_DISK: u64 = 1 << 30;

/// Disk below which not even the compiled programs fit.
const NEEDED_DISK: u64 = 200 << 20;

/// Default of the kernel. Each process slot of the engine takes several mappings.
const MAPPINGS: u64 = 65_530;

/// Address space that the engine reserves at least: each process slot has 4 GiB and guard pages.
const NEEDED_ADDRESS_SPACE: u64 = 1 << 42;

/// Runs the checks of this system.
pub(super) fn all() -> Vec<Check> {
    let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mut checks = vec![
        memory(
            available_memory(&file("/proc/meminfo")),
            cgroup_limit(&file("/proc/self/cgroup"), Path::new("/sys/fs/cgroup")),
        ),
        address_space(&file("/proc/self/limits")),
        overcommit(&file("/proc/sys/vm/overcommit_memory")),
        mappings(&file("/proc/sys/vm/max_map_count")),
        page_scan(&file("/proc/sys/kernel/osrelease")),
    ];
    checks.extend(disk());
    checks
}

/// Returns `MemAvailable` in bytes.
fn available_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the smallest memory limit of the group of this process and the groups above it (cgroup v2).
fn cgroup_limit(groups: &str, root: &Path) -> Option<u64> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group = root.join(path);
    let parents = group.ancestors().take_while(|parent| parent.starts_with(root));
    parents.filter_map(|parent| fs::read_to_string(parent.join("memory.max")).ok()?.trim().parse().ok()).min()
}

fn memory(available: Option<u64>, limit: Option<u64>) -> Check {
    const NAME: &str = "memory";
    let Some(available) = available else { return Check::ok(NAME, "unknown: /proc/meminfo cannot be read") };
    let usable = limit.map_or(available, |limit| available.min(limit));
    let found = match limit {
        Some(limit) => format!("{} available, limit of the container {}", format_bytes(available), format_bytes(limit)),
        None => format!("{} available", format_bytes(available)),
    };
    match usable < COMFORTABLE_MEMORY {
        true => Check::warning(NAME, found, "lower the limits of sandboxes, for example --limits memory=128M"),
        false => Check::ok(NAME, found),
    }
}

fn address_space(limits: &str) -> Check {
    const NAME: &str = "ulimit -v";
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    match line.and_then(|line| line.split_whitespace().next()) {
        Some(soft) => match soft.parse::<u64>() {
            Ok(bytes) if bytes < NEEDED_ADDRESS_SPACE => {
                let hint = "run `ulimit -v unlimited`: until then processes start more slowly, or cannot start";
                Check::warning(NAME, format_bytes(bytes), hint)
            }
            Ok(bytes) => Check::ok(NAME, format_bytes(bytes)),
            Err(_) => Check::ok(NAME, soft),
        },
        None => Check::ok(NAME, "unknown: /proc/self/limits cannot be read"),
    }
}

fn overcommit(mode: &str) -> Check {
    const NAME: &str = "overcommit";
    match mode.trim() {
        "2" => {
            let hint =
                "set vm.overcommit_memory to 0 or 1: the engine reserves more address space than there is memory";
            Check::warning(NAME, "2, the kernel counts reserved memory as used", hint)
        }
        "" => Check::ok(NAME, "unknown: /proc/sys/vm/overcommit_memory cannot be read"),
        mode => Check::ok(NAME, mode),
    }
}

fn mappings(max: &str) -> Check {
    const NAME: &str = "mappings";
    match max.trim().parse::<u64>() {
        Ok(max) if max < MAPPINGS => {
            let hint = format!("set vm.max_map_count to {MAPPINGS} or more, or run fewer processes at a time");
            Check::warning(NAME, format!("at most {max}"), hint)
        }
        Ok(max) => Check::ok(NAME, format!("at most {max}")),
        Err(_) => Check::ok(NAME, "unknown: /proc/sys/vm/max_map_count cannot be read"),
    }
}

fn page_scan(release: &str) -> Check {
    const NAME: &str = "kernel";
    let release = release.trim();
    match tidebox_wasi_runner::WasmtimeEngine::resets_memory_by_page_scan() {
        true => Check::ok(NAME, format!("Linux {release}, memory of ended processes is cleared by PAGEMAP_SCAN")),
        false => Check::ok(NAME, format!("Linux {release}; 6.7 or newer clears memory of ended processes faster")),
    }
}

fn disk() -> Option<Check> {
    const NAME: &str = "disk";
    let cache = system::user_cache()?;
    let existing = cache.ancestors().find(|dir| dir.exists())?;
    let stat = rustix::fs::statvfs(existing).ok()?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let found = format!("{} free for the cache", format_bytes(free));
    Some(match free {
        free if free < NEEDED_DISK => {
            Check::problem(NAME, found, "free some space, or set XDG_CACHE_HOME to a directory on another disk")
        }
        free if free < COMFORTABLE_DISK => Check::warning(NAME, found, "packs and compiled programs need about 1 GiB"),
        _ => Check::ok(NAME, found),
    })
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn the_smallest_limit_of_the_groups_counts() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("a/b");
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("memory.max"), "max\n").unwrap();
        fs::write(root.path().join("a/memory.max"), "1048576\n").unwrap();
        assert_eq!(cgroup_limit("0::/a/b\n", root.path()), Some(1 << 20));
        assert_eq!(cgroup_limit("1:name=x:/a\n", root.path()), None);
        assert_eq!(memory(Some(1 << 30), Some(1 << 20)).state, State::Warning);
        assert_eq!(memory(Some(1 << 30), None).state, State::Ok);
    }

    #[test]
    fn files_of_the_kernel_are_read() {
        assert_eq!(available_memory("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        let limits = |soft: &str| {
            format!(
                "Limit  Soft  Hard  Units\nMax address space         {soft}            unlimited            bytes\n"
            )
        };
        assert_eq!(address_space(&limits("unlimited")), Check::ok("ulimit -v", "unlimited"));
        assert_eq!(address_space(&limits("1048576")).state, State::Warning);
        assert_eq!((overcommit("2\n").state, overcommit("1\n").state), (State::Warning, State::Ok));
        assert_eq!((mappings("100\n").state, mappings("65530\n").state), (State::Warning, State::Ok));
        for check in [memory(None, None), address_space(""), overcommit(""), mappings("")] {
            assert!(check.state == State::Ok && check.found.starts_with("unknown"), "{check:?}");
        }
    }
}
