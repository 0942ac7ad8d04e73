//! Removal of sources after a move by copying.

use tidebox_gnu::message::{print_error, quote_path};
use tidebox_rt::{Errno, FileKind};

use crate::common::print_line;
use crate::common::target::join;

/// Removes a file or a tree. Returns whether nothing is left.
pub(crate) fn tree(tool: &str, path: &[u8], verbose: bool) -> bool {
    let failed = |path: &[u8], error: Errno| {
        print_error(tool, &format!("cannot remove {}: {}", quote_path(path), error.text()));
        false
    };
    // Paths to remove. A directory is pushed a second time, after its entries, to be removed when empty.
    let mut pending = vec![(path.to_vec(), false)];
    let (mut succeeded, mut kept): (bool, Vec<Vec<u8>>) = (true, Vec::new());
    while let Some((path, emptied)) = pending.pop() {
        if emptied && kept.iter().any(|kept| kept.starts_with(&[path.as_slice(), b"/"].concat())) {
            continue;
        }
        let is_dir = emptied || tidebox_rt::stat(&path, false).is_ok_and(|stat| stat.kind() == FileKind::Dir);
        if is_dir && !emptied {
            match tidebox_rt::read_dir(&path) {
                Ok(entries) => {
                    pending.push((path.clone(), true));
                    pending.extend(entries.iter().rev().map(|entry| (join(&path, &entry.name), false)));
                }
                Err(error) => succeeded = failed(&path, error),
            }
            continue;
        }
        let removed = if is_dir { tidebox_rt::remove_dir(&path) } else { tidebox_rt::unlink(&path) };
        match removed {
            Ok(()) if verbose => {
                let what = if is_dir { "removed directory" } else { "removed" };
                succeeded &= print_line(tool, &format!("{what} {}", quote_path(&path)));
            }
            Ok(()) => {}
            Err(error) => {
                succeeded = failed(&path, error);
                kept.push(path);
            }
        }
    }
    succeeded
}
