//! Processing of each operand: input file, output file and messages.

use tidebox_rt::{Fd, FileKind, Stat};

use super::codec::{self, CodecError};
use super::{Mode, Zstd};
use crate::place::{take_over, without_suffix};
use crate::stream::{self, Sink, Source};

const STDIN: &[u8] = b"/*stdin*\\";
const STDOUT: &[u8] = b"/*stdout*\\";

/// Suffixes of compressed files, and their replacements.
const SUFFIXES: &[(&[u8], &[u8])] = &[(b".zst", b""), (b".tzst", b".tar")];

/// Totals of one run.
#[derive(Debug, Default)]
struct Sums {
    files: usize,
    read: u64,
    written: u64,
}

impl Zstd {
    /// Processes the operands and returns the exit code.
    pub(crate) fn run(mut self, files: &[Vec<u8>]) -> i32 {
        let from_stdin = files.iter().any(|file| file == b"-");
        if self.output.is_none() && from_stdin && self.mode != Mode::Test {
            self.to_stdout = true;
        }
        if self.verbosity > 2 {
            self.note(3, &[b"*** Zstandard CLI (64-bit) v1.5.4, by Yann Collet ***\n"]);
        }
        if self.to_stdout && self.verbosity == 2 {
            self.verbosity = 1;
        }
        if files.len() > 1 && self.output.is_some() && !self.force {
            let output = self.output.clone().unwrap_or_default();
            self.error(&[
                b"zstd: WARNING: all input files will be processed and concatenated into a single output file: ",
                &output,
                b" \nThe concatenated output CANNOT regenerate original file names nor directory structure. \n",
                b"Proceed? (y/n): Aborting... \n",
            ]);
            return 1;
        }
        let mut sums = Sums::default();
        let shared = match self.output.clone().filter(|_| self.mode != Mode::Test && files.len() > 1) {
            Some(target) => match self.make(&target) {
                Some(fd) => Some((target, fd)),
                None => return 1,
            },
            None => None,
        };
        for file in files {
            self.operand(file, shared.as_ref(), files.len() > 1, &mut sums);
        }
        if let Some((target, fd)) = shared
            && let Err(errno) = tidebox_rt::close(fd)
        {
            self.error(&[b"zstd: ", &target, b": ", errno.text().as_bytes(), b" \n"]);
        }
        if files.len() > 1 && sums.files >= 1 {
            self.print_sums(&sums);
        }
        self.code
    }

    fn print_sums(&self, sums: &Sums) {
        if self.mode == Mode::Compress {
            let share = percent(sums.written, sums.read);
            let ((read, read_unit), (written, written_unit)) = (human(sums.read), human(sums.written));
            let text = format!(
                "{:3} files compressed : {share:.2}% ({read}{read_unit:>4} => {written}{written_unit:>4})\n",
                sums.files,
            );
            self.note(2, &[text.as_bytes()]);
        } else {
            let text = format!("{} files decompressed : {:6} bytes total \n", sums.files, sums.written);
            self.note(2, &[text.as_bytes()]);
        }
    }

    fn operand(&mut self, name: &[u8], shared: Option<&(Vec<u8>, Fd)>, several: bool, sums: &mut Sums) {
        if name == b"-" {
            let target = self.output.clone().unwrap_or_else(|| STDOUT.to_vec());
            let out = match (shared, &self.output) {
                (Some((_, fd)), _) => Some(*fd),
                (None, Some(_)) if self.mode != Mode::Test => match self.make(&target) {
                    Some(fd) => Some(fd),
                    None => return,
                },
                _ => (self.mode != Mode::Test).then_some(1),
            };
            self.stream(STDIN, &target, 0, out, None, several, sums);
            if let (None, Some(fd), true) = (shared, out, self.output.is_some()) {
                self.close(&target, fd);
            }
            return;
        }
        let target = match self.target(name) {
            Ok(target) => target,
            Err(()) => return,
        };
        let stat = match tidebox_rt::stat(name, true) {
            Ok(stat) if stat.kind() == FileKind::Dir => {
                return self.error(&[b"zstd: ", name, b" is a directory -- ignored \n"]);
            }
            Ok(stat) => stat,
            Err(errno) => {
                return self.error(&[b"zstd: can't stat ", name, b" : ", errno.text().as_bytes(), b" -- ignored \n"]);
            }
        };
        let fd = match stream::open(name) {
            Ok(fd) => fd,
            Err(errno) => return self.error(&[b"zstd: ", name, b": ", errno.text().as_bytes(), b" \n"]),
        };
        self.opened(name, &target, fd, &stat, shared, several, sums);
        // Nothing was written to it.
        let _ = tidebox_rt::close(fd);
    }

