//! `diff`: compares files line by line, and directories file by file.

use tidebox_gnu::message::{in_single_quotes, kind, print_error};
use tidebox_rt::{Errno, FileKind, Stat};

use crate::file::{File, same};
use crate::format::{header, named, print};
use crate::options::{Options, Style, parse};
use crate::output::Output;
use crate::script::Script;
use crate::{DIFFERENT, Failure, TROUBLE};

/// Number of bytes searched for a NUL byte, which marks a binary file; GNU checks one block.
const BINARY_PREFIX: usize = 4096;

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let output = Output::default();
    let (options, pairs) = parse(arguments)?;
    let mut run = Run { options: &options, output };
    let mut code = 0;
    for names in pairs {
        code = code.max(run.operands(names)?);
    }
    run.output.flush()?;
    Ok(code)
}

/// One of two files.
pub(crate) struct Side {
    pub(crate) name: Vec<u8>,
    /// `None` is a missing file that counts as empty.
    pub(crate) stat: Option<Stat>,
}

impl Side {
    pub(crate) fn find(name: Vec<u8>, follow: bool) -> Result<Self, (Vec<u8>, Errno)> {
        let stat = if name == b"-" { tidebox_rt::fstat(0) } else { tidebox_rt::stat(&name, follow) };
        match stat {
            Ok(stat) => Ok(Self { name, stat: Some(stat) }),
            Err(errno) => Err((name, errno)),
        }
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.stat.is_some_and(|stat| stat.kind() == FileKind::Dir)
    }

    pub(crate) fn display(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    /// Its text and modification time.
    fn load(&self) -> Result<(Vec<u8>, u64), Errno> {
        if self.stat.is_none() {
            return Ok((Vec::new(), 0));
        }
        let file = File::open(&self.name)?;
        let text = file.load()?;
        // Standard input has the current time.
        let streamed = self.name == b"-" && file.stat.kind() != FileKind::File;
        let time = if streamed { tidebox_rt::realtime_ns() } else { file.stat.mtime_ns };
        Ok((text, time))
    }
}

/// State of a comparison.
pub(crate) struct Run<'a> {
    pub(crate) options: &'a Options,
    pub(crate) output: Output,
}

