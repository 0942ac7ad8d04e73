//! `install`: copies files to where they are used from, and sets their modes.

mod place;
use std::fs;

use tidebox_gnu::message::{bytes_path, error_text, path_bytes, print_error};
use tidebox_gnu::mode::Change;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::Output;
use tidebox_gnu::tool::usage;
use tidebox_rt::{Errno, FileKind};

use crate::common::owner::{self, Owner};
use crate::common::{curly, quoted};

const USAGE: &str = "\
Usage: install [OPTION]... [-T] SOURCE DEST
  or:  install [OPTION]... SOURCE... DIRECTORY
  or:  install [OPTION]... -t DIRECTORY SOURCE...
  or:  install [OPTION]... -d DIRECTORY...

";

/// The mode of what is installed when nobody says otherwise.
const MODE: u32 = 0o755;

tidebox_gnu::options! {
    /// Options of `install`.
    enum Flag {
        Backup = "--backup[=CONTROL]", "make a backup of each existing destination file";
        SimpleBackup = "-b", "like --backup but does not accept an argument";
        Compare = "-C, --compare", "leave a destination alone that is the same already";
        Directory = "-d, --directory", "make all directories of the arguments";
        MakeParents = "-D", "make what is missing above DEST";
        Group = "-g, --group=GROUP", "set group";
        Mode = "-m, --mode=MODE", "set permissions (as in chmod), instead of rwxr-xr-x";
        Owner = "-o, --owner=OWNER", "set owner";
        PreserveTimestamps = "-p, --preserve-timestamps", "give copies the times of their sources";
        Suffix = "-S, --suffix=SUFFIX", "put SUFFIX behind names of backups";
        TargetDirectory = "-t, --target-directory=DIRECTORY", "copy all SOURCE arguments into DIRECTORY";
        NoTargetDirectory = "-T, --no-target-directory", "treat DEST as a normal file";
        Verbose = "-v, --verbose", "print what is done";
        Ignored = "-c", "";
        Strip = "-s, --strip", "";
        StripProgram = "--strip-program=X", "";
    }
}

struct Options {
    mode: Option<Change>,
    owner: Owner,
    backup: Option<Numbering>,
    suffix: Vec<u8>,
    compare: bool,
    folders: bool,
    leading: bool,
    times: bool,
    target: Option<Vec<u8>>,
    no_target: bool,
    verbose: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    Simple,
    Numbered,
    Existing,
}

fn numbering(name: &[u8]) -> Option<Option<Numbering>> {
    Some(match name {
        b"none" | b"off" => None,
        b"simple" | b"never" => Some(Numbering::Simple),
        b"existing" | b"nil" | b"" => Some(Numbering::Existing),
        b"numbered" | b"t" => Some(Numbering::Numbered),
        _ => return None,
    })
}

fn backup_types() -> String {
    let pairs: [(&[u8], &[u8]); 4] =
        [(b"none", b"off"), (b"simple", b"never"), (b"existing", b"nil"), (b"numbered", b"t")];
    let line = |(one, other): &(&[u8], &[u8])| format!("\n  - {}, {}", curly(one), curly(other));
    "Valid arguments are:".to_owned() + &pairs.iter().map(line).collect::<String>()
}

fn fail(message: &str) -> i32 {
    print_error("install", message);
    1
}

/// Runs `install`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options::unset();
    let line = Syntax::core("install", USAGE, 22);
    let operands = line.parse::<i32>(arguments, |key, value| options.set(key, value, &line));
    let operands = match operands {
        Ok(operands) => operands,
        Err(code) => return code,
    };
    let mut install = Install { options, out: Output::standard(), failed: false };
    match install.run(operands) {
        Ok(()) => {
            let code = i32::from(install.failed);
            install.out.finish("install", code)
        }
        Err(Wrong::Usage(message)) => usage("install", &message, 1),
        Err(Wrong::Target(message)) => fail(&message),
    }
}

impl Options {
    /// Returns the default options.
    fn unset() -> Self {
        let suffix = std::env::var_os("SIMPLE_BACKUP_SUFFIX").filter(|suffix| !suffix.is_empty());
        Self {
            mode: None,
            owner: Owner::default(),
            backup: None,
            suffix: suffix.map_or_else(|| b"~".to_vec(), |suffix| suffix.into_encoded_bytes()),
            compare: false,
            folders: false,
            leading: false,
            times: false,
            target: None,
            no_target: false,
            verbose: false,
        }
    }

