//! `zip`: adds files to an archive.

mod collect;
mod member;
mod options;
mod store;

use std::collections::HashMap;

use tidebox_rt::{Errno, Fd, Open};

use crate::archive::{Archive, NoArchive};
use crate::pattern;
use crate::words::{Out, print_parts};
use collect::InputFile;
use options::{Action, Options};
use store::Writer;

/// Runs the tool.
pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    match options::read(arguments) {
        Ok(options) => Zip::new(options).run(),
        Err(code) => code,
    }
}

/// Exits with this code; all messages have been printed.
struct Ended(i32);

struct Zip {
    options: Options,
    out: Out,
    code: i32,
    /// Files that could not be read, and their size in bytes.
    skipped: (u64, u64),
}

/// Exit codes that scripts check.
const READ: i32 = 3;
const WRITE: i32 = 14;
const OPEN: i32 = 18;
const NOTHING: i32 = 12;

impl Zip {
    fn new(options: Options) -> Self {
        Self { options, out: Out::default(), code: 0, skipped: (0, 0) }
    }

    /// Prints a message as output, or on standard error if the archive goes to standard output.
    fn print(&mut self, parts: &[&[u8]]) {
        if self.options.to_stdout() { print_parts(parts) } else { self.out.put(parts) }
    }

    fn warn(&mut self, parts: &[&[u8]]) {
        let text = parts.concat();
        if !self.options.quiet {
            self.print(&[b"\tzip warning: ", &text, b"\n"]);
        }
    }

    fn error(&mut self, code: i32, what: &str, parts: &[&[u8]]) -> Ended {
        let text = parts.concat();
        self.out.flush();
        self.print(&[b"\nzip error: ", what.as_bytes(), b" (", &text, b")\n"]);
        Ended(code)
    }

    fn run(mut self) -> i32 {
        let done = self.all();
        self.out.flush();
        match done {
            Ok(()) => self.code,
            Err(Ended(code)) => code,
        }
    }

    fn all(&mut self) -> Result<(), Ended> {
        let old = self.old()?;
        if self.options.action == Action::Delete {
            return self.delete(old);
        }
        if self.options.action == Action::Freshen && self.options.files.is_empty() {
            self.options.files =
                old.iter().flat_map(|archive| &archive.entries).map(|entry| entry.name.clone()).collect();
        }
        let mut found = self.collect()?;
        if found.is_empty() && self.options.test && self.options.files.is_empty() && old.is_some() {
            let name = self.options.archive.clone();
            return self.test(&name);
        }
        let present: HashMap<Vec<u8>, i64> = old
            .iter()
            .flat_map(|archive| &archive.entries)
            .map(|entry| (entry.name.clone(), crate::entry::seconds_of(entry.dos)))
            .collect();
        match self.options.action {
            Action::Update => {
                found.retain(|file| present.get(&file.name).is_none_or(|there| file.dos_seconds() > *there))
            }
            Action::Freshen => {
                found.retain(|file| present.get(&file.name).is_some_and(|there| file.dos_seconds() > *there))
            }
            Action::Sync => {
                let names: std::collections::HashSet<&Vec<u8>> = found.iter().map(|file| &file.name).collect();
                let gone: Vec<Vec<u8>> = present.keys().filter(|name| !names.contains(name)).cloned().collect();
                let fresh =
                    found.iter().filter(|file| present.get(&file.name) != Some(&file.dos_seconds())).cloned().collect();
                found = fresh;
                return self.write(old, found, &gone);
            }
            _ => {}
        }
        if found.is_empty() {
            return match self.options.action {
                Action::Update | Action::Freshen if old.is_some() => Err(Ended(NOTHING)),
                _ => Err(self.nothing()),
            };
        }
        self.write(old, found, &[])
    }

    fn nothing(&mut self) -> Ended {
        let name = self.options.archive.clone();
        if self.options.recursive && !self.options.files.is_empty() {
            let given = self.options.given.clone();
            let files = self.options.files.join(&b' ');
            return self.error(NOTHING, "Nothing to do!", &[b"try: zip ", &given, b" ", &name, b" . -i ", &files]);
        }
        self.error(NOTHING, "Nothing to do!", &[&name])
    }

