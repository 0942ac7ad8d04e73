//! Processing of each operand: input file, output file and messages.

mod members;
mod target;
use std::borrow::Cow;

use tidebox_rt::{Errno, Fd, FileKind, Stat};

use super::member::{self, CodecError, Header, Start};
use super::{Abort, Gzip};
use crate::place::{files_below, take_over};
use crate::stream::{self, Sink, Source};
use crate::words::print_parts;

/// Suffixes recognized when decompressing, in addition to the selected one.
const KNOWN: &[&[u8]] = &[b".gz", b".z", b".taz", b".tgz", b"-gz", b"-z", b"_z", b".Z"];
/// Suffixes tried after a name that does not exist.
const TRIED: &[&[u8]] = &[b".gz", b".z", b"-z", b".Z"];

/// Result of one file.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    pub(crate) header: Header,
    /// Size of header and trailer of the only member, in bytes; 0 if there are several.
    pub(crate) overhead: u64,
    /// Checksum from the trailer of the last member.
    pub(crate) sum: u32,
    pub(crate) length: u64,
}

/// Error of one file.
#[derive(Debug)]
enum Stopped {
    /// The file is reported, and the run continues.
    Told,
    Abort,
}

impl Gzip {
    /// Processes the operands and returns the exit code.
    pub(crate) fn run(mut self, files: Vec<Vec<u8>>) -> i32 {
        let files = if files.is_empty() { vec![b"-".to_vec()] } else { files };
        let several = files.len() > 1;
        for file in &files {
            let ended = match file.as_slice() {
                b"-" => self.standard_input(),
                name => self.operand(name),
            };
            if ended == Err(Abort) {
                return 1;
            }
        }
        if self.list && several && !self.quiet {
            self.totals();
        }
        self.code
    }

    fn standard_input(&mut self) -> Result<(), Abort> {
        self.to_stdout = true;
        let mut source = Source::new(0);
        let stat = tidebox_rt::fstat(0).unwrap_or_default();
        let mut sink = Sink::new((!self.test && !self.list).then_some(1));
        let header = Header { name: None, time: self.time_of(&stat) };
        match self.pass(b"stdin", b"stdout", &mut source, &mut sink, header) {
            Err(Stopped::Told) => return Ok(()),
            Err(Stopped::Abort) => return Err(Abort),
            Ok(passed) if self.list => self.line(b"stdout", &source, &passed, &stat),
            Ok(_) if self.verbose && self.test => print_parts(&[b" OK\n"]),
            Ok(passed) if self.verbose && !self.decompress => {
                print_parts(&[self.saved(&source, &sink, &passed).as_bytes(), b"\n"]);
            }
            Ok(_) => {}
        }
        Ok(())
    }

    /// Returns the time of a file for the header.
    fn time_of(&self, stat: &Stat) -> u32 {
        if self.names == Some(false) || stat.kind() != FileKind::File {
            return 0;
        }
        u32::try_from(stat.mtime_ns / 1_000_000_000).unwrap_or(0)
    }

    fn operand(&mut self, name: &[u8]) -> Result<(), Abort> {
        let (name, fd) = match self.open(name) {
            Ok(found) => found,
            Err(()) => return Ok(()),
        };
        let Some((fd, stat)) = fd else {
            return self.folder(&name);
        };
        let ended = self.opened(&name, fd, &stat);
        // Nothing was written to it.
        let _ = tidebox_rt::close(fd);
        ended
    }

    /// Finds and opens a file; without a descriptor it is a directory to descend into.
    #[expect(clippy::type_complexity, reason = "the pair is taken apart where it is made")]
    fn open(&mut self, name: &[u8]) -> Result<(Vec<u8>, Option<(Fd, Stat)>), ()> {
        let mut name = Cow::Borrowed(name);
        let follow = self.force || self.to_stdout;
        let mut found = tidebox_rt::stat(&name, follow);
        if found == Err(Errno::NOENT) && self.decompress && self.suffix_of(&name).is_none() {
            let own = self.suffix.clone();
            let mut last = None;
            for suffix in std::iter::once(own.as_slice()).chain(TRIED.iter().copied()) {
                let longer = [&name, suffix].concat();
                found = tidebox_rt::stat(&longer, follow);
                if found != Err(Errno::NOENT) {
                    last = Some(longer);
                    break;
                }
            }
            name = Cow::Owned(last.unwrap_or_else(|| [&name, own.as_slice()].concat()));
        }
        let stat = match found {
            Ok(stat) => stat,
            Err(errno) => {
                self.system(&name, errno);
                return Err(());
            }
        };
        if stat.kind() == FileKind::Symlink {
            self.system(&name, Errno::LOOP);
            return Err(());
        }
        if stat.kind() == FileKind::Dir {
            if self.recursive {
                return Ok((name.into_owned(), None));
            }
            self.warn(&[&name, b" is a directory -- ignored"]);
            return Err(());
        }
        // Opening a FIFO would block until its other end is opened.
        if stat.kind() == FileKind::Pipe && !self.to_stdout {
            self.may_replace(&name, &stat);
            return Err(());
        }
        match stream::open(&name) {
            Ok(fd) => Ok((name.into_owned(), Some((fd, stat)))),
            Err(errno) => {
                self.system(&name, errno);
                Err(())
            }
        }
    }

    fn folder(&mut self, name: &[u8]) -> Result<(), Abort> {
        let mut troubles = Vec::new();
        let files = files_below(name, &mut |path, errno| troubles.push((path.to_vec(), errno)));
        for (path, errno) in troubles {
            self.system(&path, errno);
        }
        for file in files {
            self.operand(&file)?;
        }
        Ok(())
    }

