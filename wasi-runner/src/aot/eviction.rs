//! Cache eviction: each new version of a program or of the compiler adds files that are never loaded again.
//!
//! Any number of processes share one directory without waiting for each other. This is safe because an entry is only a
//! name: a process that has loaded it keeps the mapping, and a process that finds it removed compiles again.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Age at which an unused entry is evicted. Long enough to survive a few weeks without use.
const MAX_UNUSED_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Maximum total size of the entries in bytes; the least recently used are evicted first. The native code of the whole
/// userland takes about a tenth of this, so several versions fit.
const MAX_CACHE_BYTES: u64 = 1 << 30;

/// Age at which a temporary file counts as abandoned by a stopped process rather than still being written.
const STALE_TEMP_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Minimum interval between two updates of an entry's last use. Updating on every load would write to the disk at every
/// program start.
const USE_UPDATE_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

struct Entry {
    path: PathBuf,
    used: SystemTime,
    bytes: u64,
}

/// Records a load of the entry in its modification time.
pub(super) fn touch(entry: &Path, now: SystemTime) {
    let noted = entry.metadata().and_then(|found| found.modified());
    if noted.is_ok_and(|noted| age(noted, now) < USE_UPDATE_INTERVAL) {
        return;
    }
    // Errors are ignored: a directory that is not writable is never evicted from either.
    let _ = File::open(entry).and_then(|file| file.set_modified(now));
}

/// Removes entries that exceed the maximum age, then the oldest ones until the rest fits.
///
/// # Errors
///
/// If the directory cannot be listed. A file that cannot be removed stays until the next eviction.
pub(super) fn evict(dir: &Path, now: SystemTime) -> io::Result<()> {
    clean_to(dir, now, MAX_CACHE_BYTES)
}

fn clean_to(dir: &Path, now: SystemTime, available: u64) -> io::Result<()> {
    let mut entries = Vec::new();
    for found in dir.read_dir()? {
        // Another process may have removed the listed file.
        let Ok((path, entry)) = found.and_then(|found| Ok((found.path(), found.metadata()?))) else { continue };
        let Ok(used) = entry.modified() else { continue };
        let native = path.extension().is_some_and(|extension| extension == super::EXTENSION);
        if !entry.is_file() || !(native || is_unfinished(&path)) {
            continue;
        }
        if age(used, now) > if native { MAX_UNUSED_AGE } else { STALE_TEMP_AGE } {
            let _ = std::fs::remove_file(&path);
        } else if native {
            entries.push(Entry { path, used, bytes: entry.len() });
        }
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.used));
    let mut taken: u64 = 0;
    for entry in entries {
        taken = taken.saturating_add(entry.bytes);
        if taken > available {
            let _ = std::fs::remove_file(&entry.path);
        }
    }
    Ok(())
}

/// Returns whether the file is temporary, that is, not yet renamed to its final name.
fn is_unfinished(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(super::TEMP_PREFIX))
}

/// Age of a file; zero for a time in the future, because clocks may be set back.
fn age(of: SystemTime, now: SystemTime) -> Duration {
    now.duration_since(of).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// Creates a directory of files with these names, sizes and ages in days.
    fn dir(files: &[(&str, usize, u32)], now: SystemTime) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes, days) in files {
            let path = dir.path().join(name);
            std::fs::write(&path, vec![0; *bytes]).unwrap();
            File::open(&path).unwrap().set_modified(now - DAY * *days).unwrap();
        }
        dir
    }

    fn left(dir: &tempfile::TempDir) -> BTreeSet<String> {
        let names = dir.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn entries_unused_for_a_month_are_evicted() {
        let now = SystemTime::now();
        let dir = dir(&[("a.cwasm", 1, 31), ("b.component.cwasm", 1, 40), ("c.cwasm", 1, 29)], now);
        evict(dir.path(), now).unwrap();
        assert_eq!(left(&dir), ["c.cwasm".to_owned()].into());
    }

    #[test]
    fn the_oldest_entries_are_evicted_first() {
        let now = SystemTime::now();
        let dir = dir(&[("a.cwasm", 40, 3), ("b.cwasm", 40, 1), ("c.cwasm", 40, 2)], now);
        clean_to(dir.path(), now, 100).unwrap();
        assert_eq!(left(&dir), ["b.cwasm".to_owned(), "c.cwasm".to_owned()].into());
    }

    #[test]
    fn stale_temporary_files_are_removed_after_a_day() {
        let now = SystemTime::now();
        let dir = dir(&[(".new-1", 1, 2), (".new-2", 1, 0)], now);
        evict(dir.path(), now).unwrap();
        assert_eq!(left(&dir), [".new-2".to_owned()].into());
    }

    #[test]
    fn unrelated_files_are_kept() {
        let now = SystemTime::now();
        let dir = dir(&[("notes.txt", 1, 400), ("cwasm", 1, 400)], now);
        clean_to(dir.path(), now, 0).unwrap();
        assert_eq!(left(&dir).len(), 2);
    }

    #[test]
    fn a_use_is_recorded_once_a_day_and_keeps_the_entry() {
        let now = SystemTime::now();
        let dir = dir(&[("a.cwasm", 1, 29)], now);
        let entry = dir.path().join("a.cwasm");
        touch(&entry, now);
        let noted = entry.metadata().unwrap().modified().unwrap();
        assert!(age(noted, now) < DAY);
        touch(&entry, now + DAY / 2);
        assert_eq!(entry.metadata().unwrap().modified().unwrap(), noted);
        evict(dir.path(), now + DAY * 29).unwrap();
        assert_eq!(left(&dir).len(), 1);
    }

    #[test]
    fn concurrent_evictions_do_not_interfere() {
        let now = SystemTime::now();
        let names: Vec<String> = (0..200).map(|number| format!("{number}.cwasm")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), 10, 1)).collect();
        let dir = dir(&files, now);
        std::thread::scope(|scope| {
            let all = [(); 4].map(|()| scope.spawn(|| clean_to(dir.path(), now, 500)));
            all.into_iter().for_each(|one| one.join().unwrap().unwrap());
        });
        assert!((1..=50).contains(&left(&dir).len()), "{}", left(&dir).len());
    }
}