    #[expect(clippy::too_many_arguments, reason = "a file, its place and the sums it belongs to")]
    fn opened(
        &mut self,
        name: &[u8],
        target: &[u8],
        fd: Fd,
        stat: &Stat,
        shared: Option<&(Vec<u8>, Fd)>,
        several: bool,
        sums: &mut Sums,
    ) {
        let size = (stat.kind() == FileKind::File).then_some(stat.size);
        let own = !self.to_stdout && self.mode != Mode::Test && shared.is_none();
        let out = match shared {
            Some((_, fd)) => Some(*fd),
            None if own => match self.make(target) {
                Some(fd) => Some(fd),
                None => return,
            },
            None => (self.mode != Mode::Test).then_some(1),
        };
        let good = self.stream(name, target, fd, out, size, several, sums);
        let Some(out) = out.filter(|_| own) else {
            return;
        };
        let closed = self.close(target, out);
        if !good {
            // The file is incomplete; a failure to remove it cannot be reported better.
            let _ = tidebox_rt::unlink(target);
            return;
        }
        if let Err(errno) = take_over(target, stat, stat.mtime_ns) {
            self.error(&[b"zstd: ", target, b": ", errno.text().as_bytes(), b" \n"]);
        }
        if self.remove
            && closed
            && let Err(errno) = tidebox_rt::unlink(name)
        {
            self.error(&[b"zstd: ", name, b": ", errno.text().as_bytes(), b" \n"]);
        }
    }

    fn close(&mut self, target: &[u8], fd: Fd) -> bool {
        let closed = tidebox_rt::close(fd);
        if let Err(errno) = closed {
            self.error(&[b"zstd: ", target, b": ", errno.text().as_bytes(), b" \n"]);
        }
        closed.is_ok()
    }

    /// Returns the name of the output file.
    fn target(&mut self, name: &[u8]) -> Result<Vec<u8>, ()> {
        if self.to_stdout || self.mode == Mode::Test {
            return Ok(STDOUT.to_vec());
        }
        if let Some(output) = &self.output {
            return Ok(output.clone());
        }
        let target = if self.mode == Mode::Compress {
            Some([name, b".zst"].concat())
        } else {
            SUFFIXES
                .iter()
                .find_map(|(suffix, replacement)| Some([without_suffix(name, suffix)?, replacement].concat()))
        };
        let Some(target) = target else {
            self.error(&[
                b"zstd: ",
                name,
                b": unknown suffix (.zst/.tzst/.gz/.tgz/.lzma/.xz/.txz/.lz4/.tlz4 expected). ",
                b"Can't derive the output file name. Specify it with -o dstFileName. Ignoring.\n",
            ]);
            return Err(());
        };
        Ok(match &self.folder {
            Some(folder) => {
                let last = target.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
                [folder, b"/".as_slice(), last].concat()
            }
            None => target,
        })
    }

    fn make(&mut self, target: &[u8]) -> Option<Fd> {
        match tidebox_rt::stat(target, true) {
            Ok(stat) if stat.kind() == FileKind::File => {
                if !self.force {
                    if self.verbosity <= 1 {
                        self.error(&[b"zstd: ", target, b" already exists; not overwritten  \n"]);
                    } else {
                        // No terminal is available to confirm.
                        self.error(&[b"zstd: ", target, b" already exists; overwrite (y/n) ? Not overwritten  \n \n"]);
                    }
                    return None;
                }
                // If it remains, creating it reports the error.
                let _ = tidebox_rt::unlink(target);
            }
            // A device or a pipe is written directly.
            Ok(stat) if stat.kind() != FileKind::Dir => {
                let how = tidebox_rt::Open { write: true, ..tidebox_rt::Open::default() };
                if let Ok(fd) = tidebox_rt::open(target, how) {
                    return Some(fd);
                }
            }
            _ => {}
        }
        match stream::create(target) {
            Ok(fd) => Some(fd),
            Err(errno) => {
                self.error(&[b"zstd: ", target, b": ", errno.text().as_bytes(), b"\n"]);
                None
            }
        }
    }

