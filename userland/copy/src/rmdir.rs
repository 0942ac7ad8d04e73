//! `rmdir`: removes empty folders.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{complain, quoted};
use tidebox_rt::{Errno, FileKind};

use crate::say;

const HELP: &str = "\
Usage: rmdir [OPTION]... DIRECTORY...
Removes the DIRECTORYs, which must be empty.

      --ignore-fail-on-non-empty  say nothing of those that are not
  -p, --parents                   remove the folders above too: rmdir -p a/b removes a/b and a
  -v, --verbose                   tell what is done
";

const IGNORE: char = '\u{e001}';

const LONG: &[Long] = &[
    long("ignore-fail-on-non-empty", Takes::Nothing, IGNORE),
    long("path", Takes::Nothing, 'p'),
    long("parents", Takes::Nothing, 'p'),
    long("verbose", Takes::Nothing, 'v'),
];

const LINE: CommandLine<'_> = CommandLine::core("rmdir", "pv", LONG, HELP);

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut ignores, mut parents, mut verbose) = (false, false, false);
    let read = LINE.read::<i32>(arguments, |key, _| {
        match key {
            IGNORE => ignores = true,
            'p' => parents = true,
            _ => verbose = true,
        }
        Ok(())
    });
    let folders = match read {
        Ok(folders) if folders.is_empty() => return LINE.wrong("missing operand"),
        Ok(folders) => folders,
        Err(code) => return code,
    };
    let mut code = 0;
    for folder in &folders {
        let mut path = folder.as_slice();
        loop {
            if verbose && !say("rmdir", &format!("rmdir: removing directory, {}", quoted(path))) {
                return 1;
            }
            if let Err(errno) = tidebox_rt::remove_dir(path) {
                if !(ignores && holds_something(path, errno)) {
                    complain("rmdir", &words(path, folder, errno));
                    code = 1;
                }
                break;
            }
            match above(path).filter(|_| parents) {
                Some(next) => path = next,
                None => break,
            }
        }
    }
    code
}

/// Whether a folder stays only because it is not empty.
fn holds_something(path: &[u8], errno: Errno) -> bool {
    match errno {
        Errno::NOTEMPTY | Errno::EXIST => true,
        // Who may not remove it need not know that it is not empty.
        Errno::ACCES | Errno::PERM | Errno::ROFS | Errno::BUSY => {
            tidebox_rt::read_dir(path).is_ok_and(|entries| !entries.is_empty())
        }
        _ => false,
    }
}

fn words(path: &[u8], operand: &[u8], errno: Errno) -> String {
    let bare = path.strip_suffix(b"/").unwrap_or(path);
    let is_link =
        path.ends_with(b"/") && tidebox_rt::stat(bare, false).is_ok_and(|stat| stat.kind() == FileKind::Symlink);
    match () {
        () if path != operand && errno != Errno::NOTDIR => {
            format!("failed to remove directory {}: {}", quoted(path), errno.text())
        }
        () if is_link
            && errno == Errno::NOTDIR
            && tidebox_rt::stat(bare, true).map_or(true, |stat| stat.kind() == FileKind::Dir) =>
        {
            format!("failed to remove {}: Symbolic link not followed", quoted(path))
        }
        () => format!("failed to remove {}: {}", quoted(path), errno.text()),
    }
}

/// The folder above, as far as it is named.
fn above(path: &[u8]) -> Option<&[u8]> {
    let mut path = path;
    while let Some(shorter) = path.strip_suffix(b"/") {
        path = shorter;
    }
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    let mut above = path.get(..slash)?;
    while let Some(shorter) = above.strip_suffix(b"/") {
        above = shorter;
    }
    (!above.is_empty()).then_some(above)
}
