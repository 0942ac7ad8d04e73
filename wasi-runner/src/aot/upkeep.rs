//! What leaves the cache: every new version of a program or of the compiler adds files that nobody loads again.
//!
//! Any number of processes use one folder, and none of them waits for another. That is safe because an entry is only a
//! name: who has loaded it keeps its memory, and who finds it gone compiles again.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long an entry that nobody loads is kept. Someone who comes back from a holiday finds it.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Bytes that the entries may have together; those unused for longest go first. The native code of the whole userland
/// takes about a tenth of this, so several versions of it fit side by side.
const ROOM: u64 = 1 << 30;

/// A half-written file of a process that was stopped is told from one in the making by its age.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Between two notes of one entry's use. Noting each would write to the disk at every start of a program.
const NOTED: Duration = Duration::from_secs(24 * 60 * 60);

struct Entry {
    path: PathBuf,
    used: SystemTime,
    bytes: u64,
}

/// Notes that an entry was loaded, as its time of modification.
pub(super) fn note_use(entry: &Path, now: SystemTime) {
    let noted = entry.metadata().and_then(|found| found.modified());
    if noted.is_ok_and(|noted| age(noted, now) < NOTED) {
        return;
    }
    // Of a folder that cannot be written nothing is ever removed, so that nothing is lost when this fails.
    let _ = File::open(entry).and_then(|file| file.set_modified(now));
}

/// Removes what was not used for long, and then the oldest until the rest fits.
///
/// # Errors
/// When the folder cannot be listed. A file that cannot be removed stays and is tried again another time.
pub(super) fn clean(folder: &Path, now: SystemTime) -> io::Result<()> {
    clean_to(folder, now, ROOM)
}

fn clean_to(folder: &Path, now: SystemTime, room: u64) -> io::Result<()> {
    let mut entries = Vec::new();
    for found in folder.read_dir()? {
        // Another process may remove what was just listed.
        let Ok((path, entry)) = found.and_then(|found| Ok((found.path(), found.metadata()?))) else { continue };
        let Ok(used) = entry.modified() else { continue };
        let native = path.extension().is_some_and(|extension| extension == super::EXTENSION);
        if !entry.is_file() || !(native || is_unfinished(&path)) {
            continue;
        }
        if age(used, now) > if native { KEPT } else { ABANDONED } {
            let _ = std::fs::remove_file(&path);
        } else if native {
            entries.push(Entry { path, used, bytes: entry.len() });
        }
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.used));
    let mut taken: u64 = 0;
    for entry in entries {
        taken = taken.saturating_add(entry.bytes);
        if taken > room {
            let _ = std::fs::remove_file(&entry.path);
        }
    }
    Ok(())
}

/// Whether a file is one that is written before it gets its name.
fn is_unfinished(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(super::UNFINISHED))
}

/// A time to come is no age: clocks are set back.
fn age(of: SystemTime, now: SystemTime) -> Duration {
    now.duration_since(of).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// A folder with files of these names, sizes and ages in days.
    fn folder(files: &[(&str, usize, u32)], now: SystemTime) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes, days) in files {
            let path = folder.path().join(name);
            std::fs::write(&path, vec![0; *bytes]).unwrap();
            File::open(&path).unwrap().set_modified(now - DAY * *days).unwrap();
        }
        folder
    }

    fn left(folder: &tempfile::TempDir) -> BTreeSet<String> {
        let names = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn entries_unused_for_a_month_go_and_newer_ones_stay() {
        let now = SystemTime::now();
        let folder = folder(&[("a.cwasm", 1, 31), ("b.component.cwasm", 1, 40), ("c.cwasm", 1, 29)], now);
        clean(folder.path(), now).unwrap();
        assert_eq!(left(&folder), ["c.cwasm".to_owned()].into());
    }

    #[test]
    fn the_oldest_go_first_when_there_is_no_room() {
        let now = SystemTime::now();
        let folder = folder(&[("a.cwasm", 40, 3), ("b.cwasm", 40, 1), ("c.cwasm", 40, 2)], now);
        clean_to(folder.path(), now, 100).unwrap();
        assert_eq!(left(&folder), ["b.cwasm".to_owned(), "c.cwasm".to_owned()].into());
    }

    #[test]
    fn what_a_stopped_process_left_half_written_goes_after_a_day() {
        let now = SystemTime::now();
        let folder = folder(&[(".new-1", 1, 2), (".new-2", 1, 0)], now);
        clean(folder.path(), now).unwrap();
        assert_eq!(left(&folder), [".new-2".to_owned()].into());
    }

    #[test]
    fn files_of_others_are_left_alone() {
        let now = SystemTime::now();
        let folder = folder(&[("notes.txt", 1, 400), ("cwasm", 1, 400)], now);
        clean_to(folder.path(), now, 0).unwrap();
        assert_eq!(left(&folder).len(), 2);
    }

    #[test]
    fn a_use_is_noted_once_a_day_and_keeps_the_entry() {
        let now = SystemTime::now();
        let folder = folder(&[("a.cwasm", 1, 29)], now);
        let entry = folder.path().join("a.cwasm");
        note_use(&entry, now);
        let noted = entry.metadata().unwrap().modified().unwrap();
        assert!(age(noted, now) < DAY);
        note_use(&entry, now + DAY / 2);
        assert_eq!(entry.metadata().unwrap().modified().unwrap(), noted);
        clean(folder.path(), now + DAY * 29).unwrap();
        assert_eq!(left(&folder).len(), 1);
    }

    #[test]
    fn processes_that_clean_at_once_do_not_disturb_each_other() {
        let now = SystemTime::now();
        let names: Vec<String> = (0..200).map(|number| format!("{number}.cwasm")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), 10, 1)).collect();
        let folder = folder(&files, now);
        std::thread::scope(|scope| {
            let all = [(); 4].map(|()| scope.spawn(|| clean_to(folder.path(), now, 500)));
            all.into_iter().for_each(|one| one.join().unwrap().unwrap());
        });
        assert!((1..=50).contains(&left(&folder).len()), "{}", left(&folder).len());
    }
}