impl Run<'_> {
    fn operands(&mut self, names: [Vec<u8>; 2]) -> Result<i32, Failure> {
        let follow = !self.options.links;
        let [a, b] = names.map(|name| Side::find(name, follow));
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) => match (a.is_dir(), b.is_dir()) {
                (true, false) => (self.within(a, &b)?, Ok(b)),
                (false, true) => {
                    let b = self.within(b, &a)?;
                    (Ok(a), b)
                }
                _ => (Ok(a), Ok(b)),
            },
            other => other,
        };
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) => (a, b),
            (Ok(a), Err((name, Errno::NOENT))) if self.options.new_file => (a, Side { name, stat: None }),
            (Err((name, Errno::NOENT)), Ok(b)) if self.options.new_file || self.options.new_in_first => {
                (Side { name, stat: None }, b)
            }
            (a, b) => {
                for (name, errno) in [a.err(), b.err()].into_iter().flatten() {
                    self.report_error(&name, errno)?;
                }
                return Ok(TROUBLE);
            }
        };
        if both_folders(&a, &b) { self.folders(a, b) } else { self.pair(&a, &b, false) }
    }

    /// Returns the file in a directory with the name of another file.
    fn within(&self, folder: Side, file: &Side) -> Result<Result<Side, (Vec<u8>, Errno)>, Failure> {
        if file.name == b"-" {
            return Err(Failure::Other("cannot compare '-' to a directory".to_owned()));
        }
        let base = file.name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        Ok(Side::find(joined(&folder.name, base), !self.options.links))
    }

    pub(crate) fn report_error(&mut self, name: &[u8], errno: Errno) -> Result<(), Failure> {
        // Both streams may have the same target, so flush to keep the order.
        self.output.flush()?;
        print_error("diff", &format!("{}: {}", String::from_utf8_lossy(name), errno.text()));
        Ok(())
    }

    pub(crate) fn report(&mut self, text: &str) -> Result<(), Failure> {
        self.output.put(text.as_bytes())
    }

    /// Compares two files; `nested` is set inside directories.
    pub(crate) fn pair(&mut self, a: &Side, b: &Side, nested: bool) -> Result<i32, Failure> {
        if both_folders(a, b) {
            self.report(&format!("Common subdirectories: {} and {}\n", a.display(), b.display()))?;
            return Ok(0);
        }
        if let (Some(x), Some(y)) = (&a.stat, &b.stat) {
            let link = x.kind() == FileKind::Symlink || y.kind() == FileKind::Symlink;
            if x.kind() != y.kind() && (nested || a.is_dir() || b.is_dir() || (link && self.options.links)) {
                let (x, y) = (kind(x), kind(y));
                self.report(&format!("File {} is a {x} while file {} is a {y}\n", a.display(), b.display()))?;
                return Ok(DIFFERENT);
            }
            if self.options.links && x.kind() == FileKind::Symlink {
                let differ = tidebox_rt::read_link(&a.name) != tidebox_rt::read_link(&b.name);
                if differ {
                    self.report(&format!("Symbolic links {} and {} differ\n", a.display(), b.display()))?;
                }
                return Ok(if differ { DIFFERENT } else { 0 });
            }
            if (same(x, y) && !self.shows_all()) || (a.name == b"-" && b.name == b"-") {
                return self.end(a, b, false);
            }
        }
        self.files(a, b, nested)
    }

    /// Ends the comparison of two files; returns the exit code.
    fn end(&mut self, a: &Side, b: &Side, differ: bool) -> Result<i32, Failure> {
        if !differ && self.options.reports_same {
            self.report(&format!("Files {} and {} are identical\n", a.display(), b.display()))?;
        }
        if differ && self.options.brief {
            self.report(&format!("Files {} and {} differ\n", a.display(), b.display()))?;
        }
        Ok(if differ { DIFFERENT } else { 0 })
    }

    /// Returns whether files without differences are printed, too.
    fn shows_all(&self) -> bool {
        matches!(self.options.style, Style::Columns | Style::Groups) && !self.options.brief
    }

    fn files(&mut self, a: &Side, b: &Side, nested: bool) -> Result<i32, Failure> {
        let ((mut old, old_time), (mut new, new_time)) = match (a.load(), b.load()) {
            (Ok(old), Ok(new)) => (old, new),
            (old, new) => {
                for (side, errno) in [(a, old.err()), (b, new.err())] {
                    if let Some(errno) = errno {
                        self.report_error(&side.name, errno)?;
                    }
                }
                return Ok(TROUBLE);
            }
        };
        let rules = &self.options.rules;
        let whole = self.shows_all();
        if old == new && !whole {
            return self.end(a, b, false);
        }
        let binary = |text: &[u8]| memchr::memchr(0, text.get(..BINARY_PREFIX).unwrap_or(text)).is_some();
        if old != new && !self.options.text && (binary(&old) || binary(&new)) {
            if !self.options.brief {
                self.report(&format!("Binary files {} and {} differ\n", a.display(), b.display()))?;
            }
            return self.end(a, b, true);
        }
        if self.options.brief && rules.are_strict() {
            return self.end(a, b, true);
        }
        if rules.strip_return {
            (old, new) = (without_returns(&old), without_returns(&new));
        }
        let script = Script::new(&old, &new, rules);
        if !whole && (!script.differs() || self.options.brief) {
            return self.end(a, b, script.differs());
        }
        let style = self.options.style;
        let headers = [self.header(0, a, old_time, style), self.header(1, b, new_time, style)];
        let headers = [headers[0].as_slice(), headers[1].as_slice()];
        if nested {
            self.output.put(&[self.command(a, b), b"\n".to_vec()].concat())?;
        }
        print(&script, self.options, headers, &mut self.output)?;
        if !script.differs() {
            return self.end(a, b, false);
        }
        let mut code = DIFFERENT;
        if style == Style::Ed {
            for (side, text) in [(a, &old), (b, &new)] {
                if !text.is_empty() && !text.ends_with(b"\n") {
                    self.output.flush()?;
                    print_error("diff", &format!("{}: No newline at end of file\n", side.display()));
                    code = TROUBLE;
                }
            }
        }
        Ok(code)
    }

    fn header(&self, index: usize, side: &Side, time: u64, style: Style) -> Vec<u8> {
        self.options.labels.get(index).cloned().unwrap_or_else(|| header(&side.name, time, style))
    }

    /// Returns the command line that compares just these two files.
    fn command(&self, a: &Side, b: &Side) -> Vec<u8> {
        let mut line = b"diff".to_vec();
        for word in &self.options.given {
            line.push(b' ');
            line.extend_from_slice(&quoted(word));
        }
        for (index, side) in [a, b].into_iter().enumerate() {
            line.push(b' ');
            line.extend_from_slice(&named(self.options.labels.get(index).unwrap_or(&side.name)));
        }
        line
    }
}

/// Returns whether both are directories, or missing counterparts of directories.
pub(crate) fn both_folders(a: &Side, b: &Side) -> bool {
    (a.is_dir() || a.stat.is_none()) && (b.is_dir() || b.stat.is_none())
}

pub(crate) fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
    [folder, slash, name].concat()
}

/// Removes carriage returns before line ends.
pub(crate) fn without_returns(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(body) => {
                out.extend_from_slice(body);
                out.push(b'\n');
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

/// Quotes an argument for a shell.
pub(crate) fn quoted(word: &[u8]) -> Vec<u8> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./,+@%=:".contains(byte) || !byte.is_ascii();
    if !word.is_empty() && word.iter().all(plain) {
        return word.to_vec();
    }
    in_single_quotes(word)
}