    /// Does what one option asks for. An error is the code to end with.
    fn set(&mut self, key: Flag, value: Vec<u8>, line: &Syntax<'_, Flag>) -> Result<(), i32> {
        match key {
            Flag::SimpleBackup => self.backup = self.backup.or(Some(Numbering::Existing)),
            Flag::Backup => match numbering(&value) {
                Some(numbering) => self.backup = numbering,
                None => {
                    let message = format!("invalid argument {} for {}", curly(&value), curly(b"backup type"));
                    return Err(line.usage_error(message + "\n" + &backup_types()));
                }
            },
            Flag::Compare => self.compare = true,
            Flag::Directory => self.folders = true,
            Flag::MakeParents => self.leading = true,
            Flag::Group => match owner::group(&value) {
                Ok(owner) => self.owner.group = owner.group,
                Err(_) => return Err(fail(&format!("invalid group {}", curly(&value)))),
            },
            Flag::Owner => match owner::parse(&value) {
                Ok((owner, _)) if owner.group.is_none() => self.owner.user = owner.user,
                _ => return Err(fail(&format!("invalid user {}", curly(&value)))),
            },
            Flag::Mode => match std::str::from_utf8(&value).ok().and_then(Change::parse) {
                Some(change) => self.mode = Some(change),
                None => return Err(fail(&format!("invalid mode {}", curly(&value)))),
            },
            Flag::PreserveTimestamps => self.times = true,
            Flag::Suffix => (self.suffix, self.backup) = (value, self.backup.or(Some(Numbering::Existing))),
            Flag::TargetDirectory => self.target = Some(value),
            Flag::NoTargetDirectory => self.no_target = true,
            Flag::Verbose => self.verbose = true,
            Flag::Strip | Flag::StripProgram => {
                return Err(fail("stripping (-s) is not supported: there is no program to strip"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Error that prevents any installation.
enum Wrong {
    Usage(String),
    Target(String),
}

struct Install {
    options: Options,
    out: Output,
    failed: bool,
}

impl Install {
    fn complain(&mut self, message: &str) {
        self.failed = true;
        self.out.flush_now();
        print_error("install", message);
    }

    fn tell(&mut self, text: &str) {
        if self.options.verbose {
            self.out.push(text.as_bytes());
        }
    }

    fn run(&mut self, mut operands: Vec<Vec<u8>>) -> Result<(), Wrong> {
        if self.options.folders && self.options.target.is_some() {
            return Err(Wrong::Target("target directory not allowed when installing a directory".to_owned()));
        }
        let Some(first) = operands.first().cloned() else {
            return Err(Wrong::Usage("missing file operand".to_owned()));
        };
        if self.options.folders {
            operands.iter().for_each(|folder| self.folder(folder));
            return Ok(());
        }
        if let Some(target) = self.options.target.clone() {
            if self.options.leading {
                self.make_folders(&target);
            }
            match tidebox_rt::stat(&target, true) {
                Ok(stat) if stat.kind() == FileKind::Dir => {}
                Ok(_) => return Err(Wrong::Target(format!("target {}: Not a directory", quoted(&target)))),
                Err(errno) => {
                    return Err(Wrong::Target(format!("failed to access {}: {}", quoted(&target), errno.text())));
                }
            }
            operands.iter().for_each(|source| self.place_in(source, &target));
            return Ok(());
        }
        if operands.len() < 2 {
            return Err(Wrong::Usage(format!("missing destination file operand after {}", quoted(&first))));
        }
        if self.options.no_target && operands.len() > 2 {
            let extra = operands.get(2).cloned().unwrap_or_default();
            return Err(Wrong::Usage(format!("extra operand {}", quoted(&extra))));
        }
        let target = operands.pop().unwrap_or_default();
        let state = tidebox_rt::stat(&target, true);
        let is_folder = state.is_ok_and(|stat| stat.kind() == FileKind::Dir);
        if is_folder && !self.options.no_target {
            operands.iter().for_each(|source| self.place_in(source, &target));
            return Ok(());
        }
        if operands.len() > 1 {
            let why = state.err().unwrap_or(Errno::NOTDIR);
            return Err(Wrong::Target(format!("target {}: {}", quoted(&target), why.text())));
        }
        if self.options.leading {
            self.make_folders(&above(&target));
        }
        self.file(&first, &target);
        Ok(())
    }

    fn place_in(&mut self, source: &[u8], folder: &[u8]) {
        let name = source.split(|byte| *byte == b'/').rfind(|part| !part.is_empty()).unwrap_or(source);
        let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
        self.file(source, &[folder, slash, name].concat());
    }

    /// Creates a directory and its missing parents, and reports each one.
    fn make_folders(&mut self, folder: &[u8]) -> bool {
        for path in named_on_the_way(folder).into_iter().map(bytes_path).filter(|path| !path.is_dir()) {
            let shown = quoted(path_bytes(path));
            if let Err(error) = fs::create_dir(path) {
                let shown = curly(path_bytes(path));
                let on_the_way = path_bytes(path) != folder && error.kind() == std::io::ErrorKind::AlreadyExists;
                let why = if on_the_way { Errno::NOTDIR.text().to_owned() } else { error_text(&error) };
                self.complain(&format!("cannot create directory {shown}: {why}"));
                return false;
            }
            // What is made on the way has the usual mode, whatever the umask says.
            if let Err(errno) = tidebox_rt::chmod(path_bytes(path), MODE) {
                self.complain(&format!("cannot change permissions of {shown}: {}", errno.text()));
            }
            self.tell(&format!("install: creating directory {shown}\n"));
        }
        true
    }

    fn folder(&mut self, folder: &[u8]) {
        if self.make_folders(folder) {
            self.set_attributes(folder, true);
        }
    }
}

fn above(path: &[u8]) -> Vec<u8> {
    bytes_path(path).parent().map(|folder| path_bytes(folder).to_vec()).unwrap_or_default()
}

/// The folder and those above it, the first one first. What is only `.` or `..` has nothing to make.
fn named_on_the_way(folder: &[u8]) -> Vec<&[u8]> {
    let ends = (1..=folder.len()).filter(|end| folder.get(*end).is_none_or(|byte| *byte == b'/'));
    let named = |path: &&[u8]| {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        !matches!(name, b"" | b"." | b"..")
    };
    let mut paths: Vec<&[u8]> = ends.filter_map(|end| folder.get(..end)).filter(named).collect();
    // Slashes at the end belong to the last name.
    if let Some(last) = paths.last_mut()
        && folder.get(last.len()..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'/'))
    {
        *last = folder;
    }
    paths
}
