//! Directory traversal.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use tidebox_gnu::version_order;
use tidebox_rt::Errno;

use crate::entry::{Entry, joined};
use crate::ignore::Rules;
use crate::options::{Options, Sort};
use crate::pattern;

/// Maximum depth of nested directories. Deeper ones are reported and not opened.
const MAX_DEPTH: usize = 1000;

/// State of one run.
pub(crate) struct Reader<'a> {
    options: &'a Options,
    rules: Rules,
    /// Directories by device and inode, so that with `-l` no two links lead to the same one.
    seen: BTreeSet<(u32, u64)>,
    pub(crate) errors: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self { options, rules: Rules::default(), seen: BTreeSet::new(), errors: 0 }
    }

    /// Reads an operand with its content.
    pub(crate) fn operand(&mut self, path: &[u8]) -> Entry {
        let mut entry = Entry { name: path.to_vec(), path: path.to_vec(), ..Entry::default() };
        match tidebox_rt::stat(path, true) {
            Ok(stat) => (entry.stat, entry.size) = (stat, stat.size),
            Err(_) => self.errors += 1,
        }
        if entry.is_folder() {
            self.fill(&mut entry, 0);
        } else {
            entry.problem = Some("error opening dir".to_owned());
        }
        entry
    }

    /// Reads the content of a directory.
    fn fill(&mut self, folder: &mut Entry, depth: usize) {
        let stat = folder.beyond.unwrap_or(folder.stat);
        self.seen.insert((stat.dev, stat.ino));
        let rules = if self.options.gitignore { self.rules.enter(&folder.path) } else { 0 };
        match self.entries(&folder.path, depth) {
            Ok(entries) => {
                let count = entries.len();
                if self.options.limit.is_some_and(|limit| count > limit) {
                    folder.problem = Some(format!("{count} entries exceeds filelimit, not opening dir"));
                    folder.is_full = true;
                } else {
                    folder.children = self.filled(entries, depth + 1);
                    folder.is_full = !folder.children.is_empty();
                }
            }
            Err(_) => {
                self.errors += 1;
                folder.problem = Some("error opening dir".to_owned());
            }
        }
        if self.options.du {
            folder.size += folder.children.iter().map(|child| child.size).sum::<u64>();
        }
        if self.options.gitignore {
            self.rules.leave(rules);
        }
    }

    /// Lists the selected entries of a directory.
    fn entries(&self, path: &[u8], depth: usize) -> Result<Vec<Entry>, Errno> {
        if depth > MAX_DEPTH {
            return Err(Errno::NAMETOOLONG);
        }
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
            if self.lists(&entry) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    fn lists(&self, entry: &Entry) -> bool {
        let options = self.options;
        let is_folder = entry.is_folder();
        let fits = |patterns| pattern::any(patterns, &entry.name, is_folder, options.ignore_case);
        let ignored = options.gitignore && self.rules.ignores(&entry.path, is_folder);
        let included = self.enters(entry) || options.include.is_empty() || fits(&options.include);
        !ignored && included && !fits(&options.exclude) && (is_folder || !options.folders_only)
    }

    /// Sorts entries, reads nested directories and removes empty ones.
    fn filled(&mut self, mut entries: Vec<Entry>, depth: usize) -> Vec<Entry> {
        self.order(&mut entries);
        for entry in &mut entries {
            if !self.enters(entry) || self.options.levels.is_some_and(|levels| depth >= levels) {
                continue;
            }
            let stat = entry.beyond.unwrap_or(entry.stat);
            if entry.is_link() && self.seen.contains(&(stat.dev, stat.ino)) {
                entry.problem = Some("recursive, not followed".to_owned());
                continue;
            }
            self.fill(entry, depth);
        }
        entries.retain(|entry| !self.options.prune || !entry.is_folder() || !entry.children.is_empty());
        if self.options.du {
            self.order(&mut entries);
        }
        entries
    }

    /// Returns whether the file type of an entry allows descending into it.
    fn enters(&self, entry: &Entry) -> bool {
        entry.is_real_folder() || self.options.follow && entry.is_folder()
    }

    fn order(&self, entries: &mut [Entry]) {
        let options = self.options;
        if options.sort == Sort::Nothing {
            return;
        }
        entries.sort_by(|a, b| {
            let first = b.is_folder().cmp(&a.is_folder());
            let order = match options.sort {
                Sort::Nothing | Sort::Name => Ordering::Equal,
                Sort::Version => version_order::compare(&a.name, &b.name),
                Sort::Modified => a.stat.mtime_ns.cmp(&b.stat.mtime_ns),
                Sort::Size => b.size.cmp(&a.size),
            };
            let order = order.then_with(|| a.name.cmp(&b.name));
            let order = if options.reverse { order.reverse() } else { order };
            if options.folders_first { first.then(order) } else { order }
        });
    }
}
