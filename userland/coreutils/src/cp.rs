//! `cp`: copies files and directories.

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::message::{print_error, quote_path};
use tidebox_gnu::options::{ParsedOption, Syntax};
use tidebox_gnu::tool::usage;
use tidebox_rt::{Errno, FileKind};

use crate::common::copy::{Copier, Existing, Follow, Options};
use crate::common::data;
use crate::common::print_line;
use crate::common::target::{Target, TargetError, join, same_entry, without_slashes};
use tidebox_gnu::backup::Backup;

const USAGE: &str = "\
Usage: cp [OPTION]... [-T] SOURCE DEST
  or:  cp [OPTION]... SOURCE... DIRECTORY
  or:  cp [OPTION]... -t DIRECTORY SOURCE...
Copies SOURCE to DEST, or each SOURCE into DIRECTORY.

";

tidebox_gnu::options! {
    /// Options of `cp`.
    enum Flag {
        Archive = "-a, --archive", "same as -dR --preserve=all";
        AttributesOnly = "--attributes-only", "copy only the attributes, not the content";
        Backup = "-b, --backup[=HOW]", "back up replaced files: none, simple, existing or numbered";
        LinksAsLinks = "-d", "same as --no-dereference --preserve=links";
        Force = "-f, --force", "remove a destination that cannot be opened, and try again";
        DereferenceArguments = "-H", "follow symbolic links that are operands";
        Interactive = "-i, --interactive", "ask before a file is replaced";
        Dereference = "-L, --dereference", "follow symbolic links";
        Link = "-l, --link", "make hard links instead of copies";
        NoClobber = "-n, --no-clobber", "do not overwrite existing files";
        NoDereference = "-P, --no-dereference", "copy symbolic links as links";
        PreserveAttributes = "-p", "same as --preserve=mode,ownership,timestamps";
        Preserve = "--preserve[=WHAT]", "preserve mode, ownership, timestamps, links, context, xattr or all";
        NoPreserve = "--no-preserve=WHAT", "do not preserve WHAT";
        Parents = "--parents | --path", "use the full SOURCE path below DIRECTORY";
        Recursive = "-R, -r, --recursive", "copy directories recursively";
        Reflink = "--reflink[=WHEN]", "always fails, auto makes an ordinary copy";
        RemoveDestination = "--remove-destination", "remove existing destinations first";
        Sparse = "--sparse=WHEN", "has no effect";
        StripTrailingSlashes = "--strip-trailing-slashes", "remove trailing slashes from each SOURCE";
        SymbolicLink = "-s, --symbolic-link", "make symbolic links instead of copies";
        Suffix = "-S, --suffix=SUFFIX", "suffix of backups";
        TargetDirectory = "-t, --target-directory=DIRECTORY", "copy into DIRECTORY";
        NoTargetDirectory = "-T, --no-target-directory", "treat DEST as a normal file";
        Update = "-u, --update", "copy only if SOURCE is newer or DEST is missing";
        Verbose = "-v, --verbose", "print each copy";
        OneFileSystem = "-x, --one-file-system", "stay on one file system";
        SelinuxContext = "-Z", "";
        Context = "--context[=X]", "";
        CopyContents = "--copy-contents", "";
    }
}

const WHEN: &[&[&str]] = &[&["auto"], &["always"], &["never"]];

const PARTS: &[&[&str]] = &[&["mode"], &["timestamps"], &["ownership"], &["links"], &["context"], &["xattr"], &["all"]];

/// Parsed command line.
#[derive(Debug, Default)]
struct Args {
    options: Options,
    target: Target,
    follow: Option<Follow>,
    parents: bool,
    clone: bool,
}

/// Runs `cp`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let line = Syntax::core("cp", USAGE, 32);
    let read = line.split(arguments).and_then(|(options, operands)| {
        let args = Args::parse(options).map_err(|message| line.usage_error::<i32>(message))?;
        Ok((args, operands))
    });
    let (args, operands) = match read {
        Ok(read) => read,
        Err(code) => return code,
    };
    if args.options.hard_link && args.options.symbolic_link {
        return usage("cp", "cannot make both hard and symbolic links", 1);
    }
    if args.options.backup.is_wanted() && args.options.existing == Existing::Keep {
        return usage("cp", "options --backup and --no-clobber are mutually exclusive", 1);
    }
    let (pairs, into_folder) = match args.target.pairs(operands) {
        Ok(found) => found,
        Err(TargetError::Usage(message)) => return usage("cp", &message, 1),
        Err(TargetError::Failure(message)) => {
            print_error("cp", &message);
            return 1;
        }
    };
    if args.parents && !into_folder {
        return usage("cp", "with --parents, the destination must be a directory", 1);
    }
    i32::from(!args.copy_all(pairs))
}

