//! Processing of each operand: input file, output file and messages.

use tidebox_rt::{Errno, Fd, FileKind, Stat};

use super::codec::{self, CodecError};
use super::{Bzip2, Mode};
use crate::place::{take_over, without_suffix};
use crate::stream::{self, Sink, Source};
use crate::words::print_parts;

/// Suffixes of compressed files, and their replacements.
const SUFFIXES: &[(&[u8], &[u8])] = &[(b".bz2", b""), (b".bz", b""), (b".tbz2", b".tar"), (b".tbz", b".tar")];

/// A damaged file ends the run.
struct Abort;

impl Bzip2 {
    /// Processes the operands and returns the exit code.
    pub(crate) fn run(mut self, files: &[Vec<u8>]) -> i32 {
        for file in files.iter().filter(|file| file.as_slice() != b"-") {
            self.widest = self.widest.max(file.len());
        }
        if files.is_empty() {
            self.to_stdout = true;
            if self.stream(b"(stdin)", b"(stdout)", 0, None).is_err() {
                return 2;
            }
        }
        for (at, file) in files.iter().enumerate() {
            let name = if file == b"-" { b"(stdin)" } else { file.as_slice() };
            let ended = if file == b"-" { self.stream(name, b"(stdout)", 0, None) } else { self.operand(file) };
            if ended.is_err() {
                let left = files.len() - at - 1;
                if left > 0 && !self.quiet {
                    let name = &self.name;
                    let text = format!(
                        "{name}: WARNING: some files have not been processed:\n\
                         {name}:    {} specified on command line, {left} not processed yet.\n\n",
                        files.len(),
                    );
                    print_parts(&[text.as_bytes()]);
                }
                return 2;
            }
        }
        if self.failed && !self.quiet {
            self.recover();
        }
        self.code
    }

    fn recover(&self) {
        print_parts(&[b"\nYou can use the `bzip2recover' program to attempt to recover\n\
                 data from undamaged sections of corrupted files.\n\n"]);
    }

    fn operand(&mut self, name: &[u8]) -> Result<(), Abort> {
        let stat = match tidebox_rt::stat(name, false) {
            Ok(stat) if stat.kind() == FileKind::Symlink => tidebox_rt::stat(name, true).map(|at| (at, true)),
            other => other.map(|stat| (stat, false)),
        };
        let (stat, linked) = match stat {
            Ok(found) => found,
            Err(errno) => {
                let what: &[u8] = if self.mode == Mode::Test { b"input " } else { b"input file " };
                self.error(1, &[b"Can't open ", what, name, b": ", errno.text().as_bytes(), b"."]);
                return Ok(());
            }
        };
        let into_file = !self.to_stdout && self.mode != Mode::Test;
        if self.mode == Mode::Compress
            && let Some((suffix, _)) = SUFFIXES.iter().find(|(suffix, _)| without_suffix(name, suffix).is_some())
        {
            self.error(1, &[b"Input file ", name, b" already has ", suffix, b" suffix."]);
            return Ok(());
        }
        if stat.kind() == FileKind::Dir {
            self.error(1, &[b"Input file ", name, b" is a directory."]);
            return Ok(());
        }
        if into_file && !self.force && (linked || stat.kind() != FileKind::File) {
            self.error(1, &[b"Input file ", name, b" is not a normal file."]);
            return Ok(());
        }
        let target = self.target(name);
        if into_file && !self.prepare(name, &target, &stat) {
            return Ok(());
        }
        self.opened(name, &target, &stat, into_file)
    }

    /// Returns the name of the output file.
    fn target(&mut self, name: &[u8]) -> Vec<u8> {
        if self.to_stdout || self.mode == Mode::Test {
            return b"(stdout)".to_vec();
        }
        if self.mode == Mode::Compress {
            return [name, b".bz2"].concat();
        }
        let known = SUFFIXES.iter().find_map(|(suffix, stands)| Some([name.strip_suffix(*suffix)?, stands].concat()));
        known.unwrap_or_else(|| {
            let target = [name, b".out"].concat();
            if !self.quiet {
                let begin = format!("{}: Can't guess original name for ", self.name);
                print_parts(&[begin.as_bytes(), name, b" -- using ", &target, b"\n"]);
            }
            target
        })
    }

