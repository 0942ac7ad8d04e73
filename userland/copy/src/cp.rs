//! `cp`: copies files and folders.

use tidebox_gnu::choice::choose;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{complain, quoted};
use tidebox_gnu::tool::usage;
use tidebox_rt::{Errno, FileKind};

use crate::copy::{Copier, Existing, Follow, Options};
use crate::data;
use crate::say;
use crate::target::{Target, Wrong, join, same_entry, without_slashes};
use tidebox_gnu::backup::Backup;

const HELP: &str = "\
Usage: cp [OPTION]... [-T] SOURCE DEST
  or:  cp [OPTION]... SOURCE... FOLDER
  or:  cp [OPTION]... -t FOLDER SOURCE...
Copies SOURCE to TARGET, or each SOURCE into FOLDER.

  -a, --archive                 as -dR --preserve=all
      --attributes-only         copy no content, only what --preserve names
  -b, --backup[=HOW]            keep what is replaced: none, simple, existing or numbered
  -d                            as --no-dereference --preserve=links
  -f, --force                   remove a TARGET that cannot be opened, and try again
  -H                            follow symbolic links that are named
  -i, --interactive             ask before a file is replaced
  -L, --dereference             follow symbolic links
  -l, --link                    make hard links instead of copies
  -n, --no-clobber              leave files that are there
  -P, --no-dereference          copy symbolic links as links
  -p                            as --preserve=mode,ownership,timestamps
      --preserve[=WHAT]         keep mode, ownership, timestamps, links, context, xattr or all
      --no-preserve=WHAT        do not
      --parents                 repeat the folders of SOURCE below FOLDER
  -R, -r, --recursive           copy folders with what they hold
      --reflink[=WHEN]          always fails here, auto copies
      --remove-destination      remove TARGET first
      --sparse=WHEN             files are never holes here
      --strip-trailing-slashes  from each SOURCE
  -s, --symbolic-link           make symbolic links instead of copies
  -S, --suffix=SUFFIX           of backups
  -t, --target-directory=FOLDER copy into FOLDER
  -T, --no-target-directory     TARGET is no folder to copy into
  -u, --update                  leave files that are as new
  -v, --verbose                 say what is done
  -x, --one-file-system         stay on one
";

const ATTRIBUTES: char = '\u{e001}';
const COPY_CONTENTS: char = '\u{e002}';
const PARENTS: char = '\u{e003}';
const PRESERVE: char = '\u{e004}';
const NO_PRESERVE: char = '\u{e005}';
const REFLINK: char = '\u{e006}';
const REMOVE: char = '\u{e007}';
const SPARSE: char = '\u{e008}';
const STRIP: char = '\u{e009}';
const CONTEXT: char = '\u{e00a}';

const LONG: &[Long] = &[
    long("archive", Takes::Nothing, 'a'),
    long("attributes-only", Takes::Nothing, ATTRIBUTES),
    long("backup", Takes::Maybe, 'b'),
    long("context", Takes::Maybe, CONTEXT),
    long("copy-contents", Takes::Nothing, COPY_CONTENTS),
    long("dereference", Takes::Nothing, 'L'),
    long("force", Takes::Nothing, 'f'),
    long("interactive", Takes::Nothing, 'i'),
    long("link", Takes::Nothing, 'l'),
    long("no-clobber", Takes::Nothing, 'n'),
    long("no-dereference", Takes::Nothing, 'P'),
    long("no-preserve", Takes::Value, NO_PRESERVE),
    long("no-target-directory", Takes::Nothing, 'T'),
    long("one-file-system", Takes::Nothing, 'x'),
    long("parents", Takes::Nothing, PARENTS),
    long("path", Takes::Nothing, PARENTS),
    long("preserve", Takes::Maybe, PRESERVE),
    long("recursive", Takes::Nothing, 'R'),
    long("reflink", Takes::Maybe, REFLINK),
    long("remove-destination", Takes::Nothing, REMOVE),
    long("sparse", Takes::Value, SPARSE),
    long("strip-trailing-slashes", Takes::Nothing, STRIP),
    long("suffix", Takes::Value, 'S'),
    long("symbolic-link", Takes::Nothing, 's'),
    long("target-directory", Takes::Value, 't'),
    long("update", Takes::Nothing, 'u'),
    long("verbose", Takes::Nothing, 'v'),
];

const WHEN: &[&[&str]] = &[&["auto"], &["always"], &["never"]];

