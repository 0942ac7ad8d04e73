//! Directory traversal.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use tidebox_gnu::stream::Output;
use tidebox_rt::{Errno, Stat};

use crate::entry::{Entry, joined};
use crate::ignore::Rules;
use crate::meta::Meta;
use crate::options::{First, Options, Sort};
use crate::pattern;

/// Maximum depth of nested directories. Deeper ones are reported and not opened.
const MAX_DEPTH: usize = 1000;

/// State of one run.
pub(crate) struct Walk {
    pub(crate) options: Options,
    pub(crate) out: Output,
    pub(crate) meta: Meta,
    pub(crate) errors: usize,
    rules: Rules,
    /// Parent directories by device and inode, to detect link cycles.
    above: BTreeSet<(u32, u64)>,
}

impl Walk {
    pub(crate) fn new(options: Options, out: Output) -> Self {
        let meta = Meta::new(&options);
        let mut rules = Rules::default();
        for file in &options.git_files {
            let text = tidebox_gnu::stream::read_all(file).unwrap_or_default();
            rules.add(&text, b".");
        }
        Self { options, out, meta, errors: 0, rules, above: BTreeSet::new() }
    }

    /// Returns the file of an operand.
    pub(crate) fn operand(&self, path: &[u8]) -> Option<Entry> {
        let stat = tidebox_rt::stat(path, true).ok()?;
        Some(Entry { name: path.to_vec(), path: path.to_vec(), stat, size: stat.size, ..Entry::default() })
    }

    /// Returns whether the whole tree must be read before output.
    fn reads_ahead(&self) -> bool {
        self.options.du || self.options.prune || self.options.match_folders
    }

    /// Returns whether directories at this depth are opened; the operands have depth 0.
    fn goes_to(&self, depth: usize) -> bool {
        self.options.levels.is_none_or(|levels| depth < levels)
    }

