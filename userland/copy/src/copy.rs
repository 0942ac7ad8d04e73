//! Copying files and whole trees.

use std::collections::HashMap;

use tidebox_gnu::message::{complain, quoted};
use tidebox_rt::{Errno, FileKind, Stat};

use crate::ask;
use crate::backup::Backup;
use crate::data::{self, How};
use crate::say;
use crate::target::{base_name, folder_of, join, same};

/// Folders in folders that are followed; more would need more memory than a call stack has.
const DEPTH: usize = 1000;

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Follow {
    Never,
    /// Those that are named on the command line.
    Named,
    #[default]
    Always,
}

/// What happens to a file that is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Existing {
    #[default]
    Replace,
    Keep,
    Ask,
}

/// How files are copied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) tool: &'static str,
    pub(crate) follow: Follow,
    pub(crate) existing: Existing,
    pub(crate) backup: Backup,
    pub(crate) recursive: bool,
    pub(crate) hard_link: bool,
    pub(crate) symbolic_link: bool,
    pub(crate) force: bool,
    pub(crate) remove_destination: bool,
    pub(crate) attributes_only: bool,
    pub(crate) update: bool,
    pub(crate) verbose: bool,
    pub(crate) one_file_system: bool,
    pub(crate) preserve_mode: bool,
    pub(crate) default_mode: bool,
    pub(crate) preserve_times: bool,
    pub(crate) preserve_links: bool,
    /// What cannot be preserved is only told of: who moves a file wants it moved.
    pub(crate) preserve_what_can_be: bool,
    /// Not the contents of devices and pipes but such files themselves are wanted.
    pub(crate) special: bool,
}

/// A copy in progress.
#[derive(Debug)]
pub(crate) struct Copier<'a> {
    options: &'a Options,
    /// What was copied so far: the file, to the name that it has now.
    copied: HashMap<(u32, u64), Vec<u8>>,
    /// What this run made, so that it does not overwrite it.
    made: HashMap<(u32, u64), Vec<u8>>,
    /// The folder that is made first, which the copy must not enter.
    first_folder: Option<(u32, u64)>,
    named: (Vec<u8>, Vec<u8>),
    device: u32,
}

