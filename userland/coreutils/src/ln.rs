//! `ln`: creates links.

use std::collections::HashSet;

use tidebox_gnu::message::{path_label, print_error, quote_path};
use tidebox_gnu::options::{ParsedOption, Syntax};
use tidebox_gnu::tool::usage;
use tidebox_rt::{Errno, FileKind};

use crate::common::copy::Existing;
use crate::common::target::{Target, TargetError, base_name, followed, join, parent_dir, same, same_entry};
use crate::common::{ask, print_line};
use tidebox_gnu::backup::Backup;

const USAGE: &str = "\
Usage: ln [OPTION]... [-T] TARGET LINK_NAME
  or:  ln [OPTION]... FILE
  or:  ln [OPTION]... FILE... DIRECTORY
  or:  ln [OPTION]... -t DIRECTORY FILE...
Creates a link to TARGET with the name LINK_NAME, or links to each FILE in DIRECTORY or the working directory.

";

tidebox_gnu::options! {
    /// Options of `ln`.
    enum Flag {
        Backup = "-b, --backup[=HOW]", "back up replaced files: none, simple, existing or numbered";
        Directory = "-d, -F, --directory", "try to create hard links to directories, which fails";
        Force = "-f, --force", "replace existing files";
        Interactive = "-i, --interactive", "prompt before a file is replaced";
        Logical = "-L, --logical", "for hard links: follow symbolic links";
        NoDereference = "-n, --no-dereference", "treat a LINK_NAME that links to a directory as a file";
        Physical = "-P, --physical", "for hard links: link to symbolic links themselves (the default)";
        Relative = "-r, --relative", "create symbolic links relative to their directory";
        Symbolic = "-s, --symbolic", "create symbolic links";
        Suffix = "-S, --suffix=SUFFIX", "suffix of backups";
        TargetDirectory = "-t, --target-directory=DIRECTORY", "create the links in DIRECTORY";
        NoTargetDirectory = "-T, --no-target-directory", "treat LINK_NAME as a file, even if it is a directory";
        Verbose = "-v, --verbose", "print each link";
    }
}

/// Parsed options.
#[derive(Debug, Default)]
struct Options {
    symbolic: bool,
    relative: bool,
    logical: bool,
    verbose: bool,
    replace: bool,
    existing: Existing,
    backup: Backup,
    target: Target,
}

/// Runs `ln`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let line = Syntax::core("ln", USAGE, 36);
    let read = line.split(arguments).and_then(|(given, operands)| {
        let options = Options::read(given).map_err(|message| line.usage_error::<i32>(message))?;
        Ok((options, operands))
    });
    let (options, operands) = match read {
        Ok(read) => read,
        Err(code) => return code,
    };
    if options.relative && !options.symbolic {
        print_error("ln", "cannot do --relative without --symbolic");
        return 1;
    }
    let found = match operands.as_slice() {
        // One operand is linked into the working directory.
        [file] if options.target.directory.is_none() && !options.target.is_name => {
            Ok(vec![(file.clone(), join(b".", base_name(file)))])
        }
        _ => options.target.pairs(operands).map(|(pairs, _)| pairs),
    };
    match found {
        Ok(pairs) => {
            let mut made = HashSet::new();
            let mut well = true;
            for (from, to) in &pairs {
                if options.overwrites() && tidebox_rt::stat(to, false).is_ok() && made.contains(to) {
                    let (to, from) = (quote_path(to), quote_path(from));
                    well = fail(&format!("will not overwrite just-created {to} with {from}"));
                } else if options.link(from, to) {
                    made.insert(to);
                } else {
                    well = false;
                }
            }
            i32::from(!well)
        }
        Err(TargetError::Usage(message)) => usage("ln", &message, 1),
        Err(TargetError::Failure(message)) => {
            print_error("ln", &message);
            1
        }
    }
}

impl Options {
    fn read(given: Vec<ParsedOption<Flag>>) -> Result<Self, String> {
        let mut options = Self::default();
        options.target.accesses = true;
        for ParsedOption { id, value, .. } in given {
            match id {
                Flag::Backup => options.backup.set_control((!value.is_empty()).then_some(value)),
                Flag::Force => (options.replace, options.existing) = (true, Existing::Replace),
                Flag::Interactive => options.existing = Existing::Ask,
                Flag::Logical => options.logical = true,
                Flag::NoDereference => options.target.link_is_file = true,
                Flag::Physical => options.logical = false,
                Flag::Relative => options.relative = true,
                Flag::Symbolic => options.symbolic = true,
                Flag::TargetDirectory if options.target.directory.is_some() => {
                    return Err("multiple target directories specified".to_owned());
                }
                Flag::TargetDirectory => options.target.directory = Some(value),
                Flag::Verbose => options.verbose = true,
                Flag::Suffix => options.backup.suffix(value),
                Flag::NoTargetDirectory => options.target.is_name = true,
                Flag::Directory => {}
            }
        }
        options.backup.resolve()?;
        Ok(options)
    }

    /// Returns whether a link replaces an existing file permanently.
    fn overwrites(&self) -> bool {
        self.replace && !self.backup.is_numbered()
    }

