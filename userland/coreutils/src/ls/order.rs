//! Sort order of a list.

use std::cmp::Ordering;

use tidebox_gnu::version_order;
use tidebox_rt::{FileKind, Stat};

use super::Listed;

/// Sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Name,
    Size,
    Time,
    Version,
    Extension,
    Width,
    /// The order of the directory.
    None,
}

/// Sort order of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) key: Option<Key>,
    /// Selected time: `m`, `c` or `u` as in the options of `ls`, or `b`, which is unknown.
    pub(crate) stamp: char,
    pub(crate) reverse: bool,
    pub(crate) dirs_first: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self { key: None, stamp: 'm', reverse: false, dirs_first: false }
    }
}

impl Order {
    /// Selects the key if no option does. `-c` and `-u` alone order by their time, unless a long list prints it.
    pub(crate) fn resolve(&mut self, long: bool) {
        let key = if self.stamp != 'm' && !long { Key::Time } else { Key::Name };
        self.key.get_or_insert(key);
    }

    pub(crate) fn needs_state(&self) -> bool {
        matches!(self.key, Some(Key::Size | Key::Time))
    }

    /// Returns the selected time of a file.
    pub(crate) fn time(&self, stat: &Stat) -> u64 {
        match self.stamp {
            'c' => stat.ctime_ns,
            'u' => stat.atime_ns,
            'b' => 0,
            _ => stat.mtime_ns,
        }
    }

    pub(crate) fn sort(&self, files: &mut [Listed]) {
        if self.key != Some(Key::None) {
            files.sort_by(|a, b| {
                let order = self.compare(a, b).then_with(|| a.name.cmp(&b.name));
                if self.reverse { order.reverse() } else { order }
            });
        } else if self.reverse {
            files.reverse();
        }
        if self.dirs_first {
            // A link to a directory counts as a directory.
            files.sort_by_cached_key(|file| !is_dir(file));
        }
    }

    fn compare(&self, a: &Listed, b: &Listed) -> Ordering {
        // A file without attributes has size and time 0.
        let of = |file: &Listed, value: &dyn Fn(&Stat) -> u64| file.stat.as_ref().map_or(0, value);
        let by_state = |value: &dyn Fn(&Stat) -> u64| of(b, value).cmp(&of(a, value));
        match self.key {
            Some(Key::Size) => by_state(&|stat| stat.size),
            Some(Key::Time) => by_state(&|stat| self.time(stat)),
            Some(Key::Version) => version_order::compare(&a.name, &b.name),
            Some(Key::Width) => {
                let width = |file: &Listed| String::from_utf8_lossy(&file.name).chars().count();
                width(a).cmp(&width(b))
            }
            Some(Key::Extension) => extension(&a.name).cmp(extension(&b.name)),
            _ => Ordering::Equal,
        }
    }
}

fn is_dir(file: &Listed) -> bool {
    match file.kind {
        FileKind::Symlink => tidebox_rt::stat(&file.path, true).is_ok_and(|stat| stat.kind() == FileKind::Dir),
        kind => kind == FileKind::Dir,
    }
}

fn extension(name: &[u8]) -> &[u8] {
    let dot = name.iter().rposition(|byte| *byte == b'.');
    dot.and_then(|dot| name.get(dot..)).unwrap_or_default()
}