impl Args {
    /// Copies each file to its target. Returns whether all succeeded.
    fn copy_all(&self, pairs: Vec<(Vec<u8>, Vec<u8>)>) -> bool {
        let mut copier = Copier::new(&self.options);
        let mut succeeded = true;
        let mut seen = Vec::new();
        for (from, to) in pairs {
            let to = match self.parents {
                true => self.below_parents(&from, &to),
                false => Some(to),
            };
            let Some(to) = to else {
                succeeded = false;
                continue;
            };
            if self.clone {
                let names = (quote_path(&to), quote_path(&from));
                print_error("cp", &format!("failed to clone {} from {}: Operation not supported", names.0, names.1));
                succeeded = false;
                continue;
            }
            let is_seen = |(path, target): &(Vec<u8>, Vec<u8>)| *target == to && same_entry(path, &from);
            let is_folder = || tidebox_rt::stat(&from, true).is_ok_and(|stat| stat.kind() == FileKind::Dir);
            if seen.iter().any(is_seen) && !is_folder() && !self.options.backup.is_wanted() {
                print_error("cp", &format!("warning: source file {} specified more than once", quote_path(&from)));
                continue;
            }
            if self.is_own_backup(&from, &to) {
                let backup = self.options.backup.name(&to);
                succeeded &=
                    Copier::new(&Options { backup: Backup::default(), ..self.options.clone() }).run(&from, &backup);
                continue;
            }
            succeeded &= copier.run(&from, &to);
            seen.push((from, to));
        }
        succeeded
    }

    /// Returns whether source and target are the same operand and `--force --backup` turns the copy into a backup.
    fn is_own_backup(&self, from: &[u8], to: &[u8]) -> bool {
        self.options.force
            && from == to
            && self.options.backup.is_wanted()
            && tidebox_rt::stat(from, false).is_ok_and(|stat| stat.kind() == FileKind::File)
    }

    fn parse(given: Vec<ParsedOption<Flag>>) -> Result<Self, String> {
        let mut args = Self::default();
        args.options.tool = "cp";
        for ParsedOption { id: key, value, .. } in given {
            args.set(key, value)?;
        }
        args.options.backup.resolve()?;
        let default = if args.options.recursive && !args.options.hard_link { Follow::Never } else { Follow::Always };
        args.options.follow = args.follow.unwrap_or(default);
        Ok(args)
    }

    fn set(&mut self, key: Flag, value: Vec<u8>) -> Result<(), String> {
        let options = &mut self.options;
        match key {
            Flag::Archive => {
                self.follow = Some(Follow::Never);
                (options.recursive, options.special) = (true, true);
                (options.preserve_mode, options.preserve_times, options.preserve_links) = (true, true, true);
            }
            Flag::Backup => options.backup.set_control((!value.is_empty()).then_some(value)),
            Flag::LinksAsLinks => (self.follow, options.preserve_links) = (Some(Follow::Never), true),
            Flag::Force => options.force = true,
            Flag::DereferenceArguments => self.follow = Some(Follow::Named),
            Flag::Interactive => options.existing = Existing::Ask,
            Flag::Link => options.hard_link = true,
            Flag::Dereference => self.follow = Some(Follow::Always),
            Flag::NoClobber => options.existing = Existing::Keep,
            Flag::PreserveAttributes => (options.preserve_mode, options.preserve_times) = (true, true),
            Flag::Recursive => (options.recursive, options.special) = (true, true),
            Flag::SymbolicLink => options.symbolic_link = true,
            Flag::TargetDirectory if self.target.directory.is_some() => {
                return Err("multiple target directories specified".to_owned());
            }
            Flag::TargetDirectory => self.target.directory = Some(value),
            Flag::Update => options.update = true,
            Flag::Verbose => options.verbose = true,
            Flag::OneFileSystem => options.one_file_system = true,
            Flag::NoDereference => self.follow = Some(Follow::Never),
            Flag::Suffix => options.backup.suffix(value),
            Flag::NoTargetDirectory => self.target.is_name = true,
            Flag::AttributesOnly => options.attributes_only = true,
            Flag::CopyContents => options.special = false,
            Flag::Parents => self.parents = true,
            Flag::Preserve => preserve("--preserve", &value, true, options)?,
            Flag::NoPreserve => preserve("--no-preserve", &value, false, options)?,
            Flag::Reflink => {
                self.clone = !value.is_empty() && parse_choice("--reflink", &value, WHEN)? == 1 || value.is_empty()
            }
            Flag::RemoveDestination => options.remove_destination = true,
            Flag::Sparse => drop(parse_choice("--sparse", &value, &[&["never"], &["auto"], &["always"]])?),
            Flag::StripTrailingSlashes => self.target.strip = true,
            Flag::Context => {
                print_error("cp", "warning: ignoring --context; it requires an SELinux-enabled kernel");
            }
            _ => {}
        }
        Ok(())
    }