    /// Returns whether the output file may be overwritten.
    fn prepare(&mut self, name: &[u8], target: &[u8], stat: &Stat) -> bool {
        if tidebox_rt::stat(target, true).is_ok() {
            if !self.force {
                self.error(1, &[b"Output file ", target, b" already exists."]);
                return false;
            }
            // If it remains, creating it reports the error.
            let _ = tidebox_rt::unlink(target);
        }
        if !self.force && stat.nlink > 1 {
            let others = stat.nlink - 1;
            let text = format!(" has {others} other link{}.", if others > 1 { "s" } else { "" });
            self.error(1, &[b"Input file ", name, text.as_bytes()]);
            return false;
        }
        true
    }

    fn opened(&mut self, name: &[u8], target: &[u8], stat: &Stat, into_file: bool) -> Result<(), Abort> {
        let fd = match stream::open(name) {
            Ok(fd) => fd,
            Err(errno) => {
                let what: &[u8] = if self.mode == Mode::Test { b"input " } else { b"input file " };
                self.error(1, &[b"Can't open ", what, name, b": ", errno.text().as_bytes(), b"."]);
                return Ok(());
            }
        };
        let out = match into_file.then(|| stream::create(target)).transpose() {
            Ok(out) => out,
            Err(errno) => {
                self.error(1, &[b"Can't create output file ", target, b": ", errno.text().as_bytes(), b"."]);
                let _ = tidebox_rt::close(fd);
                return Ok(());
            }
        };
        let before = self.code;
        let ended = self.stream(name, target, fd, out);
        let _ = tidebox_rt::close(fd);
        let Some(out) = out else {
            return ended;
        };
        let closed = tidebox_rt::close(out);
        if ended.is_err() || self.code != before {
            // The file is incomplete; a failure to remove it cannot be reported better.
            let _ = tidebox_rt::unlink(target);
            return ended;
        }
        if let Err(errno) = closed.and_then(|()| take_over(target, stat, stat.mtime_ns)) {
            self.error(1, &[target, b": ", errno.text().as_bytes()]);
        }
        if !self.keep
            && let Err(errno) = tidebox_rt::unlink(name)
        {
            self.error(1, &[b"Can't remove ", name, b": ", errno.text().as_bytes(), b"."]);
        }
        Ok(())
    }

    /// Compresses, decompresses or tests a stream.
    fn stream(&mut self, name: &[u8], target: &[u8], fd: Fd, out: Option<Fd>) -> Result<(), Abort> {
        let mut source = Source::new(fd);
        let mut sink = Sink::new(out.or((self.mode != Mode::Test).then_some(1)));
        if self.verbose {
            let pad = self.widest.saturating_sub(name.len());
            print_parts(&[b"  ", name, b": ", " ".repeat(pad).as_bytes()]);
        }
        if self.mode == Mode::Compress {
            return match codec::pack(&mut source, &mut sink, self.level) {
                Ok(()) => {
                    self.say_sizes(source.consumed(), sink.put_so_far());
                    Ok(())
                }
                Err(broken) => Err(self.broken(name, target, &broken, out.is_some())),
            };
        }
        let done = codec::unpack(&mut source, &mut sink);
        if done == Err(CodecError::NotBzip2) && self.force && self.to_stdout && self.mode == Mode::Decompress {
            let copied = stream::copy(&mut source, &mut sink).and_then(|()| sink.finish());
            return copied.map_err(|errno| self.system(name, target, errno));
        }
        self.unpacked(name, target, done, out.is_some())
    }

