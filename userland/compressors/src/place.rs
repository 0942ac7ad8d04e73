//! Input and output files: names with suffixes, and attributes copied to the new file.

use tidebox_rt::{Errno, Stat, Time};

/// Strips a suffix from a name. `None` if nothing remains, also after a slash.
pub(crate) fn without_suffix<'a>(name: &'a [u8], suffix: &[u8]) -> Option<&'a [u8]> {
    let stem = name.strip_suffix(suffix)?;
    stem.last().is_some_and(|last| *last != b'/').then_some(stem)
}

/// Copies times and permissions to a new file.
pub(crate) fn take_over(path: &[u8], old: &Stat) -> Result<(), Errno> {
    tidebox_gnu::mode::keep(path, old.mode & 0o777)?;
    tidebox_rt::set_times(path, true, Time::At(old.atime_ns), Time::At(old.mtime_ns))
}

/// Lists the files below a directory, sorted by name, without following links. Reports directories that cannot be listed.
pub(crate) fn files_below(folder: &[u8], report: &mut dyn FnMut(&[u8], Errno)) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_vec()];
    while let Some(path) = pending.pop() {
        let mut entries = match tidebox_rt::read_dir(&path) {
            Ok(entries) => entries,
            Err(errno) => {
                report(&path, errno);
                continue;
            }
        };
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let mut folders = Vec::new();
        for entry in entries {
            let mut below = path.clone();
            if below.last() != Some(&b'/') {
                below.push(b'/');
            }
            below.extend_from_slice(&entry.name);
            match tidebox_rt::stat(&below, false).map(|stat| stat.kind()) {
                Ok(tidebox_rt::FileKind::Dir) => folders.push(below),
                Ok(_) => files.push(below),
                Err(errno) => report(&below, errno),
            }
        }
        pending.extend(folders.into_iter().rev());
    }
    files
}
