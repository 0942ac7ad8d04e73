//! `diff`: compares files line by line, and folders file by file.

use std::collections::BTreeSet;

use tidebox_gnu::glob::{Flags, matches};
use tidebox_gnu::message::complain;
use tidebox_rt::{Errno, FileKind, Stat};

use crate::file::{File, same};
use crate::format::{header, print};
use crate::options::{HELP, Options, Request, Style, parse};
use crate::output::Output;
use crate::script::Script;
use crate::{DIFFERENT, Failure, TROUBLE};

/// How much of a file is searched for a NUL byte, which makes it binary; GNU looks at one block.
const BINARY_PREFIX: usize = 4096;

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut output = Output::default();
    match parse(arguments)? {
        Request::Help => {
            output.put(HELP.as_bytes())?;
            output.flush()?;
            Ok(0)
        }
        Request::Compare(options, pairs) => {
            let mut run = Run { options: &options, output, above: Vec::new() };
            let mut code = 0;
            for names in pairs {
                code = code.max(run.operands(names)?);
            }
            run.output.flush()?;
            Ok(code)
        }
    }
}

/// One of two files.
struct Side {
    name: Vec<u8>,
    /// `None` stands for a missing file that counts as empty.
    stat: Option<Stat>,
}

impl Side {
    fn find(name: Vec<u8>, follow: bool) -> Result<Self, (Vec<u8>, Errno)> {
        let stat = if name == b"-" { tidebox_rt::fstat(0) } else { tidebox_rt::stat(&name, follow) };
        match stat {
            Ok(stat) => Ok(Self { name, stat: Some(stat) }),
            Err(errno) => Err((name, errno)),
        }
    }

