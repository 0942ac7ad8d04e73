//! Removing what was moved by copying.

use tidebox_gnu::message::{print_error, quote_path};
use tidebox_rt::{Errno, FileKind};

use crate::common::say;
use crate::common::target::join;

/// Removes a file or a tree. Returns whether nothing is left.
pub(crate) fn tree(tool: &str, path: &[u8], verbose: bool) -> bool {
    let failed = |path: &[u8], error: Errno| {
        print_error(tool, &format!("cannot remove {}: {}", quote_path(path), error.text()));
        false
    };
    // What is still to be removed; a folder comes twice, the second time when it is empty, unless something stayed in it.
    let mut waiting = vec![(path.to_vec(), false)];
    let (mut well, mut kept): (bool, Vec<Vec<u8>>) = (true, Vec::new());
    while let Some((path, emptied)) = waiting.pop() {
        if emptied && kept.iter().any(|kept| kept.starts_with(&[path.as_slice(), b"/"].concat())) {
            continue;
        }
        let is_folder = emptied || tidebox_rt::stat(&path, false).is_ok_and(|stat| stat.kind() == FileKind::Dir);
        if is_folder && !emptied {
            match tidebox_rt::read_dir(&path) {
                Ok(entries) => {
                    waiting.push((path.clone(), true));
                    waiting.extend(entries.iter().rev().map(|entry| (join(&path, &entry.name), false)));
                }
                Err(error) => well = failed(&path, error),
            }
            continue;
        }
        let removed = if is_folder { tidebox_rt::remove_dir(&path) } else { tidebox_rt::unlink(&path) };
        match removed {
            Ok(()) if verbose => {
                let what = if is_folder { "removed directory" } else { "removed" };
                well &= say(tool, &format!("{what} {}", quote_path(&path)));
            }
            Ok(()) => {}
            Err(error) => {
                well = failed(&path, error);
                kept.push(path);
            }
        }
    }
    well
}
