//! One operand after the other: which file it means, what takes its place, and what is said of it.

use std::borrow::Cow;

use tidebox_rt::{Errno, Fd, FileKind, Stat};

use super::member::{self, Broken, Header, Start};
use super::{Abort, Gzip};
use crate::place::{files_below, take_over, without_suffix};
use crate::stream::{self, Sink, Source};
use crate::words::tell;

/// Suffixes that decompressing knows besides the one that was asked for.
const KNOWN: &[&[u8]] = &[b".gz", b".z", b".taz", b".tgz", b"-gz", b"-z", b"_z", b".Z"];
/// What is tried behind a name that does not exist.
const TRIED: &[&[u8]] = &[b".gz", b".z", b"-z", b".Z"];

/// What became of the data of one file.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    pub(crate) header: Header,
    /// Bytes of the header and the end of the only member; 0 when there are several.
    pub(crate) overhead: u64,
    /// What the end of the last member says.
    pub(crate) sum: u32,
    pub(crate) length: u64,
}

/// Why the data of one file did not pass.
#[derive(Debug)]
enum Stopped {
    /// The file is told of, the next one follows.
    Told,
    Abort,
}

impl Gzip {
    /// Works through the operands and says how the run ends.
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
            Ok(_) if self.verbose && self.test => tell(&[b" OK\n"]),
            Ok(passed) if self.verbose && !self.decompress => {
                tell(&[self.saved(&source, &sink, &passed).as_bytes(), b"\n"]);
            }
            Ok(_) => {}
        }
        Ok(())
    }

    /// The time that a header keeps of a file.
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

    /// Finds and opens a file; without a descriptor it is a directory to go through.
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
            // The first header may name the file, and what is no archive must not make one.
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

    /// Whether a file may be replaced at all.
    fn may_replace(&mut self, name: &[u8], stat: &Stat) -> bool {
        if stat.kind() != FileKind::File {
            self.warn(&[name, b" is not a directory or a regular file - ignored"]);
            return false;
        }
        for (bit, what) in [(0o4000, "set-user-ID"), (0o2000, "set-group-ID")] {
            if stat.mode & bit != 0 {
                self.warn(&[name, b" is ", what.as_bytes(), b" on execution - ignored"]);
                return false;
            }
        }
        if !self.force && stat.nlink > 1 {
            let others = stat.nlink - 1;
            let text = format!(" has {others} other link{} -- file ignored", if others == 1 { "" } else { "s" });
            self.warn(&[name, text.as_bytes()]);
            return false;
        }
        true
    }

    /// The suffix that a name has, of those that are known.
    fn suffix_of(&self, name: &[u8]) -> Option<usize> {
        let lower = name.to_ascii_lowercase();
        let own = without_suffix(name, &self.suffix).map(|_| self.suffix.len());
        own.or_else(|| {
            KNOWN.iter().find(|suffix| without_suffix(&lower, &suffix.to_ascii_lowercase()).is_some()).map(|s| s.len())
        })
    }

    /// The name of the result, or of what `-l` shows.
    fn target(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        let known = self.suffix_of(name);
        if !self.decompress {
            if self.to_stdout {
                return Some(b"stdout".to_vec());
            }
            return match known {
                Some(length) => {
                    let suffix = name.get(name.len() - length..).unwrap_or_default();
                    if self.verbose || (!self.recursive && !self.quiet) {
                        tell(&[b"gzip: ", name, b" already has ", suffix, b" suffix -- unchanged\n"]);
                    }
                    None
                }
                None => Some([name, &self.suffix].concat()),
            };
        }
        if self.to_stdout && !self.list && !self.test {
            return Some(b"stdout".to_vec());
        }
        match known {
            Some(length) => {
                let (stem, suffix) = name.split_at(name.len() - length);
                let archive = matches!(suffix.to_ascii_lowercase().as_slice(), b".tgz" | b".taz");
                Some([stem, if archive { b".tar" } else { b"" }].concat())
            }
            None if self.list || self.test => Some(name.to_vec()),
            None => {
                if self.verbose || !self.recursive {
                    self.warn(&[name, b": unknown suffix -- ignored"]);
                }
                None
            }
        }
    }

    /// Makes the file of the result; none when only standard output or nobody takes it.
    fn make(&mut self, target: &[u8]) -> Option<(Vec<u8>, Option<Fd>)> {
        if self.to_stdout {
            return Some((b"stdout".to_vec(), None));
        }
        let mut made = stream::create(target);
        if made == Err(Errno::EXIST) {
            if !self.force {
                // There is no terminal to ask at.
                tell(&[b"gzip: ", target, b" already exists;\tnot overwritten\n"]);
                if self.code == 0 {
                    self.code = 2;
                }
                return None;
            }
            made = tidebox_rt::unlink(target).and_then(|()| stream::create(target));
        }
        match made {
            Ok(fd) => Some((target.to_vec(), Some(fd))),
            Err(errno) => {
                self.system(target, errno);
                None
            }
        }
    }

    /// Reads one file and writes the other, then lets the new one take the place of the old one.
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
            tell(&[name, b":\t"]);
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
                    // It is of no use, and nothing more can be said when it stays.
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
            return tell(&[b" OK\n"]);
        }
        let how: &[u8] = if self.keep { b"created" } else { b"replaced with" };
        tell(&[self.saved(source, sink, passed).as_bytes(), b" -- ", how, b" ", target, b"\n"]);
    }

    /// How much was saved, in percent.
    fn saved(&self, source: &Source, sink: &Sink, passed: &Passed) -> String {
        let (small, large) = if self.decompress {
            // Of several members gzip counts the last one only.
            (source.taken(), if passed.overhead == 0 { passed.length } else { sink.put_so_far() })
        } else {
            (sink.put_so_far(), source.taken())
        };
        percent(large, small, passed.overhead)
    }

    /// Compresses or unpacks a stream.
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
            .and_then(|overhead| sink.finish().map(|()| overhead).map_err(Broken::Write));
        match packed {
            Ok(overhead) => Ok(Passed { header, overhead, ..Passed::default() }),
            Err(broken) => Err(self.broken(name, target, &broken)),
        }
    }

    /// Reads the first header.
    fn first(&mut self, name: &[u8], source: &mut Source) -> Result<Start, Stopped> {
        let passes_on = self.force && self.to_stdout && !self.list;
        let start = member::header(source).map_err(|broken| self.broken(name, b"stdout", &broken))?;
        if start == Start::Other && !passes_on {
            if source.peek(2).map_err(|errno| self.broken(name, b"", &Broken::Read(errno)))?.len() < 2 {
                return Err(self.broken(name, b"", &Broken::Ended));
            }
            self.error_apart(&[name, b": not in gzip format"]);
            return Err(Stopped::Told);
        }
        Ok(start)
    }

    /// Unpacks the members of a file, of which the first has been begun.
    fn members(
        &mut self,
        name: &[u8],
        target: &[u8],
        source: &mut Source,
        sink: &mut Sink,
        start: Start,
    ) -> Result<Passed, Stopped> {
        let done = self.each_member(name, source, sink, start);
        let flushed = sink.finish().map_err(Broken::Write);
        match done {
            Ok(passed) => flushed.map(|()| passed).map_err(|broken| self.broken(name, target, &broken)),
            Err(Some(broken)) => Err(self.broken(name, target, &broken)),
            Err(None) => Err(if self.test { Stopped::Told } else { Stopped::Abort }),
        }
    }

    fn each_member(
        &mut self,
        name: &[u8],
        source: &mut Source,
        sink: &mut Sink,
        start: Start,
    ) -> Result<Passed, Option<Broken>> {
        let Start::Member(header) = start else {
            stream::copy(source, sink).map_err(|errno| Some(copy_broken(sink, errno)))?;
            return Ok(Passed::default());
        };
        let mut passed = Passed { header, overhead: source.taken() + 8, ..Passed::default() };
        loop {
            let checked = member::unpack(source, sink).map_err(Some)?;
            (passed.sum, passed.length) = (checked.sum, u64::from(checked.length));
            if !checked.sum_fits {
                self.error_apart(&[name, b": invalid compressed data--crc error"]);
            }
            if !checked.length_fits {
                self.error_apart(&[name, b": invalid compressed data--length error"]);
            }
            if !checked.sum_fits || !checked.length_fits {
                return Err(None);
            }
            if source.peek(1).map_err(|errno| Some(Broken::Read(errno)))?.is_empty() {
                return Ok(passed);
            }
            if !self.another(name, source).map_err(Some)? {
                return Ok(passed);
            }
            passed.overhead = 0;
        }
    }

    /// Whether another member follows. Zeros fill tapes and are nothing; anything else is told of.
    fn another(&mut self, name: &[u8], source: &mut Source) -> Result<bool, Broken> {
        if source.held().first() == Some(&0x1f) && source.peek(2).map_err(Broken::Read)?.len() < 2 {
            return Err(Broken::Ended);
        }
        if matches!(member::header(source)?, Start::Member(_)) {
            return Ok(true);
        }
        loop {
            match source.byte().map_err(Broken::Read)? {
                Some(0) => {}
                None => return Ok(false),
                Some(_) => break,
            }
        }
        if !self.quiet {
            tell(&[b"\ngzip: ", name, b": decompression OK, trailing garbage ignored\n"]);
        }
        if self.code == 0 {
            self.code = 2;
        }
        Ok(false)
    }

    /// Says what is broken.
    fn broken(&mut self, name: &[u8], target: &[u8], broken: &Broken) -> Stopped {
        match broken {
            Broken::Read(errno) => self.error_apart(&[name, b": ", errno.text().as_bytes()]),
            // A reader that has gone ends the program by a signal; whoever ignores that wants no words.
            Broken::Write(errno) => self.error_apart(&[target, b": ", errno.text().as_bytes()]),
            Broken::Ended => self.error_apart(&[name, b": unexpected end of file"]),
            Broken::Format => self.error_apart(&[name, b": invalid compressed data--format violated"]),
            Broken::Encrypted => {
                self.error(&[name, b" is encrypted -- not supported"]);
                return Stopped::Told;
            }
            Broken::Flags(flags) => {
                self.error(&[name, format!(" has flags 0x{flags:x} -- not supported").as_bytes()]);
                return Stopped::Told;
            }
            Broken::HeaderSum { told, computed } => {
                let text = format!(": header checksum 0x{told:04x} != computed checksum 0x{computed:04x}");
                self.error(&[name, text.as_bytes()]);
                return Stopped::Told;
            }
            Broken::Method(method) => {
                self.error(&[name, format!(": unknown method {method} -- not supported").as_bytes()]);
                return Stopped::Told;
            }
        }
        Stopped::Abort
    }
}

fn copy_broken(sink: &Sink, errno: Errno) -> Broken {
    if sink.failure().is_some() { Broken::Write(errno) } else { Broken::Read(errno) }
}

/// What share of `large` was saved by `small`, which has `overhead` bytes that do not count.
pub(crate) fn percent(large: u64, small: u64, overhead: u64) -> String {
    let saved = large as f64 - (small as f64 - overhead as f64);
    let share = if large == 0 { 0.0 } else { 100.0 * saved / large as f64 };
    format!("{share:5.1}%")
}
