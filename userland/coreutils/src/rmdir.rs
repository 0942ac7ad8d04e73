//! `rmdir`: removes empty directories.

use tidebox_gnu::message::{print_error, quote_path};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, FileKind};

use crate::common::print_line;

const USAGE: &str = "\
Usage: rmdir [OPTION]... DIRECTORY...
Removes each DIRECTORY, which must be empty.

";

tidebox_gnu::options! {
    /// Options of `rmdir`.
    enum Flag {
        IgnoreFailOnNonEmpty = "--ignore-fail-on-non-empty", "ignore directories that are not empty";
        Path = "-p, --parents | --path", "remove parent directories too: rmdir -p a/b removes a/b and a";
        Verbose = "-v, --verbose", "print each directory";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("rmdir", USAGE, 34);

/// Runs `rmdir`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut ignores, mut parents, mut verbose) = (false, false, false);
    let read = LINE.parse::<i32>(arguments, |key, _| {
        match key {
            Flag::IgnoreFailOnNonEmpty => ignores = true,
            Flag::Path => parents = true,
            _ => verbose = true,
        }
        Ok(())
    });
    let dirs = match read {
        Ok(dirs) if dirs.is_empty() => return LINE.usage_error("missing operand"),
        Ok(dirs) => dirs,
        Err(code) => return code,
    };
    let mut code = 0;
    for dir in &dirs {
        let mut path = dir.as_slice();
        loop {
            if verbose && !print_line("rmdir", &format!("rmdir: removing directory, {}", quote_path(path))) {
                return 1;
            }
            if let Err(errno) = tidebox_rt::remove_dir(path) {
                if !(ignores && is_not_empty(path, errno)) {
                    print_error("rmdir", &message(path, dir, errno));
                    code = 1;
                }
                break;
            }
            match parent(path).filter(|_| parents) {
                Some(next) => path = next,
                None => break,
            }
        }
    }
    code
}

/// Returns whether a directory was not removed only because it is not empty.
fn is_not_empty(path: &[u8], errno: Errno) -> bool {
    match errno {
        Errno::NOTEMPTY | Errno::EXIST => true,
        // The permission error precedes the check whether the directory is empty.
        Errno::ACCES | Errno::PERM | Errno::ROFS | Errno::BUSY => {
            tidebox_rt::read_dir(path).is_ok_and(|entries| !entries.is_empty())
        }
        _ => false,
    }
}

fn message(path: &[u8], operand: &[u8], errno: Errno) -> String {
    let bare = path.strip_suffix(b"/").unwrap_or(path);
    let is_link =
        path.ends_with(b"/") && tidebox_rt::stat(bare, false).is_ok_and(|stat| stat.kind() == FileKind::Symlink);
    match () {
        () if path != operand && errno != Errno::NOTDIR => {
            format!("failed to remove directory {}: {}", quote_path(path), errno.text())
        }
        () if is_link
            && errno == Errno::NOTDIR
            && tidebox_rt::stat(bare, true).map_or(true, |stat| stat.kind() == FileKind::Dir) =>
        {
            format!("failed to remove {}: Symbolic link not followed", quote_path(path))
        }
        () => format!("failed to remove {}: {}", quote_path(path), errno.text()),
    }
}

/// Returns the parent directory, if the path names it.
fn parent(path: &[u8]) -> Option<&[u8]> {
    let mut path = path;
    while let Some(shorter) = path.strip_suffix(b"/") {
        path = shorter;
    }
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    let mut parent = path.get(..slash)?;
    while let Some(shorter) = parent.strip_suffix(b"/") {
        parent = shorter;
    }
    (!parent.is_empty()).then_some(parent)
}
