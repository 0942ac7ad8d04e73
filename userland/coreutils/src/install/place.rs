//! Files that are put in their places.

use std::fs;

use tidebox_gnu::message::{bytes_path, error_text};
use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, FileKind, Open, Stat};

use super::{Install, MODE, Numbering, above};
use crate::common::quoted;

impl Install {
    /// Copies one file.
    pub(super) fn file(&mut self, source: &[u8], target: &[u8]) {
        let stat = match tidebox_rt::stat(source, true) {
            Ok(stat) => stat,
            Err(errno) => return self.complain(&format!("cannot stat {}: {}", quoted(source), errno.text())),
        };
        if stat.kind() == FileKind::Dir {
            return self.complain(&format!("omitting directory {}", quoted(source)));
        }
        let old = tidebox_rt::stat(target, false).ok();
        if old.is_some_and(|old| old.kind() == FileKind::Dir) {
            return self.complain(&format!("cannot overwrite directory {} with non-directory", quoted(target)));
        }
        if old.is_some_and(|old| (old.dev, old.ino) == (stat.dev, stat.ino)) {
            return self.complain(&format!("{} and {} are the same file", quoted(source), quoted(target)));
        }
        if self.options.compare && old.is_some_and(|old| self.is_same(source, target, &old)) {
            return;
        }
        let mut note = String::new();
        if old.is_some() {
            match self.clear_away(target) {
                Ok(backup) => note = backup.map(|name| format!(" (backup: {})", quoted(&name))).unwrap_or_default(),
                Err(message) => return self.complain(&message),
            }
        }
        self.tell(&format!("{} -> {}{note}\n", quoted(source), quoted(target)));
        if let Err(message) = copy(source, target) {
            return self.complain(&message);
        }
        if self.options.times
            && let Err(message) = copy_times(target, &stat)
        {
            self.complain(&message);
        }
        self.set_attributes(target, false);
    }

    /// Removes what is in the way, or makes a backup of it and answers the backup's name.
    pub(super) fn clear_away(&mut self, target: &[u8]) -> Result<Option<Vec<u8>>, String> {
        if let Some(numbering) = self.options.backup {
            let backup = backup_name(target, numbering, &self.options.suffix);
            fs::rename(bytes_path(target), bytes_path(&backup))
                .map_err(|error| format!("cannot backup {}: {}", quoted(target), error_text(&error)))?;
            return Ok(Some(backup));
        }
        tidebox_rt::unlink(target).map_err(|errno| format!("cannot remove {}: {}", quoted(target), errno.text()))?;
        self.tell(&format!("removed {}\n", quoted(target)));
        Ok(None)
    }

    pub(super) fn mode(&self, is_folder: bool) -> u32 {
        self.options.mode.as_ref().map_or(MODE, |change| change.apply(0, is_folder, 0))
    }

    pub(super) fn is_same(&self, source: &[u8], target: &[u8], old: &Stat) -> bool {
        let owner = &self.options.owner;
        let fits = old.kind() == FileKind::File
            && old.mode & 0o7777 == self.mode(false)
            && owner.user.is_none_or(|user| user == old.uid)
            && owner.group.is_none_or(|group| group == old.gid);
        fits && matches!((fs::read(bytes_path(source)), fs::read(bytes_path(target))), (Ok(new), Ok(old)) if new == old)
    }

    pub(super) fn set_attributes(&mut self, target: &[u8], is_folder: bool) {
        let stat = match tidebox_rt::stat(target, true) {
            Ok(stat) => stat,
            Err(errno) => return self.complain(&format!("cannot stat {}: {}", quoted(target), errno.text())),
        };
        if !self.options.owner.is_allowed(&stat) {
            let why = Errno::PERM.text();
            return self.complain(&format!("cannot change ownership of {}: {why}", quoted(target)));
        }
        if let Err(errno) = tidebox_rt::chmod(target, self.mode(is_folder)) {
            self.complain(&format!("cannot change permissions of {}: {}", quoted(target), errno.text()));
        }
    }
}

pub(super) fn copy(source: &[u8], target: &[u8]) -> Result<(), String> {
    let cannot = |what: &str, name: &[u8], errno: Errno| format!("cannot {what} {}: {}", quoted(name), errno.text());
    let mut input =
        Input::file(source).map_err(|errno| cannot("open", source, errno).replace("': ", "' for reading: "))?;
    let how = Open { write: true, create: true, exclusive: true, ..Open::default() };
    let fd = tidebox_rt::open(target, how).map_err(|errno| cannot("create regular file", target, errno))?;
    let written = loop {
        match input.chunk() {
            Ok([]) => break Ok(()),
            Ok(piece) => {
                let count = piece.len();
                if let Err(errno) = tidebox_rt::write_all(fd, piece) {
                    break Err(format!("error writing {}: {}", quoted(target), errno.text()));
                }
                input.consume(count);
            }
            Err(errno) => break Err(format!("error reading {}: {}", quoted(source), errno.text())),
        }
    };
    let closed = tidebox_rt::close(fd).map_err(|errno| format!("error writing {}: {}", quoted(target), errno.text()));
    written.and(closed)
}

pub(super) fn copy_times(target: &[u8], stat: &Stat) -> Result<(), String> {
    let moment = |ns: u64| std::time::UNIX_EPOCH.checked_add(std::time::Duration::from_nanos(ns));
    let (Some(accessed), Some(modified)) = (moment(stat.atime_ns), moment(stat.mtime_ns)) else {
        return Ok(());
    };
    let times = fs::FileTimes::new().set_accessed(accessed).set_modified(modified);
    let file = fs::OpenOptions::new().write(true).open(bytes_path(target));
    file.and_then(|file| file.set_times(times))
        .map_err(|error| format!("cannot set timestamps for {}: {}", quoted(target), error_text(&error)))
}

/// The name of a backup: with the highest number and one, or with the suffix.
pub(super) fn backup_name(target: &[u8], numbering: Numbering, suffix: &[u8]) -> Vec<u8> {
    let folder = above(target);
    let name = target.rsplit(|byte| *byte == b'/').next().unwrap_or(target);
    let entries = tidebox_rt::read_dir(if folder.is_empty() { b"." } else { &folder }).unwrap_or_default();
    let number = |entry: &tidebox_rt::Entry| -> Option<u64> {
        let digits = entry.name.strip_prefix(name)?.strip_prefix(b".~")?.strip_suffix(b"~")?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    let highest = if numbering == Numbering::Simple { None } else { entries.iter().filter_map(number).max() };
    match (numbering, highest) {
        (Numbering::Numbered, None) => [target, b".~1~"].concat(),
        (_, Some(highest)) => [target, format!(".~{}~", highest.saturating_add(1)).as_bytes()].concat(),
        _ => [target, suffix].concat(),
    }
}
