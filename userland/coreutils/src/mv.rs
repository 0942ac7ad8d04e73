//! `mv`: renames files and directories, or moves them into another directory.

use std::collections::HashMap;

use tidebox_gnu::message::{print_error, quote_path};
use tidebox_gnu::options::{ParsedOption, Syntax};
use tidebox_gnu::tool::usage;
use tidebox_rt::{Errno, FileKind, Stat};

use crate::common::ask::{self, question};
use crate::common::copy::{Copier, Existing, Follow, Options};
use crate::common::same_file::{ExistingTargetAction, ReplaceOptions, SeenDirs, target_action};
use crate::common::target::{Target, TargetError, base_name, parent_dir, same, same_entry};
use crate::common::{print_line, remove};

const USAGE: &str = "\
Usage: mv [OPTION]... [-T] SOURCE DEST
  or:  mv [OPTION]... SOURCE... DIRECTORY
  or:  mv [OPTION]... -t DIRECTORY SOURCE...
Renames SOURCE to DEST, or moves each SOURCE into DIRECTORY.

";

tidebox_gnu::options! {
    /// Options of `mv`.
    enum Flag {
        Backup = "-b, --backup[=HOW]", "back up replaced files: none, simple, existing or numbered";
        Force = "-f, --force", "do not prompt";
        Interactive = "-i, --interactive", "prompt before a file is replaced";
        NoClobber = "-n, --no-clobber", "keep existing files";
        StripTrailingSlashes = "--strip-trailing-slashes", "remove trailing slashes from each SOURCE";
        Suffix = "-S, --suffix=SUFFIX", "suffix of backups";
        TargetDirectory = "-t, --target-directory=DIRECTORY", "move into DIRECTORY";
        NoTargetDirectory = "-T, --no-target-directory", "treat DEST as a file, even if it is a directory";
        Update = "-u, --update", "keep existing files that are not older";
        Verbose = "-v, --verbose", "print each renamed file";
        Context = "-Z, --context", "";
    }
}

/// Runs `mv`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let line = Syntax::core("mv", USAGE, 36);
    let read = line.split(arguments).and_then(|(given, operands)| {
        let (options, target) = read(given).map_err(|message| line.usage_error::<i32>(message))?;
        Ok((options, target, operands))
    });
    let (options, target, operands) = match read {
        Ok(read) => read,
        Err(code) => return code,
    };
    if options.backup.is_wanted() && options.existing == Existing::Keep {
        return usage("mv", "options --backup and --no-clobber are mutually exclusive", 1);
    }
    let pairs = match target.pairs(operands) {
        Ok((pairs, _)) => pairs,
        Err(TargetError::Usage(message)) => return usage("mv", &message, 1),
        Err(TargetError::Failure(message)) => {
            print_error("mv", &message);
            return 1;
        }
    };
    let mut mover = Mover { options: &options, moved: HashMap::new(), seen_dirs: SeenDirs::default() };
    let mut well = true;
    for (from, to) in pairs {
        well &= mover.run(&from, &to);
    }
    i32::from(!well)
}

/// Parsed options.
fn read(given: Vec<ParsedOption<Flag>>) -> Result<(Options, Target), String> {
    // A file that cannot be renamed is copied with all its attributes.
    let mut options = Options {
        tool: "mv",
        follow: Follow::Never,
        recursive: true,
        special: true,
        preserve_mode: true,
        preserve_times: true,
        preserve_links: true,
        preserve_best_effort: true,
        ..Options::default()
    };
    let mut target = Target::default();
    for ParsedOption { id: key, value, .. } in given {
        match key {
            Flag::Backup => options.backup.set_control((!value.is_empty()).then_some(value)),
            Flag::Force => options.existing = Existing::Replace,
            Flag::Interactive => options.existing = Existing::Ask,
            Flag::NoClobber => options.existing = Existing::Keep,
            Flag::TargetDirectory if target.directory.is_some() => {
                return Err("multiple target directories specified".to_owned());
            }
            Flag::TargetDirectory => target.directory = Some(value),
            Flag::Update => options.update = true,
            Flag::Verbose => options.verbose = true,
            Flag::Suffix => options.backup.suffix(value),
            Flag::NoTargetDirectory => target.is_name = true,
            Flag::StripTrailingSlashes => target.strip = true,
            _ => {}
        }
    }
    options.backup.resolve()?;
    Ok((options, target))
}

struct Mover<'a> {
    options: &'a Options,
    /// Targets created by this run.
    moved: HashMap<(u32, u64), Vec<u8>>,
    /// Source directories that were already moved.
    seen_dirs: SeenDirs,
}