const PARTS: &[&[&str]] = &[&["mode"], &["timestamps"], &["ownership"], &["links"], &["context"], &["xattr"], &["all"]];

/// Everything that a command line says.
#[derive(Debug, Default)]
struct Asked {
    options: Options,
    target: Target,
    follow: Option<Follow>,
    parents: bool,
    clone: bool,
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let line = CommandLine::core("cp", "abdfHilLnprst:uvxPRS:TZ", LONG, HELP);
    let read = line.split(arguments).and_then(|(options, operands)| {
        let asked = Asked::read(options).map_err(|message| line.wrong::<i32>(message))?;
        Ok((asked, operands))
    });
    let (asked, operands) = match read {
        Ok(read) => read,
        Err(code) => return code,
    };
    if asked.options.hard_link && asked.options.symbolic_link {
        return usage("cp", "cannot make both hard and symbolic links", 1);
    }
    if asked.options.backup.is_wanted() && asked.options.existing == Existing::Keep {
        return usage("cp", "options --backup and --no-clobber are mutually exclusive", 1);
    }
    let (pairs, into_folder) = match asked.target.pairs(operands) {
        Ok(found) => found,
        Err(Wrong::Usage(message)) => return usage("cp", &message, 1),
        Err(Wrong::Failure(message)) => {
            complain("cp", &message);
            return 1;
        }
    };
    if asked.parents && !into_folder {
        return usage("cp", "with --parents, the destination must be a directory", 1);
    }
    i32::from(!asked.copy_all(pairs))
}

impl Asked {
    /// Copies each file to its place. Whether all went well.
    fn copy_all(&self, pairs: Vec<(Vec<u8>, Vec<u8>)>) -> bool {
        let mut copier = Copier::new(&self.options);
        let mut well = true;
        let mut seen = Vec::new();
        for (from, to) in pairs {
            let to = match self.parents {
                true => self.below_parents(&from, &to),
                false => Some(to),
            };
            let Some(to) = to else {
                well = false;
                continue;
            };
            if self.clone {
                let names = (quoted(&to), quoted(&from));
                complain("cp", &format!("failed to clone {} from {}: Operation not supported", names.0, names.1));
                well = false;
                continue;
            }
            let is_seen = |(path, target): &(Vec<u8>, Vec<u8>)| *target == to && same_entry(path, &from);
            let is_folder = || tidebox_rt::stat(&from, true).is_ok_and(|stat| stat.kind() == FileKind::Dir);
            if seen.iter().any(is_seen) && !is_folder() && !self.options.backup.is_wanted() {
                complain("cp", &format!("warning: source file {} specified more than once", quoted(&from)));
                continue;
            }
            if self.is_own_backup(&from, &to) {
                let backup = self.options.backup.name(&to);
                well &= Copier::new(&Options { backup: Backup::default(), ..self.options.clone() }).run(&from, &backup);
                continue;
            }
            well &= copier.run(&from, &to);
            seen.push((from, to));
        }
        well
    }

    /// Whether a file replaces itself, and so has only its backup to become a copy of it.
    fn is_own_backup(&self, from: &[u8], to: &[u8]) -> bool {
        self.options.force
            && from == to
            && self.options.backup.is_wanted()
            && tidebox_rt::stat(from, false).is_ok_and(|stat| stat.kind() == FileKind::File)
    }

    fn read(given: Vec<(char, Vec<u8>)>) -> Result<Self, String> {
        let mut asked = Self::default();
        asked.options.tool = "cp";
        for (key, value) in given {
            asked.set(key, value)?;
        }
        asked.options.backup.settle()?;
        let otherwise =
            if asked.options.recursive && !asked.options.hard_link { Follow::Never } else { Follow::Always };
        asked.options.follow = asked.follow.unwrap_or(otherwise);
        Ok(asked)
    }

