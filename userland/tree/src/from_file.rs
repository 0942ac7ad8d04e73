//! Trees from lists of paths.

use tidebox_rt::Stat;

use crate::entry::{Entry, joined};
use crate::options::Options;
use crate::pattern;

const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_644;

fn of_mode(mode: u32) -> Stat {
    Stat { mode, ..Stat::default() }
}

/// Reads a list of paths, one per line; `.` is standard input. Returns a directory that contains them all.
pub(crate) fn read(name: &[u8], options: &Options) -> Option<Entry> {
    let source: &[u8] = if name == b"." { b"-" } else { name };
    let text = tidebox_gnu::stream::read_all(source).ok()?;
    let mut root = Entry { name: name.to_vec(), path: name.to_vec(), stat: of_mode(FOLDER), ..Entry::default() };
    root.is_list = name != b".";
    for path in text.split(|byte| *byte == b'\n').filter(|path| !path.is_empty()) {
        let is_folder = path.ends_with(b"/");
        let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
        insert(&mut root, &parts, is_folder);
    }
    filter(&mut root, options, true);
    Some(root)
}

fn insert(root: &mut Entry, parts: &[&[u8]], is_folder: bool) {
    let mut node = root;
    for (at, part) in parts.iter().enumerate() {
        let last = at + 1 == parts.len();
        let path = joined(&node.path, part);
        let children = &mut node.children;
        let found = match children.iter().position(|child| child.name == *part) {
            Some(found) => found,
            None => {
                children.push(Entry { name: part.to_vec(), path, stat: of_mode(FILE), ..Entry::default() });
                children.len() - 1
            }
        };
        let Some(child) = children.get_mut(found) else {
            return;
        };
        if !last || is_folder {
            child.stat = of_mode(FOLDER);
        }
        node = child;
    }
}

/// Removes entries that the options exclude, and sorts the rest.
fn filter(folder: &mut Entry, options: &Options, top: bool) {
    let children = &mut folder.children;
    children.iter_mut().for_each(|child| filter(child, options, false));
    children.retain(|child| {
        let is_folder = child.is_folder();
        let matches = |patterns: &[Vec<u8>]| pattern::any(patterns, &child.name, is_folder, options.ignore_case);
        let hidden = !top && child.name.starts_with(b".") && !options.all;
        let included = is_folder || options.include.is_empty() || matches(&options.include);
        let pruned = options.prune && is_folder && child.children.is_empty();
        !hidden && included && !matches(&options.exclude) && (is_folder || !options.folders_only) && !pruned
    });
    children.sort_by(|a, b| if options.reverse { b.name.cmp(&a.name) } else { a.name.cmp(&b.name) });
    folder.is_full = !folder.children.is_empty();
}
