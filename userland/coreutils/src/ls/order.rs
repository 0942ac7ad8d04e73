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
    /// As the folder has them.
    None,
}

/// Sort order of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) key: Option<Key>,
    /// Which time counts: `m`, `c` or `u` as in the options of `ls`, or `b`, which no file here has.
    pub(crate) stamp: char,
    pub(crate) reverse: bool,
    pub(crate) folders_first: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self { key: None, stamp: 'm', reverse: false, folders_first: false }
    }
}

impl Order {
    /// Decides the key when none was said. `-c` and `-u` alone order by their time, unless a long list shows it.
    pub(crate) fn settle(&mut self, long: bool) {
        let key = if self.stamp != 'm' && !long { Key::Time } else { Key::Name };
        self.key.get_or_insert(key);
    }

    pub(crate) fn needs_state(&self) -> bool {
        matches!(self.key, Some(Key::Size | Key::Time))
    }

    /// The time of a file that counts.
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
        if self.folders_first {
            // A link to a folder counts as one.
            files.sort_by_cached_key(|file| !is_folder(file));
        }
    }

    fn compare(&self, a: &Listed, b: &Listed) -> Ordering {
        // What cannot be looked at counts as nothing.
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

fn is_folder(file: &Listed) -> bool {
    match file.kind {
        FileKind::Symlink => tidebox_rt::stat(&file.path, true).is_ok_and(|stat| stat.kind() == FileKind::Dir),
        kind => kind == FileKind::Dir,
    }
}

fn extension(name: &[u8]) -> &[u8] {
    let dot = name.iter().rposition(|byte| *byte == b'.');
    dot.and_then(|dot| name.get(dot..)).unwrap_or_default()
}