    fn opened(&mut self, name: &[u8], fd: Fd, stat: &Stat) -> Result<(), Abort> {
        if !self.to_stdout && !self.may_replace(name, stat) {
            return Ok(());
        }
        let Some(target) = self.target(name) else {
            return Ok(());
        };
        let mut source = Source::new(fd);
        let mut header = Header { name: None, time: self.time_of(stat) };
        if !self.decompress && self.names != Some(false) {
            header.name = name.rsplit(|byte| *byte == b'/').next().map(<[u8]>::to_vec);
        }
        if self.decompress {
            // The first header may contain the output name, and invalid input must not create a file.
            return self.unpacked(name, target, &mut source, stat);
        }
        let (target, out) = match self.make(&target) {
            Some(made) => made,
            None => return Ok(()),
        };
        self.between(name, &target, &mut source, out, stat, Start::Member(header))
    }

    fn unpacked(&mut self, name: &[u8], target: Vec<u8>, source: &mut Source, stat: &Stat) -> Result<(), Abort> {
        let start = match self.first(name, source) {
            Ok(start) => start,
            Err(Stopped::Told) => return Ok(()),
            Err(Stopped::Abort) => return Err(Abort),
        };
        if self.list {
            let mut sink = Sink::new(None);
            match self.members(name, b"stdout", source, &mut sink, start) {
                Ok(passed) => {
                    let kept = passed.header.name.as_deref().filter(|_| self.names == Some(true));
                    let name = kept.map_or(target, <[u8]>::to_vec);
                    self.line(&name, source, &passed, stat);
                }
                Err(Stopped::Told) => {}
                Err(Stopped::Abort) => return Err(Abort),
            }
            return Ok(());
        }
        let mut target = target;
        if self.names == Some(true)
            && !self.to_stdout
            && let Start::Member(Header { name: Some(kept), .. }) = &start
            && let Some(kept) = kept.rsplit(|byte| *byte == b'/').next().filter(|kept| !kept.is_empty())
        {
            let folder = name.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
            target = [name.get(..folder).unwrap_or_default(), kept].concat();
        }
        let Some((target, out)) = self.make(&target) else {
            return Ok(());
        };
        self.between(name, &target, source, out, stat, start)
    }

    /// Reads one file and writes the other, then replaces the input file.
    fn between(
        &mut self,
        name: &[u8],
        target: &[u8],
        source: &mut Source,
        out: Option<Fd>,
        stat: &Stat,
        start: Start,
    ) -> Result<(), Abort> {
        if self.verbose {
            print_parts(&[name, b":\t"]);
        }
        let mut sink = Sink::new(out.or((!self.test).then_some(1)));
        let kept_time = if let Start::Member(header) = &start { header.time } else { 0 };
        let passed = match start {
            Start::Member(header) if !self.decompress => self.pass(name, target, source, &mut sink, header),
            start => self.members(name, target, source, &mut sink, start),
        };
        if let Some(fd) = out
            && let Err(errno) = tidebox_rt::close(fd)
        {
            self.system(target, errno);
        }
        let passed = match passed {
            Ok(passed) => passed,
            Err(stopped) => {
                if out.is_some() {
                    // The file is incomplete; a failure to remove it cannot be reported better.
                    let _ = tidebox_rt::unlink(target);
                }
                return if matches!(stopped, Stopped::Abort) { Err(Abort) } else { Ok(()) };
            }
        };
        if out.is_some() {
            let restored = self.decompress && self.names == Some(true) && kept_time != 0;
            let changed = if restored { u64::from(kept_time) * 1_000_000_000 } else { stat.mtime_ns };
            if let Err(errno) = take_over(target, stat, changed) {
                self.system(target, errno);
            }
            if !self.keep
                && let Err(errno) = tidebox_rt::unlink(name)
            {
                self.system(name, errno);
            }
        }
        if self.verbose {
            self.say_saved(target, source, &sink, &passed);
        }
        Ok(())
    }

    fn say_saved(&self, target: &[u8], source: &Source, sink: &Sink, passed: &Passed) {
        if self.test {
            return print_parts(&[b" OK\n"]);
        }
        let how: &[u8] = if self.keep { b"created" } else { b"replaced with" };
        print_parts(&[self.saved(source, sink, passed).as_bytes(), b" -- ", how, b" ", target, b"\n"]);
    }

    /// Returns the space saved, in percent.
    fn saved(&self, source: &Source, sink: &Sink, passed: &Passed) -> String {
        let (small, large) = if self.decompress {
            // With several members gzip counts only the last one.
            (source.consumed(), if passed.overhead == 0 { passed.length } else { sink.put_so_far() })
        } else {
            (sink.put_so_far(), source.consumed())
        };
        percent(large, small, passed.overhead)
    }

    /// Compresses or decompresses a stream.
    fn pass(
        &mut self,
        name: &[u8],
        target: &[u8],
        source: &mut Source,
        sink: &mut Sink,
        header: Header,
    ) -> Result<Passed, Stopped> {
        if self.decompress {
            let start = self.first(name, source)?;
            return self.members(name, target, source, sink, start);
        }
        let packed = member::pack(source, sink, self.level, &header)
            .and_then(|overhead| sink.finish().map(|()| overhead).map_err(CodecError::Write));
        match packed {
            Ok(overhead) => Ok(Passed { header, overhead, ..Passed::default() }),
            Err(broken) => Err(self.broken(name, target, &broken)),
        }
    }
}

/// Returns the share of `large` saved by `small`, excluding `overhead` bytes.
pub(crate) fn percent(large: u64, small: u64, overhead: u64) -> String {
    let saved = large as f64 - (small as f64 - overhead as f64);
    let share = if large == 0 { 0.0 } else { 100.0 * saved / large as f64 };
    format!("{share:5.1}%")
}
