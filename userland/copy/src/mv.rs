//! `mv`: gives files and folders other names.

use std::collections::HashMap;

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{complain, quoted};
use tidebox_gnu::tool::usage;
use tidebox_rt::{Errno, FileKind, Stat};

use crate::ask::{self, question};
use crate::copy::{Copier, Existing, Follow, Options};
use crate::same_file::{Manner, Met, Verdict, judge};
use crate::target::{Target, Wrong, base_name, folder_of, same, same_entry};
use crate::{remove, say};

const HELP: &str = "\
Usage: mv [OPTION]... [-T] SOURCE DEST
  or:  mv [OPTION]... SOURCE... FOLDER
  or:  mv [OPTION]... -t FOLDER SOURCE...
Gives SOURCE the name TARGET, or moves each SOURCE into FOLDER.

  -b, --backup[=HOW]            keep what is replaced: none, simple, existing or numbered
  -f, --force                   do not ask
  -i, --interactive             ask before a file is replaced
  -n, --no-clobber              leave files that are there
      --strip-trailing-slashes  from each SOURCE
  -S, --suffix=SUFFIX           of backups
  -t, --target-directory=FOLDER move into FOLDER
  -T, --no-target-directory     TARGET is no folder to move into
  -u, --update                  leave files that are as new
  -v, --verbose                 say what is done
";

const STRIP: char = '\u{e001}';

const LONG: &[Long] = &[
    long("backup", Takes::Maybe, 'b'),
    long("context", Takes::Nothing, 'Z'),
    long("force", Takes::Nothing, 'f'),
    long("interactive", Takes::Nothing, 'i'),
    long("no-clobber", Takes::Nothing, 'n'),
    long("no-target-directory", Takes::Nothing, 'T'),
    long("strip-trailing-slashes", Takes::Nothing, STRIP),
    long("suffix", Takes::Value, 'S'),
    long("target-directory", Takes::Value, 't'),
    long("update", Takes::Nothing, 'u'),
    long("verbose", Takes::Nothing, 'v'),
];

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let line = CommandLine::core("mv", "bfint:uvS:TZ", LONG, HELP);
    let read = line.split(arguments).and_then(|(given, operands)| {
        let (options, target) = read(given).map_err(|message| line.wrong::<i32>(message))?;
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
        Err(Wrong::Usage(message)) => return usage("mv", &message, 1),
        Err(Wrong::Failure(message)) => {
            complain("mv", &message);
            return 1;
        }
    };
    let mut mover = Mover { options: &options, moved: HashMap::new(), met: Met::default() };
    let mut well = true;
    for (from, to) in pairs {
        well &= mover.run(&from, &to);
    }
    i32::from(!well)
}

/// What the options say.
fn read(given: Vec<(char, Vec<u8>)>) -> Result<(Options, Target), String> {
    // What cannot be renamed is copied with all that belongs to it.
    let mut options = Options {
        tool: "mv",
        follow: Follow::Never,
        recursive: true,
        special: true,
        preserve_mode: true,
        preserve_times: true,
        preserve_links: true,
        preserve_what_can_be: true,
        ..Options::default()
    };
    let mut target = Target::default();
    for (key, value) in given {
        match key {
            'b' => options.backup.want((!value.is_empty()).then_some(value)),
            'f' => options.existing = Existing::Replace,
            'i' => options.existing = Existing::Ask,
            'n' => options.existing = Existing::Keep,
            't' if target.folder.is_some() => return Err("multiple target directories specified".to_owned()),
            't' => target.folder = Some(value),
            'u' => options.update = true,
            'v' => options.verbose = true,
            'S' => options.backup.suffix(value),
            'T' => target.is_name = true,
            STRIP => target.strip = true,
            _ => {}
        }
    }
    options.backup.settle()?;
    Ok((options, target))
}

struct Mover<'a> {
    options: &'a Options,
    /// What came to be by this run.
    moved: HashMap<(u32, u64), Vec<u8>>,
    /// Folders that were named so far.
    met: Met,
}

