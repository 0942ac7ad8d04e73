//! Copying of files and directory trees, for `cp` and `mv`.

mod existing;
mod link;

use std::collections::HashMap;

use tidebox_gnu::message::{print_error, quote_path};
use tidebox_rt::{Errno, FileKind, Stat};

use crate::common::data::{self, ContentOptions};
use crate::common::print_line;
use crate::common::same_file::SeenDirs;
use crate::common::target::{followed, join, same};
use tidebox_gnu::backup::Backup;

/// Maximum directory depth. Deeper recursion could overflow the stack.
const MAX_DEPTH: usize = 1000;

/// Symbolic links to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Follow {
    Never,
    /// Only operands.
    Named,
    #[default]
    Always,
}

/// Handling of an existing target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Existing {
    #[default]
    Replace,
    Keep,
    Ask,
}

/// Copy options.
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
    /// Attributes that cannot be preserved cause a message, but no failure (`mv`).
    pub(crate) preserve_best_effort: bool,
    /// Copy pipes and devices themselves instead of their content.
    pub(crate) special: bool,
}

/// State of a copy.
#[derive(Debug)]
pub(crate) struct Copier<'a> {
    options: &'a Options,
    /// Copied files, by device and inode, with their current target names.
    copied: HashMap<(u32, u64), Vec<u8>>,
    /// Files created by this run, which it must not overwrite, and their sources.
    created: HashMap<(u32, u64), Vec<u8>>,
    /// Source directories of previous operands.
    seen_dirs: SeenDirs,
    /// Top target directory, which the copy must not enter.
    target_root: Option<(u32, u64)>,
    named: (Vec<u8>, Vec<u8>),
    device: u32,
}