impl<'a> Copier<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self {
            options,
            copied: HashMap::new(),
            made: HashMap::new(),
            first_folder: None,
            named: (Vec::new(), Vec::new()),
            device: 0,
        }
    }

    /// Copies what the command line names. Whether all went well.
    pub(crate) fn run(&mut self, from: &[u8], to: &[u8]) -> bool {
        self.first_folder = None;
        self.named = (from.to_vec(), to.to_vec());
        self.copy(from, to, &mut Vec::new())
    }

    fn fail(&self, message: &str) -> bool {
        complain(self.options.tool, message);
        false
    }

    fn copy(&mut self, from: &[u8], to: &[u8], above: &mut Vec<Stat>) -> bool {
        let options = self.options;
        let named = above.is_empty();
        let follow = options.follow == Follow::Always || (named && options.follow == Follow::Named);
        let stat = match tidebox_rt::stat(from, follow) {
            Ok(stat) => stat,
            Err(error) => return self.fail(&format!("cannot stat {}: {}", quoted(from), error.text())),
        };
        let kind = stat.kind();
        if named {
            self.device = stat.dev;
        }
        if kind == FileKind::Dir && !options.recursive {
            return self.fail(&format!("-r not specified; omitting directory {}", quoted(from)));
        }
        if kind == FileKind::Dir && above.iter().any(|folder| same(folder, &stat)) {
            return self.fail(&format!("cannot copy cyclic symbolic link {}", quoted(from)));
        }
        let looks_through = kind != FileKind::Symlink && !options.remove_destination && !options.symbolic_link;
        let there = tidebox_rt::stat(to, looks_through && !options.backup.is_wanted()).ok();
        if there.is_none() && tidebox_rt::stat(to, false).is_ok_and(|stat| stat.kind() == FileKind::Symlink) {
            let is_file = !matches!(kind, FileKind::Dir | FileKind::Symlink);
            if is_file && looks_through && !options.hard_link {
                return self.fail(&format!("not writing through dangling symlink {}", quoted(to)));
            }
        }
        let mut saved = None;
        if let Some(there) = &there {
            match self.clear(from, to, &stat, there, &mut saved) {
                Some(true) => {}
                Some(false) => return true,
                None => return false,
            }
        }
        let new = there.is_none() || tidebox_rt::stat(to, false).is_err();
        if options.verbose && (kind != FileKind::Dir || new) {
            self.tell(from, to, kind, saved.as_deref());
        }
        let key = (stat.dev, stat.ino);
        if options.preserve_links && stat.nlink > 1 && kind != FileKind::Dir {
            if let Some(first) = self.copied.get(&key).cloned() {
                return self.link(&first, to);
            }
            self.copied.insert(key, to.to_vec());
        }
        let done = match kind {
            FileKind::Dir => self.folder(from, to, &stat, new, above),
            _ if options.symbolic_link => self.symbolic(from, to),
            _ if options.hard_link => self.link(from, to),
            FileKind::Symlink => self.symlink(from, to, &stat, new),
            FileKind::File => self.file(from, to, &stat, new),
            _ if options.special => {
                let what = if kind == FileKind::Pipe { "fifo" } else { "special file" };
                self.fail(&format!("cannot create {what} {}: {}", quoted(to), Errno::NOSYS.text()))
            }
            _ => self.file(from, to, &stat, new),
        };
        if done
            && named
            && kind != FileKind::Dir
            && let Ok(made) = tidebox_rt::stat(to, false)
        {
            self.made.insert((made.dev, made.ino), from.to_vec());
        }
        done
    }

    fn tell(&self, from: &[u8], to: &[u8], kind: FileKind, backup: Option<&[u8]>) {
        let backup = backup.map(|name| format!(" (backup: {})", quoted(name))).unwrap_or_default();
        let line = match (self.options.tool, kind) {
            ("mv", FileKind::Dir) => format!("created directory {}", quoted(to)),
            ("mv", _) => format!("copied {} -> {}{backup}", quoted(from), quoted(to)),
            _ => format!("{} -> {}{backup}", quoted(from), quoted(to)),
        };
        say(self.options.tool, &line);
    }

    /// Makes room for a copy where there is something: whether to go on; `None` when it failed.
    fn clear(&self, from: &[u8], to: &[u8], stat: &Stat, there: &Stat, saved: &mut Option<Vec<u8>>) -> Option<bool> {
        let options = self.options;
        let failed = |message: String| {
            complain(options.tool, &message);
            None
        };
        if same(stat, there) && stat.kind() != FileKind::Dir {
            if options.hard_link {
                return Some(false);
            }
            let one_name = same_entry(from, to);
            if one_name || !(options.backup.is_wanted() || options.remove_destination) {
                return failed(format!("{} and {} are the same file", quoted(from), quoted(to)));
            }
        }
        let (folder, other) = (stat.kind() == FileKind::Dir, there.kind() == FileKind::Dir);
        if folder && other {
            return Some(true);
        }
        if options.existing == Existing::Keep || (options.update && there.mtime_ns >= stat.mtime_ns) {
            return Some(false);
        }
        if other && !options.backup.is_wanted() {
            return failed(format!("cannot overwrite directory {} with non-directory", quoted(to)));
        }
        if folder && !options.backup.is_wanted() {
            return failed(format!("cannot overwrite non-directory {} with directory {}", quoted(to), quoted(from)));
        }
        if options.existing == Existing::Ask && !ask::yes(&question(options.tool, to, there)) {
            return Some(false);
        }
        if self.made.contains_key(&(there.dev, there.ino)) {
            return failed(format!("will not overwrite just-created {} with {}", quoted(to), quoted(from)));
        }
        if options.backup.is_wanted() {
            if options.backup.would_replace(base_name(from), base_name(to)) && folder_of(from) == folder_of(to) {
                return failed(format!("backing up {} might destroy source;  {} not copied", quoted(to), quoted(from)));
            }
            match options.backup.make(to) {
                Ok(name) => *saved = Some(name),
                Err(error) => return failed(format!("cannot backup {}: {}", quoted(to), error.text())),
            }
            return Some(true);
        }
        let in_the_way = stat.kind() == FileKind::Symlink || options.hard_link || options.symbolic_link;
        if options.remove_destination || (in_the_way && (options.force || stat.kind() == FileKind::Symlink)) {
            if let Err(error) = tidebox_rt::unlink(to) {
                return failed(format!("cannot remove {}: {}", quoted(to), error.text()));
            }
            if options.verbose {
                say(options.tool, &format!("removed {}", quoted(to)));
            }
        }
        Some(true)
    }

    fn file(&self, from: &[u8], to: &[u8], stat: &Stat, new: bool) -> bool {
        let options = self.options;
        let how = How { new, force: options.force, attributes_only: options.attributes_only, verbose: options.verbose };
        let Some(new) = data::copy(options.tool, from, to, how) else {
            return false;
        };
        self.times(to, stat, true) && self.mode(to, stat, new)
    }

    /// Gives a copy its times, where they are preserved.
    fn times(&self, to: &[u8], stat: &Stat, follow: bool) -> bool {
        let options = self.options;
        !options.preserve_times || data::keep_times(options.tool, stat, to, follow) || options.preserve_what_can_be
    }

    /// Gives a copy its mode.
    fn mode(&self, to: &[u8], stat: &Stat, new: bool) -> bool {
        let umask = || tidebox_rt::umask(None).unwrap_or(0o022);
        let tool = self.options.tool;
        match (self.options.preserve_mode, self.options.default_mode, new) {
            (true, ..) => data::set_mode(tool, to, stat.mode & 0o7777, true) || self.options.preserve_what_can_be,
            (_, false, true) => data::set_mode(tool, to, stat.mode & 0o777 & !umask(), false),
            _ => true,
        }
    }

    fn link(&self, from: &[u8], to: &[u8]) -> bool {
        match tidebox_rt::link(from, to) {
            Ok(()) => true,
            Err(error) => {
                self.fail(&format!("cannot create hard link {} to {}: {}", quoted(to), quoted(from), error.text()))
            }
        }
    }

    /// A symbolic link instead of a copy.
    fn symbolic(&self, from: &[u8], to: &[u8]) -> bool {
        let here = || match (tidebox_rt::stat(folder_of(to), true), tidebox_rt::stat(b".", true)) {
            (Ok(folder), Ok(here)) => same(&folder, &here),
            _ => false,
        };
        if !from.starts_with(b"/") && !here() {
            let reason = "can make relative symbolic links only in current directory";
            return self.fail(&format!("{}: {reason}", tidebox_gnu::message::named(to)));
        }
        match tidebox_rt::symlink(from, to) {
            Ok(()) => true,
            Err(error) => {
                self.fail(&format!("cannot create symbolic link {} to {}: {}", quoted(to), quoted(from), error.text()))
            }
        }
    }

    fn symlink(&self, from: &[u8], to: &[u8], stat: &Stat, _new: bool) -> bool {
        let text = match tidebox_rt::read_link(from) {
            Ok(text) => text,
            Err(error) => return self.fail(&format!("cannot read symbolic link {}: {}", quoted(from), error.text())),
        };
        match tidebox_rt::symlink(&text, to) {
            Ok(()) => self.times(to, stat, false),
            Err(error) => self.fail(&format!("cannot create symbolic link {}: {}", quoted(to), error.text())),
        }
    }

    fn folder(&mut self, from: &[u8], to: &[u8], stat: &Stat, new: bool, above: &mut Vec<Stat>) -> bool {
        let options = self.options;
        if self.first_folder == Some((stat.dev, stat.ino)) {
            let (source, target) = (quoted(&self.named.0), quoted(&self.named.1));
            return self.fail(&format!("cannot copy a directory, {source}, into itself, {target}"));
        }
        if above.len() >= DEPTH {
            return self.fail(&format!("cannot copy {}: more than {DEPTH} folders are in each other", quoted(from)));
        }
        if new {
            if let Err(error) = tidebox_rt::make_dir(to) {
                return self.fail(&format!("cannot create directory {}: {}", quoted(to), error.text()));
            }
            let made = tidebox_rt::stat(to, false);
            if let (None, Ok(made)) = (self.first_folder, made) {
                self.first_folder = Some((made.dev, made.ino));
            }
        } else if let (true, Ok(there)) = (self.first_folder.is_none(), tidebox_rt::stat(to, true)) {
            self.first_folder = Some((there.dev, there.ino));
            if same(&there, stat) {
                let (source, target) = (quoted(&self.named.0), quoted(&self.named.1));
                return self.fail(&format!("cannot copy a directory, {source}, into itself, {target}"));
            }
        }
        // Only now, so that a copy into itself is met.
        let entries = match tidebox_rt::read_dir(from) {
            Ok(entries) => entries,
            Err(error) => return self.fail(&format!("cannot access {}: {}", quoted(from), error.text())),
        };
        above.push(*stat);
        let mut well = true;
        for entry in entries {
            let inner = join(from, &entry.name);
            let foreign = || tidebox_rt::stat(&inner, false).is_ok_and(|stat| stat.dev != self.device);
            if options.one_file_system && foreign() {
                continue;
            }
            well &= self.copy(&inner, &join(to, &entry.name), above);
        }
        above.pop();
        well & self.times(to, stat, true) & self.mode(to, stat, new)
    }
}

/// What is asked before a file is replaced.
pub(crate) fn question(tool: &str, to: &[u8], there: &Stat) -> String {
    if there.kind() != FileKind::Symlink && tidebox_rt::access(to, 2).is_err() {
        let mode = there.mode & 0o7777;
        let letters = tidebox_gnu::mode::letters(there.mode);
        let letters = letters.get(1..).unwrap_or_default();
        return match tool {
            "mv" => format!("mv: replace {}, overriding mode {mode:04o} ({letters})? ", quoted(to)),
            _ => format!("{tool}: unwritable {} (mode {mode:04o}, {letters}); try anyway? ", quoted(to)),
        };
    }
    format!("{tool}: overwrite {}? ", quoted(to))
}

/// Whether two paths name one entry of one folder.
pub(crate) fn same_entry(a: &[u8], b: &[u8]) -> bool {
    let folder = |path: &[u8]| tidebox_rt::stat(folder_of(path), true);
    base_name(a) == base_name(b) && matches!((folder(a), folder(b)), (Ok(a), Ok(b)) if same(&a, &b))
}
