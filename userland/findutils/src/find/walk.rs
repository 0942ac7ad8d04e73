//! Directory traversal.

use std::rc::Rc;

use tidebox_gnu::message::quote_value;
use tidebox_rt::{FileKind, Stat};

use crate::entry::Entry;
use crate::evaluate::{Evaluator, is_gone};
use crate::parse::{Follow, Search};

/// An ancestor directory, used to detect cycles of links.
#[derive(Debug)]
struct Ancestor {
    id: (u32, u64),
    path: Vec<u8>,
    parent: Option<Rc<Self>>,
}

/// Pending work. The last item is next.
#[derive(Debug)]
enum Waiting {
    Visit(Entry, Option<Rc<Ancestor>>),
    /// A directory whose contents were visited.
    Leave(Entry),
}

/// Visits all files.
pub(crate) fn walk(search: &Search, evaluator: &mut Evaluator<'_>) {
    for start in &search.starts {
        let follow = search.follow != Follow::Never;
        let entry = Entry::new(start.clone(), start.len(), 0, follow, None);
        let device = match entry.stat() {
            Ok(stat) => stat.dev,
            Err(error) => {
                evaluator.report_error(start, error.text());
                continue;
            }
        };
        let mut walk = Walk { search, device, waiting: vec![Waiting::Visit(entry, None)] };
        if !walk.run(evaluator) {
            return;
        }
    }
}

struct Walk<'a> {
    search: &'a Search,
    /// Device of the starting point.
    device: u32,
    waiting: Vec<Waiting>,
}

impl Walk<'_> {
    /// Processes the pending work. Returns `false` if the search must end.
    fn run(&mut self, evaluator: &mut Evaluator<'_>) -> bool {
        while let Some(waiting) = self.waiting.pop() {
            let go_on = match waiting {
                Waiting::Visit(entry, parent) => self.visit(entry, parent, evaluator),
                Waiting::Leave(entry) => !self.evaluate(&entry, evaluator).quit,
            };
            if !go_on {
                return false;
            }
        }
        true
    }

    fn evaluate(&self, entry: &Entry, evaluator: &mut Evaluator<'_>) -> crate::evaluate::Effect {
        if entry.depth < self.search.settings.least_depth {
            return crate::evaluate::Effect::default();
        }
        evaluator.evaluate(entry)
    }

    fn visit(&mut self, entry: Entry, parent: Option<Rc<Ancestor>>, evaluator: &mut Evaluator<'_>) -> bool {
        if entry.kind() != Some(FileKind::Dir) {
            return !self.evaluate(&entry, evaluator).quit;
        }
        // Report a cycle even at the maximum depth.
        let ancestor = match self.ancestor(&entry, parent) {
            Ok(ancestor) => ancestor,
            Err(message) => {
                evaluator.report_loop(&message);
                return true;
            }
        };
        if entry.depth >= self.search.settings.most_depth {
            return !self.evaluate(&entry, evaluator).quit;
        }
        let foreign = self.search.settings.one_device && entry.stat().is_ok_and(|stat| stat.dev != self.device);
        if self.search.settings.depth_first {
            let at = self.waiting.len();
            if !foreign {
                self.enter(&entry, ancestor.as_ref(), evaluator);
            }
            self.waiting.insert(at, Waiting::Leave(entry));
            return true;
        }
        let effect = self.evaluate(&entry, evaluator);
        if effect.quit {
            return false;
        }
        if !effect.prune && !foreign {
            self.enter(&entry, ancestor.as_ref(), evaluator);
        }
        true
    }

    /// Adds the contents of a directory to the list.
    fn enter(&mut self, folder: &Entry, ancestor: Option<&Rc<Ancestor>>, evaluator: &mut Evaluator<'_>) {
        let entries = match tidebox_rt::read_dir(&folder.path) {
            Ok(entries) => entries,
            Err(error) if is_gone(error) && self.search.settings.ignore_races => return,
            Err(error) => return evaluator.report_error(&folder.path, error.text()),
        };
        let follow = self.search.follow == Follow::Always;
        for child in entries.into_iter().rev().filter(|child| child.name != b"." && child.name != b"..") {
            let mut path = Vec::with_capacity(folder.path.len() + child.name.len() + 1);
            path.extend_from_slice(&folder.path);
            if !path.ends_with(b"/") {
                path.push(b'/');
            }
            path.extend_from_slice(&child.name);
            let listed = Some(child.kind).filter(|kind| *kind != FileKind::Unknown);
            let entry = Entry::new(path, folder.start, folder.depth + 1, follow, listed);
            self.waiting.push(Waiting::Visit(entry, ancestor.cloned()));
        }
    }

    /// Records a directory as an ancestor. Returns an error for a cycle, which requires links.
    fn ancestor(&self, entry: &Entry, parent: Option<Rc<Ancestor>>) -> Result<Option<Rc<Ancestor>>, String> {
        if self.search.follow != Follow::Always {
            return Ok(None);
        }
        let Ok(Stat { dev, ino, .. }) = entry.stat() else {
            return Ok(parent);
        };
        let id = (*dev, *ino);
        let mut above = parent.as_ref();
        while let Some(ancestor) = above {
            if ancestor.id == id {
                return Err(format!(
                    "File system loop detected; {} is part of the same file system loop as {}.",
                    quote_value(&entry.path),
                    quote_value(&ancestor.path)
                ));
            }
            above = ancestor.parent.as_ref();
        }
        Ok(Some(Rc::new(Ancestor { id, path: entry.path.clone(), parent })))
    }
}