    /// Creates the parent directories of a source below the target directory. Returns the name of the copy; `None` on an
    /// error.
    fn below_parents(&self, from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
        let folder =
            to.get(..to.len().saturating_sub(crate::common::target::base_name(from).len() + 1)).unwrap_or_default();
        let from = without_slashes(from);
        let mut end = 0;
        while let Some(length) = from.get(end..)?.iter().position(|byte| *byte == b'/') {
            end += length;
            let part = from.get(..end).unwrap_or_default();
            end += 1;
            if part.is_empty() || part.ends_with(b"/") {
                continue;
            }
            let created = join(folder, part.strip_prefix(b"/").unwrap_or(part));
            self.create_parent(part, &created)?;
        }
        Some(join(folder, from.strip_prefix(b"/").unwrap_or(from)))
    }

    /// Creates one parent directory of a copy; `None` on an error.
    fn create_parent(&self, from: &[u8], created: &[u8]) -> Option<()> {
        let failed = |error: Errno, what: &str| print_error("cp", &format!("{what}: {}", error.text()));
        let stat = tidebox_rt::stat(from, true)
            .map_err(|error| failed(error, &format!("failed to get attributes of {}", quote_path(from))))
            .ok()?;
        if stat.kind() != FileKind::Dir {
            failed(Errno::NOTDIR, &format!("failed to get attributes of {}", quote_path(from)));
            return None;
        }
        let new = tidebox_rt::stat(created, true).is_err();
        if new {
            tidebox_rt::make_dir(created)
                .map_err(|error| failed(error, &format!("cannot make directory {}", quote_path(created))))
                .ok()?;
            if self.options.verbose {
                let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
                print_line("cp", &format!("{} -> {}", shown(from), shown(created)));
            }
        }
        let umask = tidebox_rt::umask(None).unwrap_or(0o022);
        let mode = match (self.options.preserve_mode, self.options.default_mode) {
            (true, _) => stat.mode & 0o7777,
            (false, true) => 0o777 & !umask,
            (false, false) => stat.mode & 0o777 & !umask,
        };
        if new || self.options.preserve_mode {
            data::set_mode("cp", created, mode, self.options.preserve_mode);
        }
        Some(())
    }
}

/// Applies the list of `--preserve` or `--no-preserve`.
fn preserve(option: &str, list: &[u8], on: bool, options: &mut Options) -> Result<(), String> {
    if list.is_empty() {
        (options.preserve_mode, options.preserve_times) = (on, on);
        return Ok(());
    }
    for word in list.split(|byte| *byte == b',') {
        match parse_choice(option, word, PARTS)? {
            0 => (options.preserve_mode, options.default_mode) = (on, !on),
            1 => options.preserve_times = on,
            3 => options.preserve_links = on,
            6 => {
                (options.preserve_mode, options.preserve_times, options.preserve_links) = (on, on, on);
                options.default_mode = !on;
            }
            // All files have one owner, and neither contexts nor extended attributes exist.
            _ => {}
        }
    }
    Ok(())
}