    /// Reads the sorted content of a directory. `matched` is set below a directory that matches a pattern itself.
    pub(crate) fn children(&mut self, folder: &mut Entry, depth: usize, matched: bool) -> Result<Vec<Entry>, Errno> {
        if let Some(children) = folder.children.take() {
            return Ok(children);
        }
        if depth > MAX_DEPTH {
            return Err(Errno::NAMETOOLONG);
        }
        let before = if self.options.gitignore { Some(self.rules.enter(&folder.path)) } else { None };
        let entries = self.read(&folder.path, matched);
        // The rules of the directory also apply below it; descending reads them again.
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(errno) => {
                before.into_iter().for_each(|before| self.rules.leave(before));
                return Err(errno);
            }
        };
        if self.reads_ahead() {
            self.read_ahead(&mut entries, depth);
            before.into_iter().for_each(|before| self.rules.leave(before));
        }
        self.order(&mut entries);
        Ok(entries)
    }

    /// Removes the rules of a directory that is fully listed.
    pub(crate) fn leave(&mut self, folder: &[u8]) {
        if self.options.gitignore && !self.reads_ahead() {
            self.rules.leave_folder(folder);
        }
    }

    fn read(&self, path: &[u8], matched: bool) -> Result<Vec<Entry>, Errno> {
        let mut entries = Vec::new();
        for found in tidebox_rt::read_dir(path)? {
            if !self.options.all && found.name.starts_with(b".") {
                continue;
            }
            let path = joined(path, &found.name);
            // The file was deleted after the listing.
            let Ok(stat) = tidebox_rt::stat(&path, false) else {
                continue;
            };
            let mut entry = Entry { name: found.name, size: stat.size, stat, path, ..Entry::default() };
            if entry.is_link() {
                entry.target = tidebox_rt::read_link(&entry.path).ok();
                entry.beyond = tidebox_rt::stat(&entry.path, true).ok();
            }
            if self.lists(&entry, matched) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    fn lists(&self, entry: &Entry, matched: bool) -> bool {
        let options = &self.options;
        let is_folder = entry.is_folder();
        if options.gitignore && self.rules.ignores(&entry.path, is_folder) {
            return false;
        }
        let passes = entry.is_real_folder() || options.follow && is_folder || matched || options.include.is_empty();
        if !passes && !pattern::any(&options.include, &entry.name, is_folder, options.ignore_case) {
            return false;
        }
        if pattern::any(&options.exclude, &entry.name, is_folder, options.ignore_case) {
            return false;
        }
        is_folder || !options.folders_only
    }

    /// Reads nested directories, sums up sizes and removes empty ones.
    fn read_ahead(&mut self, entries: &mut Vec<Entry>, depth: usize) {
        let mut kept = Vec::new();
        for mut entry in std::mem::take(entries) {
            let named = self.options.match_folders
                && entry.is_real_folder()
                && pattern::any(&self.options.include, &entry.name, true, self.options.ignore_case);
            if self.enters(&entry) && self.goes_to(depth + 1) {
                match self.children(&mut entry, depth + 1, named) {
                    Ok(children) => {
                        if self.options.du {
                            let inside: u64 = children.iter().map(|child| child.size).fold(0, u64::saturating_add);
                            entry.size = entry.size.saturating_add(inside);
                        }
                        entry.children = Some(children);
                    }
                    Err(_) => entry.problem = Some("error opening dir".to_owned()),
                }
            }
            let is_empty = entry.is_folder() && entry.children.as_ref().is_none_or(Vec::is_empty);
            let pruned = self.options.prune && is_empty && !named;
            if !pruned {
                kept.push(entry);
            }
        }
        *entries = kept;
    }

    /// Returns whether the file type of an entry allows descending into it.
    fn enters(&self, entry: &Entry) -> bool {
        entry.is_real_folder() || self.options.follow && entry.is_folder()
    }

    /// Returns whether a directory is descended into, and the message if it is not.
    pub(crate) fn descends(&mut self, entry: &mut Entry, depth: usize, device: u32) -> bool {
        if !self.enters(entry) || !self.goes_to(depth) || entry.problem.is_some() {
            return false;
        }
        let stat = entry.beyond.unwrap_or(entry.stat);
        if self.options.one_device && stat.dev != device {
            return false;
        }
        if entry.is_link() && self.above.contains(&(stat.dev, stat.ino)) {
            entry.problem = Some("recursive, not followed".to_owned());
            return false;
        }
        true
    }

    /// Marks a directory as open or closed. With `-l` no two links lead to the same one.
    pub(crate) fn note(&mut self, stat: Stat) {
        if self.options.follow {
            self.above.insert((stat.dev, stat.ino));
        }
    }

    fn order(&self, entries: &mut [Entry]) {
        let options = &self.options;
        if options.sort == Sort::Nothing {
            return;
        }
        entries.sort_by(|a, b| {
            let first = match options.first {
                First::Neither => Ordering::Equal,
                First::Folders => b.is_folder().cmp(&a.is_folder()),
                First::Files => a.is_folder().cmp(&b.is_folder()),
            };
            let by_name = || a.name.cmp(&b.name);
            let order = match options.sort {
                Sort::Nothing | Sort::Name => by_name(),
                Sort::Version => version(&a.name, &b.name),
                Sort::Modified => a.stat.mtime_ns.cmp(&b.stat.mtime_ns).then_with(by_name),
                Sort::Changed => a.stat.ctime_ns.cmp(&b.stat.ctime_ns).then_with(by_name),
                Sort::Size => b.size.cmp(&a.size).then_with(by_name),
            };
            first.then(if options.reverse { order.reverse() } else { order })
        });
    }
}

/// Compares names by the numbers in them, like `strverscmp`.
fn version(a: &[u8], b: &[u8]) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        match (a.first(), b.first()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(one), Some(other)) if one.is_ascii_digit() && other.is_ascii_digit() => {
                let run = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let ((left, after_left), (right, after_right)) =
                    match (a.split_at_checked(run(a)), b.split_at_checked(run(b))) {
                        (Some(a), Some(b)) => (a, b),
                        _ => return Ordering::Equal,
                    };
                let order = if left.starts_with(b"0") || right.starts_with(b"0") {
                    // Leading zeros make fractions.
                    left.cmp(right)
                } else {
                    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
                };
                if order != Ordering::Equal {
                    return order;
                }
                (a, b) = (after_left, after_right);
            }
            (Some(one), Some(other)) if one == other => {
                a = a.get(1..).unwrap_or_default();
                b = b.get(1..).unwrap_or_default();
            }
            (Some(one), Some(other)) => return one.cmp(other),
        }
    }
}