impl Mover<'_> {
    /// Moves one file. Whether that went well.
    fn run(&mut self, from: &[u8], to: &[u8]) -> bool {
        let stat = match tidebox_rt::stat(from, false) {
            Ok(stat) => stat,
            Err(error) => return fail(&format!("cannot stat {}: {}", quoted(from), error.text())),
        };
        if stat.kind() != FileKind::Dir && from.ends_with(b"/") {
            return fail(&format!("cannot stat {}: {}", quoted(from), Errno::NOTDIR.text()));
        }
        if self.met.again(&stat) && !self.options.backup.is_wanted() {
            complain("mv", &format!("warning: source directory {} specified more than once", quoted(from)));
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
                let backup = saved.map(|name: Vec<u8>| format!(" (backup: {})", quoted(&name))).unwrap_or_default();
                !self.options.verbose || say("mv", &format!("renamed {} -> {}{backup}", quoted(from), quoted(to)))
            }
            Err(Errno::INVAL) if stat.kind() == FileKind::Dir => {
                fail(&format!("cannot move {} to a subdirectory of itself, {}", quoted(from), quoted(to)))
            }
            Err(Errno::XDEV) => self.copy(from, to, &stat),
            Err(error) => {
                // What ends with a slash can only be a folder, and there is none.
                let slash = to.ends_with(b"/") && stat.kind() != FileKind::Dir;
                let error = if slash { Errno::NOTDIR } else { error };
                fail(&format!("cannot move {} to {}: {}", quoted(from), quoted(to), error.text()))
            }
        };
        if moved && let Ok(stat) = tidebox_rt::stat(to, false) {
            self.moved.insert((stat.dev, stat.ino), from.to_vec());
        }
        moved
    }

    /// Makes room where there is something already: the backup that was made, or `None` to leave it all as it is.
    fn clear(&self, from: &[u8], to: &[u8], stat: &Stat, there: &Stat) -> Result<Option<Option<Vec<u8>>>, String> {
        let options = self.options;
        let (folder, other) = (stat.kind() == FileKind::Dir, there.kind() == FileKind::Dir);
        if same(stat, there) {
            if folder && !same_entry(from, to) {
                return Ok(Some(None));
            }
            if same_entry(from, to) {
                return match folder {
                    true => Err(format!("cannot move {} to a subdirectory of itself, {}", quoted(from), quoted(to))),
                    false if options.existing == Existing::Keep => Ok(None),
                    false => Err(format!("{} and {} are the same file", quoted(from), quoted(to))),
                };
            }
        }
        let manner = Manner { moves: true, backup: options.backup.is_wanted(), ..Manner::default() };
        if !folder && options.existing != Existing::Keep && judge(from, to, manner) == Verdict::Refuse {
            return Err(format!("{} and {} are the same file", quoted(from), quoted(to)));
        }
        if options.existing == Existing::Keep {
            return Ok(None);
        }
        if options.update && !folder && there.mtime_ns >= stat.mtime_ns {
            return Ok(None);
        }
        if options.existing == Existing::Ask && !ask::yes(&question("mv", to, there, true)) {
            return Ok(None);
        }
        if !options.backup.is_wanted() {
            if other && !folder {
                return Err(format!("cannot overwrite directory {} with non-directory", quoted(to)));
            }
            if folder && !other {
                return Err(format!("cannot overwrite non-directory {} with directory {}", quoted(to), quoted(from)));
            }
        }
        if self.moved.contains_key(&(there.dev, there.ino)) && !options.backup.is_numbered() {
            return Err(format!("will not overwrite just-created {} with {}", quoted(to), quoted(from)));
        }
        if !options.backup.is_wanted() {
            return Ok(Some(None));
        }
        if options.backup.would_replace(base_name(from), base_name(to)) && folder_of(from) == folder_of(to) {
            return Err(format!("backing up {} might destroy source;  {} not moved", quoted(to), quoted(from)));
        }
        let made = options.backup.make(to);
        made.map(|name| Some(Some(name))).map_err(|error| format!("cannot backup {}: {}", quoted(to), error.text()))
    }

    /// Moves to another file system: copies, then removes.
    fn copy(&self, from: &[u8], to: &[u8], stat: &Stat) -> bool {
        if let Ok(there) = tidebox_rt::stat(to, false) {
            let gone = match (there.kind(), stat.kind()) {
                (FileKind::Dir, FileKind::Dir) => tidebox_rt::remove_dir(to),
                _ => tidebox_rt::unlink(to),
            };
            if let Err(error) = gone {
                let (from, to) = (quoted(from), quoted(to));
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
    complain("mv", message);
    false
}
