//! Code shared by all output formats.

use tidebox_gnu::mode::letters;

use crate::entry::Entry;
use crate::from_file;
use crate::options::Sizes;
use crate::walk::Walk;

/// Counters of the report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) folders: u64,
    pub(crate) files: u64,
    pub(crate) size: u64,
}

/// Position of an entry in the tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// For each level above, whether more entries follow there.
    pub(crate) more: Vec<bool>,
    /// It is the last entry of its directory.
    pub(crate) last: bool,
    /// Its content is listed.
    pub(crate) opens: bool,
}

impl Position {
    pub(crate) fn depth(&self) -> usize {
        self.more.len()
    }
}

/// An output format.
pub(crate) trait List {
    fn begin(&mut self, walk: &mut Walk);
    /// Starts an operand; `None` if the file does not exist.
    fn operand(&mut self, walk: &mut Walk, name: &[u8], entry: Option<&Entry>, opens: bool);
    fn entry(&mut self, walk: &mut Walk, entry: &Entry, position: &Position);
    /// Ends the list of a directory.
    fn close(&mut self, walk: &mut Walk, entry: &Entry, position: &Position);
    fn close_operand(&mut self, walk: &mut Walk, entry: Option<&Entry>, opened: bool, last: bool);
    fn end(&mut self, walk: &mut Walk, totals: &Totals);
}

impl Walk {
    /// Returns the names and values of all attributes in JSON and XML.
    pub(crate) fn attributes(&self, entry: &Entry, name: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
        let shows = self.options.shows;
        let mut attributes = vec![("name", name.to_vec())];
        attributes.extend(entry.target.clone().map(|target| ("target", target)));
        if shows.mode {
            let mode = entry.stat.mode;
            attributes.push(("mode", format!("{:04o}", mode & 0o7777).into_bytes()));
            attributes.push(("prot", letters(mode).into_bytes()));
        }
        if shows.user {
            attributes.push(("user", self.meta.user(entry.stat.uid).into_bytes()));
        }
        if shows.group {
            attributes.push(("group", self.meta.group(entry.stat.gid).into_bytes()));
        }
        if shows.size {
            let size = match self.options.sizes {
                Sizes::Bytes => entry.size.to_string(),
                sizes => crate::meta::size(entry.size, sizes),
            };
            attributes.push(("size", size.into_bytes()));
        }
        if shows.date {
            attributes.push(("time", self.meta.date(entry, &self.options).into_bytes()));
        }
        attributes
    }

    /// Lists all operands.
    pub(crate) fn list_all(&mut self, list: &mut dyn List) {
        let mut totals = Totals::default();
        let operands = self.options.operands.clone();
        list.begin(self);
        for (at, name) in operands.iter().enumerate() {
            self.list_operand(name, list, &mut totals, at + 1 == operands.len());
        }
        list.end(self, &totals);
    }

    fn list_operand(&mut self, name: &[u8], list: &mut dyn List, totals: &mut Totals, last: bool) {
        let mut found = if self.options.from_file { from_file::read(name, &self.options) } else { self.operand(name) };
        let Some(entry) = &mut found else {
            self.errors += 1;
            list.operand(self, name, None, false);
            list.close_operand(self, None, false, last);
            return;
        };
        if !entry.is_folder() {
            entry.problem = Some("error opening dir".to_owned());
            totals.files += 1;
            if self.options.du {
                totals.size = totals.size.saturating_add(entry.size);
            }
            list.operand(self, name, Some(entry), false);
            list.close_operand(self, Some(entry), false, last);
            return;
        }
        self.note(entry.stat);
        match self.children(entry, 0, false) {
            Ok(children) => {
                totals.folders += u64::from(!children.is_empty());
                let inside: u64 = children.iter().map(|child| child.size).fold(0, u64::saturating_add);
                if self.options.du {
                    entry.size = entry.size.saturating_add(inside);
                }
                self.limit(entry, children.len());
                let opens = entry.problem.is_none() && !children.is_empty();
                list.operand(self, name, Some(entry), opens);
                if opens {
                    let device = entry.stat.dev;
                    self.list(children, list, totals, &mut Vec::new(), device);
                }
                self.leave(&entry.path);
                list.close_operand(self, Some(entry), opens, last);
            }
            Err(_) => {
                self.errors += 1;
                entry.problem = Some("error opening dir".to_owned());
                list.operand(self, name, Some(entry), false);
                list.close_operand(self, Some(entry), false, last);
            }
        }
    }

    /// Marks a directory that has too many entries to list.
    fn limit(&self, entry: &mut Entry, count: usize) {
        if self.options.limit.is_some_and(|limit| count > limit) {
            entry.problem = Some(format!("{count} entries exceeds filelimit, not opening dir"));
        }
    }

    fn list(
        &mut self,
        entries: Vec<Entry>,
        list: &mut dyn List,
        totals: &mut Totals,
        more: &mut Vec<bool>,
        device: u32,
    ) {
        let count = entries.len();
        for (at, mut entry) in entries.into_iter().enumerate() {
            let last = at + 1 == count;
            let mut children = Vec::new();
            if self.descends(&mut entry, more.len() + 1, device) {
                match self.children(&mut entry, more.len() + 1, false) {
                    Ok(found) => {
                        self.note(entry.beyond.unwrap_or(entry.stat));
                        self.limit(&mut entry, found.len());
                        children = if entry.problem.is_none() { found } else { Vec::new() };
                    }
                    Err(_) => entry.problem = Some("error opening dir".to_owned()),
                }
            }
            if entry.problem.as_deref() == Some("error opening dir") {
                self.errors += 1;
            }
            if entry.is_folder() {
                totals.folders += 1
            } else {
                totals.files += 1
            }
            if self.options.du {
                totals.size = totals.size.saturating_add(entry.size);
            }
            let position = Position { more: more.clone(), last, opens: !children.is_empty() };
            list.entry(self, &entry, &position);
            if position.opens {
                more.push(!last);
                self.list(children, list, totals, more, device);
                more.pop();
                list.close(self, &entry, &position);
            }
            self.leave(&entry.path);
        }
    }

    /// Returns the attributes printed besides the name.
    pub(crate) fn brackets(&self, entry: &Entry) -> String {
        self.meta.brackets(entry, &self.options)
    }
}