    /// Creates one link. Returns whether it succeeded.
    fn link(&self, from: &[u8], to: &[u8]) -> bool {
        let source = if self.symbolic { None } else { Some(tidebox_rt::stat(from, self.logical)) };
        match &source {
            Some(Err(error)) => return fail(&format!("failed to access {}: {}", quote_path(from), error.text())),
            Some(Ok(stat)) if stat.kind() == FileKind::Dir => {
                return fail(&format!("{}: hard link not allowed for directory", path_label(from)));
            }
            _ => {}
        }
        let mut saved = None;
        if self.replace || self.backup.is_wanted() || self.existing == Existing::Ask {
            match self.clear(from, to) {
                Ok(Some(backup)) => saved = backup,
                Ok(None) => return true,
                Err(message) => return fail(&message),
            }
        }
        let text = match (self.relative, self.logical && !self.symbolic) {
            (true, _) => relative(from, to),
            (_, true) => followed(from),
            _ => from.to_vec(),
        };
        let made = if self.symbolic { tidebox_rt::symlink(&text, to) } else { tidebox_rt::link(&text, to) };
        if let Err(error) = made {
            return fail(&self.explain(&text, to, error));
        }
        let arrow = if self.symbolic { "->" } else { "=>" };
        let backup = saved.map(|name: Vec<u8>| format!("{} ~ ", quote_path(&name))).unwrap_or_default();
        !self.verbose || print_line("ln", &format!("{backup}{} {arrow} {}", quote_path(to), quote_path(&text)))
    }

    /// Removes or renames an existing target. Returns the name of the backup, or `None` to keep the target.
    fn clear(&self, from: &[u8], to: &[u8]) -> Result<Option<Option<Vec<u8>>>, String> {
        let Ok(there) = tidebox_rt::stat(to, false) else {
            return Ok(Some(None));
        };
        if there.kind() == FileKind::Dir {
            return Err(format!("{}: cannot overwrite directory", path_label(to)));
        }
        let hard = !self.symbolic && tidebox_rt::stat(from, false).is_ok_and(|stat| same(&stat, &there));
        let exists = tidebox_rt::stat(from, self.symbolic).is_ok();
        let one = (exists && same_entry(from, to)) || (hard && there.nlink == 1);
        if (self.replace || self.backup.is_wanted()) && one {
            return Err(format!("{} and {} are the same file", quote_path(from), quote_path(to)));
        }
        if self.existing == Existing::Ask && !ask::yes(&format!("ln: replace {}? ", quote_path(to))) {
            return Ok(None);
        }
        if self.backup.is_wanted() {
            let made = self.backup.make(to);
            return made
                .map(|name| Some(Some(name)))
                .map_err(|error| format!("cannot backup {}: {}", quote_path(to), error.text()));
        }
        tidebox_rt::unlink(to)
            .map(|()| Some(None))
            .map_err(|error| format!("cannot remove {}: {}", quote_path(to), error.text()))
    }

    fn explain(&self, text: &[u8], to: &[u8], error: Errno) -> String {
        let kind = if self.symbolic { "symbolic" } else { "hard" };
        // Report the link text if it matters.
        let arrow = match (self.symbolic, error) {
            (true, Errno::NAMETOOLONG | Errno::NOSPC) => format!(" -> {}", quote_path(text)),
            (true, Errno::NOENT) if text.is_empty() => format!(" -> {}", quote_path(text)),
            (false, Errno::MLINK | Errno::DQUOT | Errno::EXIST | Errno::NOSPC | Errno::ROFS) | (true, _) => {
                String::new()
            }
            (false, _) => format!(" => {}", quote_path(text)),
        };
        format!("failed to create {kind} link {}{arrow}: {}", quote_path(to), error.text())
    }
}

fn fail(message: &str) -> bool {
    print_error("ln", message);
    false
}

/// Returns the last path of a dangling chain of links.
fn last_link(path: &[u8]) -> Vec<u8> {
    /// Maximum number of links followed, as in the kernel.
    const MAX_COUNT: usize = 40;
    let mut path = path.to_vec();
    for _ in 0..MAX_COUNT {
        let Ok(target) = tidebox_rt::read_link(&path) else {
            break;
        };
        path = if target.starts_with(b"/") { target } else { join(parent_dir(&path), &target) };
    }
    path
}

/// Returns the path of `from` relative to the directory of `to`.
fn relative(from: &[u8], to: &[u8]) -> Vec<u8> {
    let absolute = |path: &[u8]| -> Vec<u8> {
        let dir = followed(parent_dir(path));
        let name = base_name(path);
        if matches!(name, b"." | b".." | b"/" | b"") { followed(path) } else { join(&dir, name) }
    };
    let from = match tidebox_rt::stat(from, true) {
        Ok(_) => followed(from),
        Err(_) => absolute(&last_link(from)),
    };
    let dir = followed(parent_dir(to));
    let parts = |path: &[u8]| -> Vec<Vec<u8>> {
        path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let (from, dir) = (parts(&from), parts(&dir));
    let shared = from.iter().zip(&dir).take_while(|(a, b)| a == b).count();
    let up = dir.iter().skip(shared).map(|_| b"..".to_vec());
    let text: Vec<Vec<u8>> = up.chain(from.into_iter().skip(shared)).collect();
    if text.is_empty() { b".".to_vec() } else { text.join(&b'/') }
}
