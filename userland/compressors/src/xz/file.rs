//! Processing of each operand: input file, output file and messages.

use tidebox_rt::{Fd, FileKind, Stat};

use super::codec::{self, CodecError};
use super::{Format, Mode, Xz};
use crate::place::{take_over, without_suffix};
use crate::stream::{self, Sink, Source};
use crate::words::print_parts;

/// A suffix, and its replacement.
type Suffix = (&'static [u8], &'static [u8]);

impl Xz {
    /// Processes the operands and returns the exit code.
    pub(crate) fn run(mut self, files: &[Vec<u8>]) -> i32 {
        for file in files {
            match (self.mode, file.as_slice()) {
                (Mode::List, b"-") => self.error(&[b"--list does not support reading from standard input"]),
                (Mode::List, name) => self.list(name),
                (_, b"-") => {
                    self.to_stdout = true;
                    self.stream(b"(stdin)", b"(stdout)", 0, Some(1));
                }
                (_, name) => self.operand(name),
            }
        }
        if self.mode == Mode::List {
            self.totals();
        }
        self.code
    }

    fn operand(&mut self, name: &[u8]) {
        let stat = match self.examine(name) {
            Some(stat) => stat,
            None => return,
        };
        let fd = match stream::open(name) {
            Ok(fd) => fd,
            Err(errno) => return self.error(&[name, b": ", errno.text().as_bytes()]),
        };
        self.opened(name, fd, &stat);
        // Nothing was written to it.
        let _ = tidebox_rt::close(fd);
    }

    /// Returns whether a file can be processed.
    fn examine(&mut self, name: &[u8]) -> Option<Stat> {
        let into_file = !self.to_stdout && self.mode != Mode::Test;
        let stat = match tidebox_rt::stat(name, self.to_stdout || self.force || self.keep || self.mode == Mode::Test) {
            Ok(stat) => stat,
            Err(errno) => {
                self.error(&[name, b": ", errno.text().as_bytes()]);
                return None;
            }
        };
        let refused = match stat.kind() {
            FileKind::Symlink => Some("Is a symbolic link, skipping"),
            FileKind::Dir => Some("Is a directory, skipping"),
            FileKind::File if !into_file => None,
            FileKind::File if !self.force && stat.mode & 0o6000 != 0 => {
                Some("File has setuid or setgid bit set, skipping")
            }
            FileKind::File if !self.force && stat.mode & 0o1000 != 0 => Some("File has sticky bit set, skipping"),
            FileKind::File if !self.force && !self.keep && stat.nlink > 1 => {
                Some("Input file has more than one hard link, skipping")
            }
            FileKind::File => None,
            _ if into_file => Some("Not a regular file, skipping"),
            _ => None,
        };
        if let Some(refused) = refused {
            self.warn(&[name, b": ", refused.as_bytes()]);
            return None;
        }
        Some(stat)
    }

    fn opened(&mut self, name: &[u8], fd: Fd, stat: &Stat) {
        if self.to_stdout || self.mode == Mode::Test {
            self.stream(name, b"(stdout)", fd, (self.mode != Mode::Test).then_some(1));
            return;
        }
        if self.mode == Mode::Decompress && !self.is_readable(name, fd) {
            return;
        }
        let Some(target) = self.target(name) else {
            return;
        };
        if self.force {
            // If it remains, creating it reports the error.
            let _ = tidebox_rt::unlink(&target);
        }
        let out = match stream::create(&target) {
            Ok(out) => out,
            Err(errno) => return self.error(&[&target, b": ", errno.text().as_bytes()]),
        };
        let good = self.stream(name, &target, fd, Some(out));
        let closed = tidebox_rt::close(out);
        if !good {
            // The file is incomplete; a failure to remove it cannot be reported better.
            let _ = tidebox_rt::unlink(&target);
            return;
        }
        if let Err(errno) = closed.and_then(|()| take_over(&target, stat, stat.mtime_ns)) {
            self.error(&[&target, b": ", errno.text().as_bytes()]);
        }
        if !self.keep
            && let Err(errno) = tidebox_rt::unlink(name)
        {
            self.error(&[name, b": Cannot remove: ", errno.text().as_bytes()]);
        }
    }

    /// Checks that the first bytes match the selected format. The name is checked later.
    fn is_readable(&mut self, name: &[u8], fd: Fd) -> bool {
        let known = codec::sniff(&mut Source::new(fd));
        if let Err(errno) = tidebox_rt::seek_to(fd, 0) {
            self.error(&[name, b": ", errno.text().as_bytes()]);
            return false;
        }
        match known {
            Ok(Some(known)) if self.format == Format::Auto || self.format == known => true,
            Err(broken) => {
                self.broken(name, b"", &broken);
                false
            }
            Ok(_) => {
                self.broken(name, b"", &CodecError::Unknown);
                false
            }
        }
    }

