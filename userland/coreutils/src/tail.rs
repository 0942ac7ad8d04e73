//! `tail`: prints the end of files, and follows files that grow.

mod part;
use std::collections::VecDeque;

use memchr::{memchr_iter, memrchr};
use tidebox_gnu::message::{print_error, quote_path};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, Fd, FileKind, Open};

use crate::cat::write;
use crate::common::Failure;
use crate::common::follow::{self, Followed, Following};
use crate::common::input::CHUNK;

const USAGE: &str = "\
Usage: tail [OPTION]... [FILE]...
Prints the last 10 lines of each FILE. Without FILE, or if FILE is -, reads standard input.

";

const NOTES: &str = "\n\
NUM may have a unit: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on.
";

tidebox_gnu::options! {
    /// Options of `tail`.
    enum Flag {
        Bytes = "-c, --bytes=[+]NUM", "print the last NUM bytes; with +, start at byte NUM";
        Follow = "-f, --follow[={name|descriptor}]",
            "\nprint data as the file grows; name follows a file that replaces it";
        FollowNameRetry = "-F", "same as --follow=name --retry";
        Lines = "-n, --lines=[+]NUM", "print the last NUM lines; with +, start at line NUM";
        MaxUnchangedStats = "--max-unchanged-stats=N", "has no effect: names are checked each time";
        Pid = "--pid=PID", "with -f, exit after process PID";
        Quiet = "-q, --quiet, --silent", "never print file names";
        Retry = "--retry", "retry files that cannot be opened";
        SleepInterval = "-s, --sleep-interval=N", "with -f, check every N seconds (1)";
        Verbose = "-v, --verbose", "always print file names";
        ZeroTerminated = "-z, --zero-terminated", "end lines with NUL";
        DisableInotify = "---disable-inotify, ---presume-input-pipe", "";
        Digit = "-0 ... -9", "";
    }
}

/// Part of a file to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    bytes: bool,
    /// Print everything starting at that line or byte, instead of the last ones.
    from_start: bool,
    count: u64,
}

/// Parsed options.
#[derive(Debug)]
struct Options {
    part: Part,
    end: u8,
    headers: Option<bool>,
    following: Following,
}

/// Runs `tail`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut options = Options {
        part: Part { bytes: false, from_start: false, count: 10 },
        end: b'\n',
        headers: None,
        following: Following::default(),
    };
    let arguments = options.old_form(arguments);
    let line = Syntax { notes: NOTES, ..Syntax::core("tail", USAGE, 27) };
    let (given, mut files) = line.split::<Failure>(arguments)?;
    for option in given {
        options.set(option)?;
    }
    options.following.check();
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let headers = options.headers.unwrap_or(files.len() > 1);
    let mut code = 0;
    let mut followed = Vec::new();
    let mut printed = None;
    for file in &files {
        let shown: &[u8] = if file == b"-" { b"standard input" } else { file };
        let opened = match file.as_slice() {
            b"-" => Ok(0),
            name => tidebox_rt::open(name, Open { read: true, ..Open::default() }),
        };
        let fd = match opened {
            Ok(fd) => fd,
            Err(error) => {
                code = 1;
                print_error("tail", &format!("cannot open {} for reading: {}", quote_path(shown), error.text()));
                followed.push(Followed::missing(file));
                continue;
            }
        };
        if headers {
            follow::header(shown, &mut printed)?;
        }
        match options.print(fd) {
            Ok(()) => followed.push(Followed::open(file, fd)),
            Err(CopyError::Read(error)) => {
                code = 1;
                print_error("tail", &format!("error reading {}: {}", quote_path(shown), error.text()));
                if error == Errno::ISDIR && options.following.is_wanted() {
                    let name = tidebox_gnu::message::path_label(shown);
                    let reason = "cannot follow end of this type of file; giving up on this name";
                    print_error("tail", &format!("{name}: {reason}"));
                }
            }
            Err(CopyError::Write(failure)) => return Err(failure),
        }
    }
    if options.following.is_wanted() {
        return follow::follow(&options.following, followed, headers, printed, code);
    }
    Ok(code)
}

impl Options {
    /// Prints the requested part of an open file.
    fn print(&self, fd: Fd) -> Result<(), CopyError> {
        if self.part.from_start {
            return self.skip(fd);
        }
        let stat = tidebox_rt::fstat(fd).map_err(CopyError::Read)?;
        let here = tidebox_rt::seek(fd, 0).ok().filter(|_| stat.kind() == FileKind::File);
        match here {
            Some(here) => self.print_file(fd, here, stat.size.max(here)),
            None => self.print_stream(fd),
        }
    }

    /// Prints everything starting at the selected line or byte.
    fn skip(&self, fd: Fd) -> Result<(), CopyError> {
        let mut left = self.part.count.saturating_sub(1);
        let mut buffer = vec![0; CHUNK];
        loop {
            let got = read(fd, &mut buffer)?;
            let mut bytes = buffer.get(..got).unwrap_or_default();
            if got == 0 {
                return Ok(());
            }
            if left > 0 && self.part.bytes {
                let skipped = usize::try_from(left).unwrap_or(usize::MAX).min(got);
                left -= skipped as u64;
                bytes = bytes.get(skipped..).unwrap_or_default();
            } else if left > 0 {
                let nth = usize::try_from(left - 1).unwrap_or(usize::MAX);
                match memchr_iter(self.end, bytes).nth(nth) {
                    Some(at) => {
                        left = 0;
                        bytes = bytes.get(at + 1..).unwrap_or_default();
                    }
                    None => {
                        left -= memchr_iter(self.end, bytes).count() as u64;
                        continue;
                    }
                }
            }
            write(bytes).map_err(CopyError::Write)?;
        }
    }