    fn unpacked(
        &mut self,
        name: &[u8],
        target: &[u8],
        done: Result<(), CodecError>,
        into_file: bool,
    ) -> Result<(), Abort> {
        let good: &[u8] = if self.mode == Mode::Test { b"ok\n" } else { b"done\n" };
        match done {
            Ok(()) => {
                if self.verbose {
                    print_parts(&[good]);
                }
                Ok(())
            }
            Err(CodecError::Garbage) => {
                if !self.quiet {
                    if self.mode != Mode::Test {
                        let begin = format!("\n{}: ", self.name);
                        print_parts(&[begin.as_bytes(), name, b": "]);
                    }
                    print_parts(&[b"trailing garbage after EOF ignored\n"]);
                }
                if self.verbose {
                    print_parts(&[good]);
                }
                Ok(())
            }
            Err(broken) if self.mode == Mode::Test => self.tested(name, &broken),
            Err(CodecError::NotBzip2) => {
                if self.verbose {
                    print_parts(&[b"not a bzip2 file.\n"]);
                    self.code = self.code.max(2);
                } else {
                    self.error(2, &[name, b" is not a bzip2 file."]);
                }
                Ok(())
            }
            Err(broken) => Err(self.broken(name, target, &broken, into_file)),
        }
    }

    fn tested(&mut self, name: &[u8], broken: &CodecError) -> Result<(), Abort> {
        let what: &[u8] = match broken {
            CodecError::Read(errno) => return Err(self.system(name, b"(stdout)", *errno)),
            CodecError::NotBzip2 => b"bad magic number (file not created by bzip2)",
            CodecError::Ended => b"file ends unexpectedly",
            _ => b"data integrity (CRC) error in data",
        };
        if self.verbose {
            print_parts(&[what, b"\n"]);
            self.code = self.code.max(2);
        } else {
            self.error(2, &[name, b": ", what]);
        }
        self.failed = true;
        Ok(())
    }

    fn say_sizes(&self, large: u64, small: u64) {
        if !self.verbose {
            return;
        }
        if large == 0 {
            return print_parts(&[b" no data compressed.\n"]);
        }
        let (large_f, small_f) = (large as f64, small as f64);
        let text = format!(
            "{:6.3}:1, {:6.3} bits/byte, {:5.2}% saved, {large} in, {small} out.\n",
            large_f / small_f,
            8.0 * small_f / large_f,
            100.0 * (1.0 - small_f / large_f),
        );
        print_parts(&[text.as_bytes()]);
    }

    /// Prints bzip2's long message about damaged data.
    fn broken(&mut self, name: &[u8], target: &[u8], broken: &CodecError, into_file: bool) -> Abort {
        let files: &[&[u8]] = &[b"\tInput file = ", name, b", output file = ", target, b"\n"];
        let advice: &[u8] = b"\nIt is possible that the compressed file(s) have become corrupted.\n\
            You can use the -tvv option to test integrity of such files.\n";
        let own = format!("\n{}: ", self.name);
        match broken {
            CodecError::Read(errno) | CodecError::Write(errno) => return self.system(name, target, *errno),
            CodecError::Ended => {
                // The last system error is part of the message.
                let last = match name {
                    _ if into_file => Errno::NOENT,
                    b"(stdin)" => Errno::NOTTY,
                    _ => Errno::SUCCESS,
                };
                let reason = format!("{}: {}\n", self.name, last.text());
                print_parts(&[
                    own.as_bytes(),
                    b"Compressed file ends unexpectedly;\n\tperhaps it is corrupted?  *Possible* reason follows.\n",
                    reason.as_bytes(),
                    &files.concat(),
                    advice,
                ]);
            }
            _ => print_parts(&[own.as_bytes(), b"Data integrity error when decompressing.\n", &files.concat(), advice]),
        }
        self.recover();
        if into_file && !self.quiet {
            let begin = format!("{}: Deleting output file ", self.name);
            print_parts(&[begin.as_bytes(), target, b", if it exists.\n"]);
        }
        Abort
    }

    fn system(&mut self, name: &[u8], target: &[u8], errno: Errno) -> Abort {
        let begin = format!("\n{0}: I/O or other error, bailing out.  Possible reason follows.\n{0}: ", self.name);
        print_parts(&[begin.as_bytes(), errno.text().as_bytes(), b"\n"]);
        print_parts(&[b"\tInput file = ", name, b", output file = ", target, b"\n"]);
        Abort
    }
}
