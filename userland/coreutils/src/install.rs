//! `install`: copies files and sets their modes.

use tidebox_gnu::backup::Backup;
use tidebox_gnu::message::{print_error, quote_path, quote_value};
use tidebox_gnu::mode::Change;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, FileKind, Stat};

use crate::common::data::{self, ContentOptions};
use crate::common::owner::{self, Owner};
use crate::common::print_line;
use crate::common::target::{Target, TargetError, parent_dir};

const USAGE: &str = "\
Usage: install [OPTION]... [-T] SOURCE DEST
  or:  install [OPTION]... SOURCE... DIRECTORY
  or:  install [OPTION]... -t DIRECTORY SOURCE...
  or:  install [OPTION]... -d DIRECTORY...

";

/// Default mode of installed files and directories.
const MODE: u32 = 0o755;

tidebox_gnu::options! {
    /// Options of `install`.
    enum Flag {
        Backup = "--backup[=CONTROL]", "make a backup of each existing destination file";
        SimpleBackup = "-b", "like --backup but does not accept an argument";
        Compare = "-C, --compare", "do not replace a destination that is the same already";
        Directory = "-d, --directory", "create all directories of the arguments";
        MakeParents = "-D", "create missing parent directories of DEST";
        Group = "-g, --group=GROUP", "set group";
        Mode = "-m, --mode=MODE", "set permissions (as in chmod), instead of rwxr-xr-x";
        Owner = "-o, --owner=OWNER", "set owner";
        PreserveTimestamps = "-p, --preserve-timestamps", "give copies the times of their sources";
        Suffix = "-S, --suffix=SUFFIX", "append SUFFIX to names of backups";
        TargetDirectory = "-t, --target-directory=DIRECTORY", "copy all SOURCE arguments into DIRECTORY";
        NoTargetDirectory = "-T, --no-target-directory", "treat DEST as a normal file";
        Verbose = "-v, --verbose", "print what is done";
        Ignored = "-c", "";
        Strip = "-s, --strip", "", unsupported "stripping (-s) is not supported: there is no program to strip";
        StripProgram = "--strip-program=X", "", unsupported "stripping (-s) is not supported: there is no program to strip";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("install", USAGE, 22);

#[derive(Debug, Default)]
struct Install {
    mode: Option<Change>,
    owner: Owner,
    backup: Backup,
    compare: bool,
    /// Operands are directories to create.
    directories: bool,
    /// Create missing parent directories.
    parents: bool,
    times: bool,
    target: Target,
    verbose: bool,
    failed: bool,
}

/// Runs `install`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut install = Install { target: Target { accesses: true, ..Target::default() }, ..Install::default() };
    match install.run(arguments) {
        Ok(()) => i32::from(install.failed),
        Err(code) => code,
    }
}

fn fail(message: &str) -> i32 {
    print_error("install", message);
    1
}

impl Install {
    /// Applies one option. An error is the exit code.
    fn set(&mut self, key: Flag, value: Vec<u8>) -> Result<(), i32> {
        match key {
            Flag::SimpleBackup => self.backup.set_control(None),
            Flag::Backup => self.backup.set_control(Some(value)),
            Flag::Compare => self.compare = true,
            Flag::Directory => self.directories = true,
            Flag::MakeParents => self.parents = true,
            Flag::Group => match owner::group(&value) {
                Ok(owner) => self.owner.group = owner.group,
                Err(_) => return Err(fail(&format!("invalid group {}", quote_value(&value)))),
            },
            Flag::Owner => match owner::parse(&value) {
                Ok((owner, _)) if owner.group.is_none() => self.owner.user = owner.user,
                _ => return Err(fail(&format!("invalid user {}", quote_value(&value)))),
            },
            Flag::Mode => match std::str::from_utf8(&value).ok().and_then(Change::parse) {
                Some(change) => self.mode = Some(change),
                None => return Err(fail(&format!("invalid mode {}", quote_value(&value)))),
            },
            Flag::PreserveTimestamps => self.times = true,
            Flag::Suffix => self.backup.suffix(value),
            Flag::TargetDirectory => self.target.directory = Some(value),
            Flag::NoTargetDirectory => self.target.is_name = true,
            Flag::Verbose => self.verbose = true,
            _ => {}
        }
        Ok(())
    }

    /// Parses the command line and installs everything. An error is the exit code of a command line that installs nothing.
    fn run(&mut self, arguments: Vec<Vec<u8>>) -> Result<(), i32> {
        let operands = LINE.parse(arguments, |key, value| self.set(key, value))?;
        self.backup.resolve().map_err(|message| LINE.usage_error::<i32>(message))?;
        if self.directories && self.target.directory.is_some() {
            return Err(fail("target directory not allowed when installing a directory"));
        }
        if self.directories && !operands.is_empty() {
            operands.iter().for_each(|path| self.directory(path));
            return Ok(());
        }
        if self.parents
            && let Some(directory) = self.target.directory.clone()
        {
            self.create_directories(&directory);
        }
        let (pairs, into_directory) = self.target.pairs(operands).map_err(|error| match error {
            TargetError::Usage(message) => LINE.usage_error(message),
            TargetError::Failure(message) => fail(&message),
        })?;
        for (source, target) in pairs {
            if self.parents && !into_directory {
                self.create_directories(parent_dir(&target));
            }
            self.file(&source, &target);
        }
        Ok(())
    }

    fn report_error(&mut self, message: &str) {
        self.failed = true;
        print_error("install", message);
    }

    /// Prints a line of `--verbose`.
    fn report(&mut self, line: &str) {
        if self.verbose {
            self.failed |= !print_line("install", line);
        }
    }

    /// Creates a directory and its missing parents, and reports each one.
    fn create_directories(&mut self, directory: &[u8]) -> bool {
        let is_dir = |path: &[u8]| tidebox_rt::stat(path, true).is_ok_and(|stat| stat.kind() == FileKind::Dir);
        for path in with_parents(directory).into_iter().filter(|path| !is_dir(path)) {
            if let Err(errno) = tidebox_rt::make_dir(path) {
                let reason = if path != directory && errno == Errno::EXIST { Errno::NOTDIR } else { errno };
                self.report_error(&format!("cannot create directory {}: {}", quote_value(path), reason.text()));
                return false;
            }
            // Parents have the default mode, independent of the umask.
            if let Err(errno) = tidebox_rt::chmod(path, MODE) {
                self.report_error(&format!("cannot change permissions of {}: {}", quote_path(path), errno.text()));
            }
            self.report(&format!("install: creating directory {}", quote_path(path)));
        }
        true
    }

    fn directory(&mut self, path: &[u8]) {
        if self.create_directories(path) {
            self.set_attributes(path, true);
        }
    }

    /// Copies one file.
    fn file(&mut self, source: &[u8], target: &[u8]) {
        let stat = match tidebox_rt::stat(source, true) {
            Ok(stat) => stat,
            Err(errno) => return self.report_error(&format!("cannot stat {}: {}", quote_path(source), errno.text())),
        };
        if stat.kind() == FileKind::Dir {
            return self.report_error(&format!("omitting directory {}", quote_path(source)));
        }
        let old = tidebox_rt::stat(target, false).ok();
        if old.is_some_and(|old| old.kind() == FileKind::Dir) {
            return self.report_error(&format!("cannot overwrite directory {} with non-directory", quote_path(target)));
        }
        if old.is_some_and(|old| (old.dev, old.ino) == (stat.dev, stat.ino)) {
            let message = format!("{} and {} are the same file", quote_path(source), quote_path(target));
            return self.report_error(&message);
        }
        if self.compare && old.is_some_and(|old| self.is_same(source, target, &old)) {
            return;
        }
        let mut note = String::new();
        if old.is_some() {
            match self.clear(target) {
                Ok(backup) => note = backup.map(|name| format!(" (backup: {})", quote_path(&name))).unwrap_or_default(),
                Err(message) => return self.report_error(&message),
            }
        }
        self.report(&format!("{} -> {}{note}", quote_path(source), quote_path(target)));
        let options = ContentOptions { new: true, force: false, attributes_only: false, verbose: false };
        if data::copy("install", source, target, options).is_none() {
            self.failed = true;
            return;
        }
        if self.times && !data::keep_times("install", &stat, target, true) {
            self.failed = true;
        }
        self.set_attributes(target, false);
    }

    /// Removes the existing target, or renames it to its backup and returns the backup name.
    fn clear(&mut self, target: &[u8]) -> Result<Option<Vec<u8>>, String> {
        if self.backup.is_wanted() {
            let backup = self.backup.make(target);
            return backup.map(Some).map_err(|errno| format!("cannot backup {}: {}", quote_path(target), errno.text()));
        }
        tidebox_rt::unlink(target)
            .map_err(|errno| format!("cannot remove {}: {}", quote_path(target), errno.text()))?;
        self.report(&format!("removed {}", quote_path(target)));
        Ok(None)
    }

    fn mode_of(&self, is_dir: bool) -> u32 {
        self.mode.as_ref().map_or(MODE, |change| change.apply(0, is_dir, 0))
    }

    /// Returns whether the target already has the content, mode and owner.
    fn is_same(&self, source: &[u8], target: &[u8], old: &Stat) -> bool {
        let read = |name: &[u8]| Input::file(name).and_then(|mut input| input.read_to_end());
        old.kind() == FileKind::File
            && old.mode & 0o7777 == self.mode_of(false)
            && self.owner.user.is_none_or(|user| user == old.uid)
            && self.owner.group.is_none_or(|group| group == old.gid)
            && matches!((read(source), read(target)), (Ok(new), Ok(old)) if new == old)
    }

    fn set_attributes(&mut self, target: &[u8], is_dir: bool) {
        let stat = match tidebox_rt::stat(target, true) {
            Ok(stat) => stat,
            Err(errno) => return self.report_error(&format!("cannot stat {}: {}", quote_path(target), errno.text())),
        };
        if !self.owner.is_allowed(&stat) {
            let reason = Errno::PERM.text();
            return self.report_error(&format!("cannot change ownership of {}: {reason}", quote_path(target)));
        }
        if let Err(errno) = tidebox_rt::chmod(target, self.mode_of(is_dir)) {
            self.report_error(&format!("cannot change permissions of {}: {}", quote_path(target), errno.text()));
        }
    }
}

/// Returns a directory and its parents, the topmost first, without `.` and `..`.
fn with_parents(directory: &[u8]) -> Vec<&[u8]> {
    let ends = (1..=directory.len()).filter(|end| directory.get(*end).is_none_or(|byte| *byte == b'/'));
    let is_name = |path: &&[u8]| {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        !matches!(name, b"" | b"." | b"..")
    };
    let mut paths: Vec<&[u8]> = ends.filter_map(|end| directory.get(..end)).filter(is_name).collect();
    // Trailing slashes belong to the last name.
    if let Some(last) = paths.last_mut()
        && directory.get(last.len()..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'/'))
    {
        *last = directory;
    }
    paths
}