    /// Returns the name of the output file.
    fn target(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        let (own, others): (&[u8], &[Suffix]) = match self.format {
            Format::Lzma => (b".lzma", &[(b".lzma", b""), (b".tlz", b".tar")]),
            _ => (b".xz", &[(b".xz", b""), (b".txz", b".tar")]),
        };
        if self.mode == Mode::Compress {
            for (suffix, _) in others {
                if without_suffix(name, suffix).is_some() {
                    self.warn(&[name, b": File already has `", suffix, b"' suffix, skipping"]);
                    return None;
                }
            }
            if let Some(suffix) = self.suffix.clone()
                && without_suffix(name, &suffix).is_some()
            {
                self.warn(&[name, b": File already has `", &suffix, b"' suffix, skipping"]);
                return None;
            }
            return Some([name, self.suffix.as_deref().unwrap_or(own)].concat());
        }
        let all: &[Suffix] = &[(b".xz", b""), (b".txz", b".tar"), (b".lzma", b""), (b".tlz", b".tar"), (b".lz", b"")];
        let known = if self.format == Format::Auto { all } else { others };
        let asked = self.suffix.as_deref().and_then(|suffix| without_suffix(name, suffix)).map(<[u8]>::to_vec);
        let found = asked.or_else(|| {
            known.iter().find_map(|(suffix, stands)| Some([without_suffix(name, suffix)?, stands].concat()))
        });
        if found.is_none() {
            self.warn(&[name, b": Filename has an unknown suffix, skipping"]);
        }
        found
    }

    /// Compresses, decompresses or tests a stream, and returns whether it succeeded.
    fn stream(&mut self, name: &[u8], target: &[u8], fd: Fd, out: Option<Fd>) -> bool {
        let mut source = Source::new(fd);
        let mut sink = Sink::new(out.filter(|_| self.mode != Mode::Test));
        let done = if self.mode == Mode::Compress {
            codec::pack(&mut source, &mut sink, self.format, &self.how)
        } else {
            codec::unpack(&mut source, &mut sink, self.format)
        };
        let passes_on = self.force && self.to_stdout && self.mode == Mode::Decompress && self.format == Format::Auto;
        if done == Err(CodecError::Unknown) && passes_on {
            let copied = stream::copy(&mut source, &mut sink).and_then(|()| sink.finish());
            return copied.map_err(|errno| self.broken(name, target, &CodecError::Write(errno))).is_ok();
        }
        let (small, large) = match self.mode {
            Mode::Compress => (sink.put_so_far(), source.consumed()),
            _ => (source.consumed(), sink.put_so_far()),
        };
        if self.verbosity > 2 && (done.is_ok() || (small > 0 && large > 0)) {
            print_parts(&[name, b": ", sizes(small, large).as_bytes(), b"\n"]);
        }
        done.map_err(|broken| self.broken(name, target, &broken)).is_ok()
    }

    /// Prints the error.
    fn broken(&mut self, name: &[u8], target: &[u8], broken: &CodecError) {
        let what = match broken {
            CodecError::Read(errno) => format!("Read error: {}", errno.text()),
            CodecError::Write(errno) => {
                return self.error(&[target, b": Write error: ", errno.text().as_bytes()]);
            }
            CodecError::Unknown => "File format not recognized".to_owned(),
            CodecError::Ended => "Unexpected end of input".to_owned(),
            CodecError::Damaged => "Compressed data is corrupt".to_owned(),
            CodecError::Options => "Unsupported options".to_owned(),
            CodecError::Memory => "Memory usage limit reached".to_owned(),
        };
        self.error(&[name, b": ", what.as_bytes()]);
    }
}

/// Formats both sizes and their ratio.
fn sizes(small: u64, large: u64) -> String {
    let ratio = match small as f64 / large as f64 {
        ratio if ratio.is_nan() => String::new(),
        ratio if ratio > 9.999 => " > 9.999".to_owned(),
        ratio => format!(" = {ratio:.3}"),
    };
    format!("{} / {}{ratio}", nice(small), nice(large))
}

/// Formats a number of bytes for people.
pub(crate) fn nice(bytes: u64) -> String {
    if bytes < 10_000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = "KiB";
    for next in ["MiB", "GiB", "TiB"] {
        if value <= 9999.9 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    format!("{value:.1} {unit}")
}