    fn set(&mut self, key: char, value: Vec<u8>) -> Result<(), String> {
        let options = &mut self.options;
        match key {
            'a' => {
                self.follow = Some(Follow::Never);
                (options.recursive, options.special) = (true, true);
                (options.preserve_mode, options.preserve_times, options.preserve_links) = (true, true, true);
            }
            'b' => options.backup.want((!value.is_empty()).then_some(value)),
            'd' => (self.follow, options.preserve_links) = (Some(Follow::Never), true),
            'f' => options.force = true,
            'H' => self.follow = Some(Follow::Named),
            'i' => options.existing = Existing::Ask,
            'l' => options.hard_link = true,
            'L' => self.follow = Some(Follow::Always),
            'n' => options.existing = Existing::Keep,
            'p' => (options.preserve_mode, options.preserve_times) = (true, true),
            'r' | 'R' => (options.recursive, options.special) = (true, true),
            's' => options.symbolic_link = true,
            't' if self.target.folder.is_some() => return Err("multiple target directories specified".to_owned()),
            't' => self.target.folder = Some(value),
            'u' => options.update = true,
            'v' => options.verbose = true,
            'x' => options.one_file_system = true,
            'P' => self.follow = Some(Follow::Never),
            'S' => options.backup.suffix(value),
            'T' => self.target.is_name = true,
            ATTRIBUTES => options.attributes_only = true,
            COPY_CONTENTS => options.special = false,
            PARENTS => self.parents = true,
            PRESERVE => preserve("--preserve", &value, true, options)?,
            NO_PRESERVE => preserve("--no-preserve", &value, false, options)?,
            REFLINK => self.clone = !value.is_empty() && choose("--reflink", &value, WHEN)? == 1 || value.is_empty(),
            REMOVE => options.remove_destination = true,
            SPARSE => drop(choose("--sparse", &value, &[&["never"], &["auto"], &["always"]])?),
            STRIP => self.target.strip = true,
            CONTEXT => {
                complain("cp", "warning: ignoring --context; it requires an SELinux-enabled kernel");
            }
            _ => {}
        }
        Ok(())
    }

    /// Makes the folders of a source below the target folder. The copy's name; `None` when it failed.
    fn below_parents(&self, from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
        let folder = to.get(..to.len().saturating_sub(crate::target::base_name(from).len() + 1)).unwrap_or_default();
        let from = without_slashes(from);
        let mut end = 0;
        while let Some(length) = from.get(end..)?.iter().position(|byte| *byte == b'/') {
            end += length;
            let part = from.get(..end).unwrap_or_default();
            end += 1;
            if part.is_empty() || part.ends_with(b"/") {
                continue;
            }
            let made = join(folder, part.strip_prefix(b"/").unwrap_or(part));
            self.parent(part, &made)?;
        }
        Some(join(folder, from.strip_prefix(b"/").unwrap_or(from)))
    }

    /// Makes one of the folders above a copy; `None` when it failed.
    fn parent(&self, from: &[u8], made: &[u8]) -> Option<()> {
        let failed = |error: Errno, what: &str| complain("cp", &format!("{what}: {}", error.text()));
        let stat = tidebox_rt::stat(from, true)
            .map_err(|error| failed(error, &format!("failed to get attributes of {}", quoted(from))))
            .ok()?;
        if stat.kind() != FileKind::Dir {
            failed(Errno::NOTDIR, &format!("failed to get attributes of {}", quoted(from)));
            return None;
        }
        let new = tidebox_rt::stat(made, true).is_err();
        if new {
            tidebox_rt::make_dir(made)
                .map_err(|error| failed(error, &format!("cannot make directory {}", quoted(made))))
                .ok()?;
            if self.options.verbose {
                let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
                say("cp", &format!("{} -> {}", shown(from), shown(made)));
            }
        }
        let umask = tidebox_rt::umask(None).unwrap_or(0o022);
        let mode = match (self.options.preserve_mode, self.options.default_mode) {
            (true, _) => stat.mode & 0o7777,
            (false, true) => 0o777 & !umask,
            (false, false) => stat.mode & 0o777 & !umask,
        };
        if new || self.options.preserve_mode {
            data::set_mode("cp", made, mode, self.options.preserve_mode);
        }
        Some(())
    }
}

/// `--preserve` and `--no-preserve`: a list of words.
fn preserve(option: &str, list: &[u8], on: bool, options: &mut Options) -> Result<(), String> {
    if list.is_empty() {
        (options.preserve_mode, options.preserve_times) = (on, on);
        return Ok(());
    }
    for word in list.split(|byte| *byte == b',') {
        match choose(option, word, PARTS)? {
            0 => (options.preserve_mode, options.default_mode) = (on, !on),
            1 => options.preserve_times = on,
            3 => options.preserve_links = on,
            6 => {
                (options.preserve_mode, options.preserve_times, options.preserve_links) = (on, on, on);
                options.default_mode = !on;
            }
            // Everything belongs to one user here, and there are neither contexts nor attributes to keep.
            _ => {}
        }
    }
    Ok(())
}