impl<'a> Copier<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self {
            options,
            copied: HashMap::new(),
            created: HashMap::new(),
            seen_dirs: SeenDirs::default(),
            target_root: None,
            named: (Vec::new(), Vec::new()),
            device: 0,
        }
    }

    /// Copies one operand. Returns whether all succeeded.
    pub(crate) fn run(&mut self, from: &[u8], to: &[u8]) -> bool {
        self.target_root = None;
        self.named = (from.to_vec(), to.to_vec());
        self.copy(from, to, &mut Vec::new())
    }

    fn fail(&self, message: &str) -> bool {
        print_error(self.options.tool, message);
        false
    }

    fn copy(&mut self, from: &[u8], to: &[u8], above: &mut Vec<Stat>) -> bool {
        let options = self.options;
        let named = above.is_empty();
        let follow = options.follow == Follow::Always || (named && options.follow == Follow::Named);
        let stat = match tidebox_rt::stat(from, follow) {
            Ok(stat) => stat,
            Err(error) => return self.fail(&format!("cannot stat {}: {}", quote_path(from), error.text())),
        };
        let kind = stat.kind();
        if named {
            self.device = stat.dev;
            if self.seen_dirs.is_repeated(&stat) && !options.backup.is_wanted() {
                let message = format!("warning: source directory {} specified more than once", quote_path(from));
                print_error(options.tool, &message);
                return true;
            }
        }
        if kind == FileKind::Dir && !options.recursive {
            return self.fail(&format!("-r not specified; omitting directory {}", quote_path(from)));
        }
        if kind == FileKind::Dir && above.iter().any(|folder| same(folder, &stat)) {
            return self.fail(&format!("cannot copy cyclic symbolic link {}", quote_path(from)));
        }
        let Some(old) = self.existing_target(from, to, kind) else { return false };
        let mut saved = None;
        if let Some(old) = &old {
            match self.clear((from, follow), to, &stat, old, &mut saved) {
                Some(true) => {}
                Some(false) => return true,
                None => return false,
            }
        }
        let new = match kind {
            FileKind::Dir => old.is_none(),
            _ => tidebox_rt::stat(to, false).is_err(),
        };
        if options.verbose && (kind != FileKind::Dir || new) {
            self.report(from, to, kind, saved.as_deref());
        }
        let key = (stat.dev, stat.ino);
        if options.preserve_links && (stat.nlink > 1 || follow) && kind != FileKind::Dir {
            if let Some(first) = self.copied.get(&key).cloned() {
                return self.link((&first, &first), to, true);
            }
            self.copied.insert(key, to.to_vec());
        }
        let done = match kind {
            FileKind::Dir => self.directory(from, to, &stat, new, above),
            _ => self.non_directory((from, follow), to, &stat, new),
        };
        if done
            && named
            && kind != FileKind::Dir
            && let Ok(created) = tidebox_rt::stat(to, false)
        {
            self.created.insert((created.dev, created.ino), from.to_vec());
        }
        done
    }

    /// Copies a non-directory, or creates the requested link instead.
    fn non_directory(&self, (from, follow): (&[u8], bool), to: &[u8], stat: &Stat, new: bool) -> bool {
        let options = self.options;
        match stat.kind() {
            _ if options.symbolic_link => self.symbolic(from, to),
            _ if options.hard_link && follow => self.link((&followed(from), from), to, options.force),
            _ if options.hard_link => self.link((from, from), to, options.force),
            FileKind::Symlink => self.symlink(from, to, stat),
            FileKind::File => self.file(from, to, stat, new),
            FileKind::Pipe if options.special => self.fifo(to, stat, new),
            _ if options.special => {
                self.fail(&format!("cannot create special file {}: {}", quote_path(to), Errno::PERM.text()))
            }
            _ => self.file(from, to, stat, new),
        }
    }

    fn report(&self, from: &[u8], to: &[u8], kind: FileKind, backup: Option<&[u8]>) {
        let backup = backup.map(|name| format!(" (backup: {})", quote_path(name))).unwrap_or_default();
        let line = match (self.options.tool, kind) {
            ("mv", FileKind::Dir) => format!("created directory {}", quote_path(to)),
            ("mv", _) => format!("copied {} -> {}{backup}", quote_path(from), quote_path(to)),
            _ => format!("{} -> {}{backup}", quote_path(from), quote_path(to)),
        };
        print_line(self.options.tool, &line);
    }

    fn file(&self, from: &[u8], to: &[u8], stat: &Stat, new: bool) -> bool {
        let options = self.options;
        let content = ContentOptions {
            new,
            force: options.force,
            attributes_only: options.attributes_only,
            verbose: options.verbose,
        };
        let Some(new) = data::copy(options.tool, from, to, content) else {
            return false;
        };
        self.times(to, stat, true) && self.mode(to, stat, new)
    }

    /// Sets the times of a copy, if they are preserved.
    fn times(&self, to: &[u8], stat: &Stat, follow: bool) -> bool {
        let options = self.options;
        !options.preserve_times || data::keep_times(options.tool, stat, to, follow) || options.preserve_best_effort
    }

    /// Sets the mode of a copy.
    fn mode(&self, to: &[u8], stat: &Stat, new: bool) -> bool {
        let umask = || tidebox_rt::umask(None).unwrap_or(0o022);
        let tool = self.options.tool;
        match (self.options.preserve_mode, self.options.default_mode, new) {
            (true, ..) => data::set_mode(tool, to, stat.mode & 0o7777, true) || self.options.preserve_best_effort,
            (_, false, true) => data::set_mode(tool, to, stat.mode & 0o777 & !umask(), false),
            _ => true,
        }
    }

    fn fifo(&self, to: &[u8], stat: &Stat, new: bool) -> bool {
        match tidebox_rt::make_fifo(to, stat.mode & 0o777) {
            Ok(()) => self.times(to, stat, false) && self.mode(to, stat, new),
            Err(error) => self.fail(&format!("cannot create fifo {}: {}", quote_path(to), error.text())),
        }
    }

    fn fail_recursive(&self) -> bool {
        let (source, target) = (quote_path(&self.named.0), quote_path(&self.named.1));
        self.fail(&format!("cannot copy a directory, {source}, into itself, {target}"))
    }

    fn directory(&mut self, from: &[u8], to: &[u8], stat: &Stat, new: bool, above: &mut Vec<Stat>) -> bool {
        let options = self.options;
        if self.target_root == Some((stat.dev, stat.ino)) {
            return self.fail_recursive();
        }
        if above.len() >= MAX_DEPTH {
            return self.fail(&format!("cannot copy {}: more than {MAX_DEPTH} nested directories", quote_path(from)));
        }
        if new {
            if let Err(error) = tidebox_rt::make_dir(to) {
                return self.fail(&format!("cannot create directory {}: {}", quote_path(to), error.text()));
            }
            let created = tidebox_rt::stat(to, false);
            if let (None, Ok(created)) = (self.target_root, created) {
                self.target_root = Some((created.dev, created.ino));
            }
        } else if let (true, Ok(old)) = (self.target_root.is_none(), tidebox_rt::stat(to, true)) {
            self.target_root = Some((old.dev, old.ino));
            if same(&old, stat) {
                return self.fail_recursive();
            }
        }
        // Read after the checks above, which detect a copy into itself.
        let entries = match tidebox_rt::read_dir(from) {
            Ok(entries) => entries,
            Err(error) => return self.fail(&format!("cannot access {}: {}", quote_path(from), error.text())),
        };
        above.push(*stat);
        let mut succeeded = true;
        for entry in entries {
            let inner = join(from, &entry.name);
            let foreign = || tidebox_rt::stat(&inner, false).is_ok_and(|stat| stat.dev != self.device);
            if options.one_file_system && foreign() {
                continue;
            }
            succeeded &= self.copy(&inner, &join(to, &entry.name), above);
        }
        above.pop();
        succeeded & self.times(to, stat, true) & self.mode(to, stat, new)
    }
}