    /// Prints the end of a file that has an offset, found by reading backwards.
    fn print_file(&self, fd: Fd, here: u64, size: u64) -> Result<(), CopyError> {
        let start = if self.part.bytes {
            here.max(size.saturating_sub(self.part.count))
        } else {
            self.line_start(fd, here, size)?
        };
        seek_to(fd, start)?;
        copy(fd)
    }

    /// Returns the offset of the last lines of a file.
    fn line_start(&self, fd: Fd, here: u64, size: u64) -> Result<u64, CopyError> {
        let mut left = self.part.count;
        if left == 0 {
            return Ok(size);
        }
        let mut end = size;
        let mut buffer = vec![0; CHUNK];
        let mut last = true;
        while end > here {
            let start = end.saturating_sub(CHUNK as u64).max(here);
            seek_to(fd, start)?;
            let wanted = usize::try_from(end - start).unwrap_or(CHUNK);
            let mut filled = 0;
            while filled < wanted {
                let got = read(fd, buffer.get_mut(filled..wanted).unwrap_or_default())?;
                if got == 0 {
                    break;
                }
                filled += got;
            }
            let mut bytes = buffer.get(..filled).unwrap_or_default();
            // The end of the last line does not start another line.
            if std::mem::replace(&mut last, false) && bytes.last() == Some(&self.end) {
                bytes = bytes.get(..bytes.len() - 1).unwrap_or_default();
            }
            while let Some(at) = memrchr(self.end, bytes) {
                left -= 1;
                if left == 0 {
                    return Ok(start + at as u64 + 1);
                }
                bytes = bytes.get(..at).unwrap_or_default();
            }
            end = start;
        }
        Ok(here)
    }

    /// Prints the end of a stream. Keeps only the chunks that may be printed.
    fn print_stream(&self, fd: Fd) -> Result<(), CopyError> {
        let mut kept: VecDeque<(Vec<u8>, u64)> = VecDeque::new();
        let mut total = 0;
        let mut buffer = vec![0; CHUNK];
        loop {
            let got = read(fd, &mut buffer)?;
            if got == 0 {
                break;
            }
            let bytes = buffer.get(..got).unwrap_or_default();
            let weight = if self.part.bytes { got } else { memchr_iter(self.end, bytes).count() } as u64;
            total += weight;
            kept.push_back((bytes.to_vec(), weight));
            // The last line may have no end, so one line more is kept.
            while kept.front().is_some_and(|(_, weight)| total - weight > self.part.count) {
                total -= kept.pop_front().map_or(0, |(_, weight)| weight);
            }
        }
        let all: Vec<u8> = kept.into_iter().flat_map(|(bytes, _)| bytes).collect();
        let start = if self.part.bytes {
            all.len().saturating_sub(usize::try_from(self.part.count).unwrap_or(usize::MAX))
        } else {
            self.last_lines(&all)
        };
        write(all.get(start..).unwrap_or_default()).map_err(CopyError::Write)
    }

    fn last_lines(&self, all: &[u8]) -> usize {
        let mut left = self.part.count;
        if left == 0 {
            return all.len();
        }
        let mut bytes = all.strip_suffix(&[self.end]).unwrap_or(all);
        while let Some(at) = memrchr(self.end, bytes) {
            left -= 1;
            if left == 0 {
                return at + 1;
            }
            bytes = bytes.get(..at).unwrap_or_default();
        }
        0
    }
}

/// Error of printing one file.
enum CopyError {
    Read(Errno),
    Write(Failure),
}

fn read(fd: Fd, into: &mut [u8]) -> Result<usize, CopyError> {
    loop {
        match tidebox_rt::read(fd, into) {
            Err(Errno::INTR) => {}
            other => return other.map_err(CopyError::Read),
        }
    }
}

fn seek_to(fd: Fd, to: u64) -> Result<(), CopyError> {
    let here = tidebox_rt::seek(fd, 0).map_err(CopyError::Read)?;
    let by = i64::try_from(i128::from(to) - i128::from(here)).unwrap_or(0);
    tidebox_rt::seek(fd, by).map(drop).map_err(CopyError::Read)
}

fn copy(fd: Fd) -> Result<(), CopyError> {
    let mut buffer = vec![0; CHUNK];
    loop {
        match read(fd, &mut buffer)? {
            0 => return Ok(()),
            got => write(buffer.get(..got).unwrap_or_default()).map_err(CopyError::Write)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Part;
    use super::part::old_part;

    #[test]
    fn the_old_form_is_parsed() {
        let part = |bytes, from_start, count| Part { bytes, from_start, count };
        assert_eq!(old_part(b"-5"), Some((part(false, false, 5), false)));
        assert_eq!(old_part(b"+5c"), Some((part(true, true, 5), false)));
        assert_eq!(old_part(b"-2bf"), Some((part(true, false, 1024), true)));
        for word in ["-f", "-", "-n5", "5", "-5x"] {
            assert_eq!(old_part(word.as_bytes()), None, "{word}");
        }
    }
}