    /// The existing archive.
    fn old(&mut self) -> Result<Option<Archive>, Ended> {
        let name = self.options.archive.clone();
        if self.options.to_stdout() {
            return Ok(None);
        }
        let needed = matches!(self.options.action, Action::Delete | Action::Freshen);
        match Archive::open(&name) {
            Ok(archive) => Ok(Some(archive)),
            Err(NoArchive::System(Errno::NOENT)) if !needed => Ok(None),
            Err(NoArchive::System(Errno::NOENT)) => {
                self.warn(&[&name, b" not found or empty"]);
                if self.options.action == Action::Freshen {
                    return Err(Ended(NOTHING));
                }
                for file in self.options.files.clone() {
                    self.warn(&[b"name not matched: ", &file]);
                }
                Err(self.error(NOTHING, "Nothing to do!", &[&name]))
            }
            Err(NoArchive::Empty) if !needed => Ok(None),
            Err(NoArchive::System(errno)) => {
                Err(self.error(OPEN, "Could not open for reading", &[&name, b": ", errno.text().as_bytes()]))
            }
            Err(NoArchive::TooLarge) => Err(self.error(4, "Out of memory", &[b"directory of the archive"])),
            Err(NoArchive::NoEnd | NoArchive::Empty) => {
                self.warn(&[b"missing end signature--probably not a zip file (did you"]);
                self.warn(&[b"remember to use binary mode when you transferred it?)"]);
                self.warn(&[b"(if you are trying to read a damaged archive try -F)"]);
                Err(self.error(READ, "Zip file structure invalid", &[&name]))
            }
        }
    }

    fn delete(&mut self, old: Option<Archive>) -> Result<(), Ended> {
        let Some(old) = old else {
            return Err(self.nothing());
        };
        let patterns = self.options.files.clone();
        let mut gone = Vec::new();
        for pattern in &patterns {
            let before = gone.len();
            let fitting = old.entries.iter().filter(|entry| pattern::fits(pattern, &entry.name, false));
            gone.extend(fitting.map(|entry| entry.name.clone()).filter(|name| self.options.keeps(name)));
            if gone.len() == before {
                self.warn(&[b"name not matched: ", pattern]);
            }
        }
        if gone.is_empty() {
            let name = self.options.archive.clone();
            return Err(self.error(NOTHING, "Nothing to do!", &[&name]));
        }
        self.write(Some(old), Vec::new(), &gone)
    }

    /// Writes the new archive next to the old one and renames it.
    fn write(&mut self, old: Option<Archive>, found: Vec<InputFile>, gone: &[Vec<u8>]) -> Result<(), Ended> {
        let name = self.options.archive.clone();
        let (fd, temporary) = if self.options.to_stdout() {
            (1, None)
        } else {
            let (fd, path) = self.temporary(&name)?;
            (fd, Some(path))
        };
        let mut writer = Writer::new(fd, temporary.is_some());
        let done = self.fill(&mut writer, old.as_ref(), &found, gone);
        if let Some(old) = &old {
            // Nothing was written to it.
            let _ = tidebox_rt::close(old.fd);
        }
        let Some(temporary) = temporary else {
            return done;
        };
        let closed = tidebox_rt::close(fd);
        let done = done.and_then(|empty| match closed {
            Ok(()) => Ok(empty),
            Err(errno) => Err(self.write_error(errno)),
        });
        if done.is_err() {
            // The file is incomplete; a failure to remove it cannot be reported better.
            let _ = tidebox_rt::unlink(&temporary);
            return done;
        }
        if self.skipped.0 > 0 && !self.options.quiet {
            let (count, bytes) = self.skipped;
            let (read, read_bytes) = (writer.entries.len(), writer.entries.iter().map(|entry| entry.size).sum::<u64>());
            let text = format!(
                "\nzip warning: Not all files were readable\n  files/entries read:  {read} ({read_bytes} bytes)  skipped:  {count} ({bytes} bytes)\n"
            );
            self.print(&[text.as_bytes()]);
        }
        if writer.entries.is_empty() {
            self.warn(&[b"zip file empty"]);
        }
        self.replace(&temporary, &name)?;
        if self.options.verbose && !self.options.quiet {
            let (large, small) =
                writer.entries.iter().fold((0, 0), |(large, small), entry| (large + entry.size, small + entry.packed));
            let share = crate::words::percent(large, small);
            self.print(&[format!("total bytes={large}, compressed={small} -> {share}% savings\n").as_bytes()]);
        }
        self.out.flush();
        if self.options.test {
            self.test(&name)?;
        }
        if self.options.move_files {
            self.remove(&found);
        }
        Ok(())
    }

