//! Output paths and creation of extracted files.

use tidebox_rt::{FileKind, Open, Time};

use super::Unzip;
use crate::archive::{DataError, unpack};
use crate::entry::{Entry, STORED};
use crate::words::{display, print_parts};

impl Unzip {
    /// Returns the output path of a file. It never leaves the directory.
    fn place(&mut self, entry: &Entry) -> Option<Vec<u8>> {
        let mut name = entry.name.as_slice();
        if self.options.junk {
            name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        }
        if name.starts_with(b"/") {
            self.out.flush();
            print_parts(&[b"warning:  stripped absolute path spec from ", &display(&entry.name), b"\n"]);
            self.worse(1);
        }
        let mut parts: Vec<&[u8]> = Vec::new();
        let mut led_up = false;
        for part in name.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => led_up = true,
                part => parts.push(part),
            }
        }
        if led_up {
            if self.options.quiet == 0 {
                self.out.put(&[b"warning:  skipped \"../\" path component(s) in ", &display(&entry.name), b"\n"]);
            }
            self.worse(1);
        }
        if parts.is_empty() {
            return None;
        }
        let place = parts.join(&b'/');
        Some(match &self.options.folder {
            Some(folder) => {
                let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
                [folder, slash, &place].concat()
            }
            None => place,
        })
    }

    pub(super) fn extract(&mut self, entry: &Entry, data: u64) -> bool {
        if entry.is_dir() {
            if !self.options.junk {
                self.folder(entry);
            }
            return false;
        }
        let Some(place) = self.place(entry) else {
            return false;
        };
        if !self.make_parents(&place) {
            self.worse(2);
            return false;
        }
        if !self.may_replace(entry, &place) {
            return false;
        }
        self.write(entry, data, &place)
    }

    fn folder(&mut self, entry: &Entry) {
        let Some(place) = self.place(entry) else {
            return;
        };
        if self.options.freshen {
            return;
        }
        if tidebox_rt::stat(&place, true).is_ok_and(|stat| stat.kind() == FileKind::Dir) {
            return;
        }
        if !self.make_parents(&place) {
            self.worse(2);
            return;
        }
        match tidebox_rt::make_dir(&place) {
            Ok(()) => {
                if self.options.quiet == 0 {
                    self.out.put(&[format!("{:>11}: ", "creating").as_bytes(), &display(&place), b"/\n"]);
                }
                self.folders.push((place, entry.mode(), entry.seconds()));
            }
            Err(errno) => {
                let reason =
                    [b"cannot create ", place.as_slice(), b"\n                 ", errno.text().as_bytes()].concat();
                self.checkdir_error(&reason, &display(&entry.name));
                self.worse(2);
            }
        }
    }

    fn checkdir_error(&mut self, reason: &[u8], file: &[u8]) {
        self.out.flush();
        print_parts(&[b"checkdir error:  ", reason, b"\n                 unable to process ", file, b".\n"]);
    }

    /// Creates the missing parent directories of a path.
    fn make_parents(&mut self, place: &[u8]) -> bool {
        for at in (1..place.len()).filter(|at| place.get(*at) == Some(&b'/')) {
            let folder = place.get(..at).unwrap_or_default();
            match tidebox_rt::stat(folder, true) {
                Ok(stat) if stat.kind() == FileKind::Dir => {}
                Ok(_) => {
                    self.checkdir_error(&[folder, b" exists but is not directory"].concat(), place);
                    return false;
                }
                Err(_) => {
                    if let Err(errno) = tidebox_rt::make_dir(folder) {
                        let reason =
                            [b"cannot create ", folder, b"\n                 ", errno.text().as_bytes()].concat();
                        self.checkdir_error(&reason, place);
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Returns whether an existing file may be replaced. No confirmation is possible.
    fn may_replace(&mut self, entry: &Entry, place: &[u8]) -> bool {
        let there = match tidebox_rt::stat(place, false) {
            Ok(there) => there,
            Err(_) => return !self.options.freshen,
        };
        if self.options.update {
            let seconds = i64::try_from(there.mtime_ns / 1_000_000_000).unwrap_or(i64::MAX);
            if seconds >= entry.seconds() {
                return false;
            }
        }
        let linked = there.kind() == FileKind::Symlink;
        if linked && !self.options.overwrite {
            self.out.put(&[&display(place), b" exists and is a symbolic link.\n"]);
        }
        if self.options.never || (self.never && !linked) {
            return false;
        }
        if !self.options.overwrite {
            self.out.flush();
            print_parts(&[
                b"replace ",
                &display(place),
                b"? [y]es, [n]o, [A]ll, [N]one, [r]ename:  NULL\n(EOF or read error, treating as \"[N]one\" ...)\n",
            ]);
            self.never = true;
            self.worse(1);
            return false;
        }
        if there.kind() != FileKind::Dir
            && let Err(errno) = tidebox_rt::unlink(place)
        {
            self.out.flush();
            print_parts(&[
                b"error:  cannot delete old ",
                &display(place),
                b"\n        ",
                errno.text().as_bytes(),
                b"\n",
            ]);
            self.worse(50);
            return false;
        }
        true
    }

    fn write(&mut self, entry: &Entry, data: u64, place: &[u8]) -> bool {
        if entry.is_link() {
            return self.link(entry, data, place);
        }
        let how = Open { write: true, create: true, exclusive: true, ..Open::default() };
        let fd = match tidebox_rt::open(place, how) {
            Ok(fd) => fd,
            Err(errno) => {
                self.out.flush();
                print_parts(&[
                    b"error:  cannot create ",
                    &display(place),
                    b"\n        ",
                    errno.text().as_bytes(),
                    b"\n",
                ]);
                self.worse(50);
                return false;
            }
        };
        let what = if entry.method == STORED { "extracting" } else { "inflating" };
        self.announce(what, place);
        let done = unpack(&self.archive, entry, data, &mut |bytes| tidebox_rt::write_all(fd, bytes));
        let closed = tidebox_rt::close(fd);
        if done.is_err() {
            self.judge(entry, &done, place);
        } else {
            self.line_end();
        }
        if let (Ok(()), Err(errno)) = (&done, closed) {
            print_parts(&[&display(place), b":  ", errno.text().as_bytes(), b"\n"]);
            self.worse(50);
        }
        self.attributes(entry, place);
        matches!(done, Err(DataError::Write(_)))
    }

    fn attributes(&mut self, entry: &Entry, place: &[u8]) {
        if let Some(mode) = entry.mode() {
            let umask = tidebox_rt::umask(None).unwrap_or(0o022);
            // The file exists; its mode is not essential, and this process owns it.
            let _ = tidebox_rt::chmod(place, mode & 0o777 & !umask);
        }
        if self.options.no_times < 2 {
            let ns = u64::try_from(entry.seconds()).unwrap_or(0).saturating_mul(1_000_000_000);
            let _ = tidebox_rt::set_times(place, true, Time::At(ns), Time::At(ns));
        }
    }

    fn link(&mut self, entry: &Entry, data: u64, place: &[u8]) -> bool {
        let mut target = Vec::new();
        if entry.size > 65_536 {
            self.out.flush();
            print_parts(&[b"warning:  symbolic link (", &display(place), b") failed\n"]);
            self.worse(1);
            return false;
        }
        let done = unpack(&self.archive, entry, data, &mut |bytes| {
            target.extend_from_slice(bytes);
            Ok(())
        });
        if done.is_err() {
            self.judge(entry, &done, place);
            return false;
        }
        if self.options.quiet == 0 {
            let pad = " ".repeat(22usize.saturating_sub(place.len()));
            self.out.put(&[
                format!("{:>11}: ", "linking").as_bytes(),
                &display(place),
                pad.as_bytes(),
                b"  -> ",
                &display(&target),
                b" \n",
            ]);
        }
        self.links.push((place.to_vec(), target));
        false
    }

    /// Creates the deferred links, and sets modes and times of directories.
    pub(super) fn finish(&mut self) {
        let links = std::mem::take(&mut self.links);
        if !links.is_empty() && self.options.quiet == 0 {
            self.out.put(&[b"finishing deferred symbolic links:\n"]);
        }
        for (place, target) in links {
            if self.options.quiet == 0 {
                let pad = " ".repeat(22usize.saturating_sub(place.len()));
                self.out.put(&[b"  ", &display(&place), pad.as_bytes(), b" -> ", &display(&target), b"\n"]);
            }
            if let Err(errno) = tidebox_rt::symlink(&target, &place) {
                self.out.flush();
                print_parts(&[b"symlink error: ", errno.text().as_bytes(), b"\n"]);
            }
        }
        for (place, mode, seconds) in std::mem::take(&mut self.folders).into_iter().rev() {
            if self.options.no_times == 0 {
                let ns = u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000);
                let _ = tidebox_rt::set_times(&place, true, Time::At(ns), Time::At(ns));
            }
            if let Some(mode) = mode {
                let umask = tidebox_rt::umask(None).unwrap_or(0o022);
                let _ = tidebox_rt::chmod(&place, mode & 0o777 & !umask);
            }
        }
    }
}