impl Mover<'_> {
    /// Moves one file. Returns whether it succeeded.
    fn run(&mut self, from: &[u8], to: &[u8]) -> bool {
        let stat = match tidebox_rt::stat(from, false) {
            Ok(stat) => stat,
            Err(error) => return fail(&format!("cannot stat {}: {}", quote_path(from), error.text())),
        };
        if stat.kind() != FileKind::Dir && from.ends_with(b"/") {
            return fail(&format!("cannot stat {}: {}", quote_path(from), Errno::NOTDIR.text()));
        }
        if self.seen_dirs.is_repeated(&stat) && !self.options.backup.is_wanted() {
            print_error("mv", &format!("warning: source directory {} specified more than once", quote_path(from)));
            return true;
        }
        let mut saved = None;
        if let Ok(there) = tidebox_rt::stat(to, false) {
            match self.clear(from, to, &stat, &there) {
                Ok(Some(backup)) => saved = backup,
                Ok(None) => return true,
                Err(message) => return fail(&message),
            }
        }
        let moved = match tidebox_rt::rename(from, to) {
            Ok(()) => {
                let backup = saved.map(|name: Vec<u8>| format!(" (backup: {})", quote_path(&name))).unwrap_or_default();
                !self.options.verbose
                    || print_line("mv", &format!("renamed {} -> {}{backup}", quote_path(from), quote_path(to)))
            }
            Err(Errno::INVAL) if stat.kind() == FileKind::Dir => {
                fail(&format!("cannot move {} to a subdirectory of itself, {}", quote_path(from), quote_path(to)))
            }
            Err(Errno::XDEV) => self.copy(from, to, &stat),
            Err(error) => {
                // A path with a trailing slash must be a directory, and none exists.
                let slash = to.ends_with(b"/") && stat.kind() != FileKind::Dir;
                let error = if slash { Errno::NOTDIR } else { error };
                fail(&format!("cannot move {} to {}: {}", quote_path(from), quote_path(to), error.text()))
            }
        };
        if moved && let Ok(stat) = tidebox_rt::stat(to, false) {
            self.moved.insert((stat.dev, stat.ino), from.to_vec());
        }
        moved
    }

    /// Checks and backs up an existing target. Returns the name of the backup, or `None` to move nothing.
    fn clear(&self, from: &[u8], to: &[u8], stat: &Stat, there: &Stat) -> Result<Option<Option<Vec<u8>>>, String> {
        let options = self.options;
        let (dir, other) = (stat.kind() == FileKind::Dir, there.kind() == FileKind::Dir);
        if same(stat, there) {
            if dir && !same_entry(from, to) {
                return Ok(Some(None));
            }
            if same_entry(from, to) {
                return match dir {
                    true => {
                        Err(format!("cannot move {} to a subdirectory of itself, {}", quote_path(from), quote_path(to)))
                    }
                    false if options.existing == Existing::Keep => Ok(None),
                    false => Err(format!("{} and {} are the same file", quote_path(from), quote_path(to))),
                };
            }
        }
        let replace_options =
            ReplaceOptions { moves: true, backup: options.backup.is_wanted(), ..ReplaceOptions::default() };
        if !dir
            && options.existing != Existing::Keep
            && target_action(from, to, replace_options) == ExistingTargetAction::Refuse
        {
            return Err(format!("{} and {} are the same file", quote_path(from), quote_path(to)));
        }
        if options.existing == Existing::Keep {
            return Ok(None);
        }
        if options.update && !dir && there.mtime_ns >= stat.mtime_ns {
            return Ok(None);
        }
        if options.existing == Existing::Ask && !ask::yes(&question("mv", to, there, true)) {
            return Ok(None);
        }
        if !options.backup.is_wanted() {
            if other && !dir {
                return Err(format!("cannot overwrite directory {} with non-directory", quote_path(to)));
            }
            if dir && !other {
                return Err(format!(
                    "cannot overwrite non-directory {} with directory {}",
                    quote_path(to),
                    quote_path(from)
                ));
            }
        }
        if self.moved.contains_key(&(there.dev, there.ino)) && !options.backup.is_numbered() {
            return Err(format!("will not overwrite just-created {} with {}", quote_path(to), quote_path(from)));
        }
        if !options.backup.is_wanted() {
            return Ok(Some(None));
        }
        if options.backup.would_replace(base_name(from), base_name(to)) && parent_dir(from) == parent_dir(to) {
            return Err(format!("backing up {} might destroy source;  {} not moved", quote_path(to), quote_path(from)));
        }
        let made = options.backup.make(to);
        made.map(|name| Some(Some(name))).map_err(|error| format!("cannot backup {}: {}", quote_path(to), error.text()))
    }

    /// Moves a file to another file system: copies it, then removes the source.
    fn copy(&self, from: &[u8], to: &[u8], stat: &Stat) -> bool {
        if let Ok(there) = tidebox_rt::stat(to, false) {
            let removed = match (there.kind(), stat.kind()) {
                (FileKind::Dir, FileKind::Dir) => tidebox_rt::remove_dir(to),
                _ => tidebox_rt::unlink(to),
            };
            if let Err(error) = removed {
                let (from, to) = (quote_path(from), quote_path(to));
                return fail(&format!(
                    "inter-device move failed: {from} to {to}; unable to remove target: {}",
                    error.text()
                ));
            }
        }
        let mut options = self.options.clone();
        options.existing = Existing::Replace;
        options.update = false;
        Copier::new(&options).run(from, to) && remove::tree("mv", from, self.options.verbose)
    }
}

fn fail(message: &str) -> bool {
    print_error("mv", message);
    false
}