    fn replace(&mut self, temporary: &[u8], name: &[u8]) -> Result<(), Ended> {
        if let Ok(stat) = tidebox_rt::stat(name, true) {
            // The new archive gets the permissions of the old one.
            let _ = tidebox_rt::chmod(temporary, stat.mode & 0o777);
        }
        tidebox_rt::rename(temporary, name)
            .map_err(|errno| self.error(15, "Could not create output file", &[name, b": ", errno.text().as_bytes()]))
    }

    /// Reads the archive again and compares the checksums.
    fn test(&mut self, name: &[u8]) -> Result<(), Ended> {
        let sound = Archive::open(name).is_ok_and(|archive| {
            archive.entries.iter().all(|entry| {
                let data = archive.data(entry).ok().flatten();
                data.is_some_and(|data| crate::archive::unpack(&archive, entry, data, &mut |_| Ok(())).is_ok())
            })
        });
        if sound {
            if !self.options.quiet {
                self.print(&[b"test of ", name, b" OK\n"]);
            }
            return Ok(());
        }
        self.print(&[b"test of ", name, b" FAILED\n"]);
        Err(self.error(8, "Zip file invalid, could not spawn unzip, or wrong unzip", &[b"original files unmodified"]))
    }

    fn remove(&mut self, found: &[InputFile]) {
        for file in found.iter().filter(|file| !file.is_dir() && !file.is_stdin()) {
            if let Err(errno) = tidebox_rt::unlink(&file.path) {
                self.warn(&[b"error deleting ", &file.path, b": ", errno.text().as_bytes()]);
            }
        }
        // Empty directories are removed, too, inner ones first.
        for file in found.iter().rev().filter(|file| file.is_dir()) {
            let _ = tidebox_rt::remove_dir(&file.path);
        }
    }

    fn temporary(&mut self, name: &[u8]) -> Result<(Fd, Vec<u8>), Ended> {
        let folder = name.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let how = Open { read: true, write: true, create: true, exclusive: true, ..Open::default() };
        let mut random = [0; 6];
        for _ in 0..100 {
            // Without randomness the first free name is used.
            let _ = tidebox_rt::random(&mut random);
            let letters: Vec<u8> = random.iter().map(|byte| b'a' + byte % 26).collect();
            let path = [name.get(..folder).unwrap_or_default(), b"zi", &letters].concat();
            match tidebox_rt::open(&path, how) {
                Ok(fd) => return Ok((fd, path)),
                Err(Errno::EXIST) => {
                    for byte in &mut random {
                        *byte = byte.wrapping_add(7);
                    }
                }
                Err(errno) => {
                    self.out.flush();
                    print_parts(&[b"zip I/O error: ", errno.text().as_bytes()]);
                    return Err(self.error(15, "Could not create output file", &[name]));
                }
            }
        }
        Err(self.error(15, "Could not create output file", &[name]))
    }

    fn write_error(&mut self, errno: Errno) -> Ended {
        self.out.flush();
        print_parts(&[b"zip I/O error: ", errno.text().as_bytes()]);
        self.error(WRITE, "Output file write failure", &[b"write error on zip file"])
    }
}