    fn is_dir(&self) -> bool {
        self.stat.is_some_and(|stat| stat.kind() == FileKind::Dir)
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    /// Its text, and when it was changed last.
    fn load(&self) -> Result<(Vec<u8>, u64), Errno> {
        if self.stat.is_none() {
            return Ok((Vec::new(), 0));
        }
        let file = File::open(&self.name)?;
        let text = file.load()?;
        // What comes through standard input is as new as can be.
        let streamed = self.name == b"-" && file.stat.kind() != FileKind::File;
        let time = if streamed { tidebox_rt::realtime_ns() } else { file.stat.mtime_ns };
        Ok((text, time))
    }
}

struct Run<'a> {
    options: &'a Options,
    output: Output,
    /// The folders that are being compared: device and number of each.
    above: Vec<[Option<(u32, u64)>; 2]>,
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
                    self.complain(&name, errno)?;
                }
                return Ok(TROUBLE);
            }
        };
        self.pair(&a, &b, false)
    }

    /// The file in a folder that bears the name of another file.
    fn within(&self, folder: Side, file: &Side) -> Result<Result<Side, (Vec<u8>, Errno)>, Failure> {
        if file.name == b"-" {
            return Err(Failure::Other("cannot compare '-' to a directory".to_owned()));
        }
        let base = file.name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        Ok(Side::find(joined(&folder.name, base), !self.options.links))
    }

    fn complain(&mut self, name: &[u8], errno: Errno) -> Result<(), Failure> {
        // Both streams may lead to one place, so that their order shows.
        self.output.flush()?;
        complain("diff", &format!("{}: {}", String::from_utf8_lossy(name), errno.text()));
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), Failure> {
        self.output.put(text.as_bytes())
    }

    fn pair(&mut self, a: &Side, b: &Side, nested: bool) -> Result<i32, Failure> {
        if (a.is_dir() || a.stat.is_none()) && (b.is_dir() || b.stat.is_none()) {
            if nested && !self.options.recursive {
                self.say(&format!("Common subdirectories: {} and {}\n", a.shown(), b.shown()))?;
                return Ok(0);
            }
            return self.folders(a, b);
        }
        if let (Some(x), Some(y)) = (&a.stat, &b.stat) {
            if x.kind() != y.kind() && (nested || a.is_dir() || b.is_dir()) {
                let (x, y) = (kind(x), kind(y));
                self.say(&format!("File {} is a {x} while file {} is a {y}\n", a.shown(), b.shown()))?;
                return Ok(DIFFERENT);
            }
            if self.options.links && x.kind() == FileKind::Symlink {
                let differ = tidebox_rt::read_link(&a.name) != tidebox_rt::read_link(&b.name);
                if differ {
                    self.say(&format!("Symbolic links {} and {} differ\n", a.shown(), b.shown()))?;
                }
                return Ok(if differ { DIFFERENT } else { 0 });
            }
            if same(x, y) || (a.name == b"-" && b.name == b"-") {
                return self.end(a, b, false);
            }
        }
        self.files(a, b, nested)
    }

    /// Ends the comparison of two files; the answer is the exit code.
    fn end(&mut self, a: &Side, b: &Side, differ: bool) -> Result<i32, Failure> {
        if !differ && self.options.tells_same {
            self.say(&format!("Files {} and {} are identical\n", a.shown(), b.shown()))?;
        }
        if differ && self.options.brief {
            self.say(&format!("Files {} and {} differ\n", a.shown(), b.shown()))?;
        }
        Ok(if differ { DIFFERENT } else { 0 })
    }

    fn files(&mut self, a: &Side, b: &Side, nested: bool) -> Result<i32, Failure> {
        let ((mut old, old_time), (mut new, new_time)) = match (a.load(), b.load()) {
            (Ok(old), Ok(new)) => (old, new),
            (old, new) => {
                for (side, errno) in [(a, old.err()), (b, new.err())] {
                    if let Some(errno) = errno {
                        self.complain(&side.name, errno)?;
                    }
                }
                return Ok(TROUBLE);
            }
        };
        let rules = &self.options.rules;
        let whole = matches!(self.options.style, Style::Columns | Style::Groups) && !self.options.brief;
        if old == new && !whole {
            return self.end(a, b, false);
        }
        let binary = |text: &[u8]| memchr::memchr(0, text.get(..BINARY_PREFIX).unwrap_or(text)).is_some();
        if old != new && !self.options.text && (binary(&old) || binary(&new)) {
            if !self.options.brief {
                self.say(&format!("Binary files {} and {} differ\n", a.shown(), b.shown()))?;
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
        if nested {
            self.output.put(&self.command(a, b))?;
        }
        let style = self.options.style;
        let headers = [self.header(0, a, old_time, style), self.header(1, b, new_time, style)];
        let headers = [headers[0].as_slice(), headers[1].as_slice()];
        print(&script, self.options, headers, &mut self.output)?;
        if !script.differs() {
            return self.end(a, b, false);
        }
        let mut code = DIFFERENT;
        if matches!(style, Style::Ed | Style::ForwardEd) {
            for (side, text) in [(a, &old), (b, &new)] {
                if !text.is_empty() && !text.ends_with(b"\n") {
                    self.output.flush()?;
                    complain("diff", &format!("{}: No newline at end of file\n", side.shown()));
                    code = TROUBLE;
                }
            }
        }
        Ok(code)
    }

    fn header(&self, index: usize, side: &Side, time: u64, style: Style) -> Vec<u8> {
        self.options.labels.get(index).cloned().unwrap_or_else(|| header(&side.name, time, style))
    }

    /// The command that would compare just these two files.
    fn command(&self, a: &Side, b: &Side) -> Vec<u8> {
        let mut line = b"diff".to_vec();
        for word in self.options.given.iter().chain([&a.name, &b.name]) {
            line.push(b' ');
            line.extend_from_slice(&quoted(word));
        }
        line.push(b'\n');
        line
    }

    fn folders(&mut self, a: &Side, b: &Side) -> Result<i32, Failure> {
        let identity = [a, b].map(|side| side.stat.map(|stat| (stat.dev, stat.ino)));
        for (side, me) in [a, b].into_iter().zip(identity) {
            if me.is_some() && self.above.iter().flatten().any(|other| *other == me) {
                self.output.flush()?;
                complain("diff", &format!("{}: recursive directory loop", side.shown()));
                return Ok(TROUBLE);
            }
        }
        // As in GNU, what a folder holds is not compared with itself, nor told of.
        if identity[0].is_some() && identity[0] == identity[1] {
            return Ok(0);
        }
        let mut code = 0;
        let mut lists: [BTreeSet<Vec<u8>>; 2] = [BTreeSet::new(), BTreeSet::new()];
        for (side, list) in [a, b].into_iter().zip(&mut lists) {
            match self.names(side) {
                Ok(names) => *list = names,
                Err(errno) => {
                    self.complain(&side.name, errno)?;
                    code = TROUBLE;
                }
            }
        }
        self.above.push(identity);
        let [in_a, in_b] = &lists;
        for name in in_a.union(in_b) {
            let found = self.entry(a, b, name, [in_a.contains(name), in_b.contains(name)])?;
            code = code.max(found);
        }
        self.above.pop();
        Ok(code)
    }

    /// Compares what two folders hold under one name.
    fn entry(&mut self, a: &Side, b: &Side, name: &[u8], held: [bool; 2]) -> Result<i32, Failure> {
        let empty = self.options.new_file || (self.options.new_in_first && held == [false, true]);
        if held != [true, true] && !empty {
            let holder = if held[0] { a } else { b };
            self.say(&format!("Only in {}: {}\n", holder.shown(), String::from_utf8_lossy(name)))?;
            return Ok(DIFFERENT);
        }
        let mut sides = Vec::with_capacity(2);
        for (folder, held) in [a, b].into_iter().zip(held) {
            let path = joined(&folder.name, name);
            let side = if held { Side::find(path, !self.options.links) } else { Ok(Side { name: path, stat: None }) };
            match side {
                Ok(side) => sides.push(side),
                Err((name, errno)) => {
                    self.complain(&name, errno)?;
                    return Ok(TROUBLE);
                }
            }
        }
        match sides.as_slice() {
            [a, b] => self.pair(a, b, true),
            _ => Ok(TROUBLE),
        }
    }

    /// The names in a folder that are to be compared.
    fn names(&self, side: &Side) -> Result<BTreeSet<Vec<u8>>, Errno> {
        if side.stat.is_none() {
            return Ok(BTreeSet::new());
        }
        let excluded =
            |name: &[u8]| self.options.excluded.iter().any(|pattern| matches(pattern, name, Flags::default()));
        let entries = tidebox_rt::read_dir(&side.name)?;
        let before =
            |name: &Vec<u8>| self.above.len() < 2 && self.options.starting.as_ref().is_some_and(|start| name < start);
        let names = entries.into_iter().map(|entry| entry.name);
        Ok(names.filter(|name| !excluded(name) && !before(name)).collect())
    }
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
    [folder, slash, name].concat()
}

/// What a file is, in the words of GNU.
fn kind(stat: &Stat) -> &'static str {
    match stat.kind() {
        FileKind::File if stat.size == 0 => "regular empty file",
        FileKind::File => "regular file",
        FileKind::Dir => "directory",
        FileKind::Symlink => "symbolic link",
        FileKind::CharDevice => "character special file",
        FileKind::BlockDevice => "block special file",
        FileKind::Pipe => "fifo",
        FileKind::Socket => "socket",
        FileKind::Unknown => "weird file",
    }
}

/// A text without the carriage returns before line ends.
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

/// A word as a shell reads it.
pub(crate) fn quoted(word: &[u8]) -> Vec<u8> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./,+@%=:".contains(byte) || !byte.is_ascii();
    if !word.is_empty() && word.iter().all(plain) {
        return word.to_vec();
    }
    let mut out = vec![b'\''];
    for byte in word {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
    out
}