    /// Compresses, decompresses or tests a stream, and returns whether it succeeded.
    #[expect(clippy::too_many_arguments, reason = "a file, its place and the sums it belongs to")]
    fn stream(
        &mut self,
        name: &[u8],
        target: &[u8],
        fd: Fd,
        out: Option<Fd>,
        size: Option<u64>,
        several: bool,
        sums: &mut Sums,
    ) -> bool {
        let mut source = Source::new(fd);
        let mut sink = Sink::new(out);
        let done = if self.mode == Mode::Compress {
            codec::pack(self, &mut source, &mut sink, size)
        } else {
            codec::unpack(&mut source, &mut sink, self.passes_on)
        };
        if let Err(broken) = done {
            self.broken(name, target, &broken);
            return false;
        }
        let (read, written) = (source.consumed(), sink.put_so_far());
        sums.files += 1;
        sums.read += read;
        sums.written += written;
        if several && self.verbosity < 3 {
            return true;
        }
        if self.mode == Mode::Compress {
            let ((r, read_unit), (w, written_unit)) = (human(read), human(written));
            let name = String::from_utf8_lossy(name);
            let target = String::from_utf8_lossy(target);
            let share = percent(written, read);
            let text = format!("{name:<20} :{share:6.2}%   ({r}{read_unit} => {w}{written_unit}, {target}) \n");
            self.note(2, &[text.as_bytes()]);
        } else {
            let name = String::from_utf8_lossy(name);
            self.note(2, &[format!("{name:<20}: {written} bytes \n").as_bytes()]);
        }
        true
    }

    /// Prints the error.
    fn broken(&mut self, name: &[u8], target: &[u8], broken: &CodecError) {
        let about: &[u8] = match broken {
            CodecError::Read(errno) => {
                return self.error(&[b"zstd: error 22 : Read error : ", errno.text().as_bytes(), b" \n"]);
            }
            CodecError::Write(errno) => {
                let _ = target;
                return self.error(&[
                    b"zstd: error 70 : Write error : cannot write block : ",
                    errno.text().as_bytes(),
                    b" \n",
                ]);
            }
            CodecError::Ended => return self.error(&[name, b" : Read error (39) : premature end \n"]),
            CodecError::Sum => {
                return self.error(&[name, b" : Decoding error (36) : Restored data doesn't match checksum \n"]);
            }
            CodecError::Damaged => return self.error(&[name, b" : Decoding error (36) : Data corruption detected \n"]),
            CodecError::Dictionary => return self.error(&[name, b" : Decoding error (36) : Dictionary mismatch \n"]),
            CodecError::Window(size) => {
                let mib = size >> 20;
                self.error(&[name, b" : Decoding error (36) : Frame requires too much memory for decoding \n"]);
                let text = format!(" : Window size larger than maximum : {size} > 134217728 \n");
                self.note(1, &[name, text.as_bytes()]);
                let bits = u64::BITS - size.leading_zeros();
                let text = format!(" : Use --long={bits} or --memory={mib}MB \n");
                return self.note(1, &[name, text.as_bytes()]);
            }
            CodecError::Empty => b"unexpected end of file",
            CodecError::Short => b"unknown header",
            CodecError::Unknown => b"unsupported format",
        };
        self.error(&[b"zstd: ", name, b": ", about, b" \n"]);
    }
}

fn percent(written: u64, read: u64) -> f64 {
    written as f64 / (read as f64 + f64::from(u8::from(read == 0))) * 100.0
}

/// Formats a number of bytes with its unit for people.
pub(crate) fn human(bytes: u64) -> (String, &'static str) {
    let units = [" B", " KiB", " MiB", " GiB", " TiB"];
    let mut value = bytes as f64;
    let mut at = 0;
    while value >= 1024.0 && at + 1 < units.len() {
        value /= 1024.0;
        at += 1;
    }
    let digits = match value {
        _ if at == 0 => 0,
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value > 1.0 => 2,
        _ => 3,
    };
    (format!("{value:6.digits$}"), units.get(at).copied().unwrap_or(" B"))
}
