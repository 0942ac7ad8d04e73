//! `read`.

use std::collections::BTreeMap;

use tidebox_rt::{self as rt, Errno, Fd, Readiness};

use crate::expand::lossy;
use crate::ir::{Bytes, Name};
use crate::parse::plain_number;
use crate::parse::token::name_len;
use crate::pattern::char_len;
use crate::state::{Run, Shell};
use crate::vars::{Value, Var};

/// What `read` was asked for.
#[derive(Debug)]
struct Options {
    raw: bool,
    delimiter: u8,
    array: Option<Bytes>,
    /// At most this many characters; `exact` ignores delimiters.
    most: Option<usize>,
    exact: bool,
    timeout_ns: Option<u64>,
    number: u32,
}

/// How reading a line ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Delimiter,
    Enough,
    Finished,
    TimedOut,
    Failed(Errno),
}

const USAGE: &str =
    "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]";

pub(super) fn read(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut options =
        Options { raw: false, delimiter: b'\n', array: None, most: None, exact: false, timeout_ns: None, number: 0 };
    let names = match parse(shell, args, &mut options) {
        Ok(names) => names,
        Err(status) => return Ok(status),
    };
    if let Some(first) = names.first()
        && shell.place_of(first).is_none()
    {
        shell.complain_builtin(format!("`{}': not a valid identifier", lossy(first)));
        return Ok(1);
    }
    let Some(fd) = shell.io.fd(options.number) else {
        let text = match options.number {
            0 => "read error: 0: Bad file descriptor".to_owned(),
            number => format!("{number}: invalid file descriptor: Bad file descriptor"),
        };
        shell.complain_builtin(text);
        return Ok(1);
    };
    shell.io.flush();
    if options.timeout_ns == Some(0) {
        return Ok(u8::from(rt::poll_read(fd, 0) != Ok(Readiness::Ready)));
    }
    let (line, quoted, end) = read_line(shell, fd, &options)?;
    if let End::Failed(errno) = end {
        shell.complain_builtin(format!("read error: {}: {errno}", options.number));
        return Ok(1);
    }
    let stored = store(shell, &options, names, line, &quoted)?;
    Ok(match end {
        End::TimedOut => 142,
        End::Finished => 1,
        _ if stored => 0,
        _ => 1,
    })
}

fn parse<'a>(shell: &mut Shell, args: &'a [Bytes], options: &mut Options) -> Result<&'a [Bytes], u8> {
    let mut words = args.get(1..).unwrap_or_default();
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        words = rest;
        if letters == b"-" {
            break;
        }
        let mut letters = letters;
        while let Some((&letter, after)) = letters.split_first() {
            letters = after;
            match letter {
                b'r' => options.raw = true,
                b'e' | b's' => {}
                b'a' | b'd' | b'i' | b'n' | b'N' | b'p' | b't' | b'u' => {
                    let value = if letters.is_empty() {
                        match words.split_first() {
                            Some((value, rest)) => {
                                words = rest;
                                value.clone()
                            }
                            None => {
                                shell.complain_builtin(format!("-{}: option requires an argument", char::from(letter)));
                                return Err(shell.usage(USAGE));
                            }
                        }
                    } else {
                        letters.to_vec()
                    };
                    letters = b"";
                    set(shell, options, letter, value)?;
                }
                other => return Err(shell.bad_option(&[b'-', other], USAGE)),
            }
        }
    }
    Ok(words)
}

fn set(shell: &mut Shell, options: &mut Options, letter: u8, value: Bytes) -> Result<(), u8> {
    let number = || plain_number(&value).and_then(|n| usize::try_from(n).ok());
    let mut bad = false;
    match letter {
        b'a' => options.array = Some(value.clone()),
        b'd' => options.delimiter = value.first().copied().unwrap_or(0),
        b'n' | b'N' => {
            options.exact = letter == b'N';
            options.most = number();
            bad = options.most.is_none();
        }
        b't' => {
            let seconds =
                std::str::from_utf8(&value).ok().and_then(|text| text.parse::<f64>().ok()).filter(|s| *s >= 0.0);
            options.timeout_ns = seconds.map(|s| (s * 1e9) as u64);
            if seconds.is_none() {
                shell.complain_builtin([&value[..], b": invalid timeout specification"].concat());
                return Err(1);
            }
        }
        b'u' => match number().and_then(|n| u32::try_from(n).ok()) {
            Some(number) => options.number = number,
            None => {
                shell.complain_builtin([&value[..], b": invalid file descriptor specification"].concat());
                return Err(1);
            }
        },
        b'p' if shell.io.fd(0).is_some_and(rt::is_terminal) => {
            // Where standard error is closed there is nobody to prompt.
            let _ = shell.io.write(2, &value);
        }
        _ => {}
    }
    if bad {
        shell.complain_builtin([&value[..], b": invalid number"].concat());
        return Err(1);
    }
    Ok(())
}

/// Reads up to the delimiter. The second value marks bytes that a backslash took the meaning from.
fn read_line(shell: &mut Shell, fd: Fd, options: &Options) -> Run<(Bytes, Vec<bool>, End)> {
    let deadline = options.timeout_ns.map(|ns| rt::monotonic_ns().saturating_add(ns));
    let mut source = Source::new(fd, options);
    let (mut line, mut quoted) = (Bytes::new(), Vec::new());
    let (mut characters, mut missing) = (0, 0);
    let end = loop {
        if options.most == Some(characters) {
            break End::Enough;
        }
        let byte = match source.byte(shell, deadline)? {
            Ok(byte) => byte,
            Err(end) => break end,
        };
        if byte == options.delimiter && !options.exact {
            break End::Delimiter;
        }
        if byte == b'\\' && !options.raw {
            match source.byte(shell, deadline)? {
                Ok(b'\n') => continue,
                Ok(byte) => {
                    line.push(byte);
                    quoted.push(true);
                    characters += 1;
                    continue;
                }
                Err(end) => break end,
            }
        }
        if byte == 0 {
            continue;
        }
        if line.try_reserve(1).is_err() {
            return shell.out_of_memory(line.len());
        }
        line.push(byte);
        quoted.push(false);
        // A byte that goes on with a character does not start another.
        missing = match byte {
            _ if crate::pattern::in_bytes() => 0,
            0x80..=0xbf if missing > 0 => missing - 1,
            0xc2..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf4 => 3,
            _ => 0,
        };
        characters += usize::from(missing == 0);
    };
    source.give_back();
    Ok((line, quoted, end))
}

/// Bytes of a descriptor. From a file they are read in blocks, and what was too much is given back by seeking; from
/// anything else one by one, because what follows belongs to others.
struct Source {
    fd: Fd,
    block: Bytes,
    at: usize,
    seekable: bool,
}

impl Source {
    fn new(fd: Fd, options: &Options) -> Self {
        let seekable = options.timeout_ns.is_none() && rt::seek(fd, 0).is_ok();
        Self { fd, block: Bytes::new(), at: 0, seekable }
    }

    fn byte(&mut self, shell: &mut Shell, deadline: Option<u64>) -> Run<Result<u8, End>> {
        if let Some(&byte) = self.block.get(self.at) {
            self.at += 1;
            return Ok(Ok(byte));
        }
        loop {
            if let Some(deadline) = deadline {
                let left = deadline.saturating_sub(rt::monotonic_ns());
                match rt::poll_read(self.fd, left) {
                    Ok(Readiness::Ready) | Err(Errno::NOTSUP | Errno::NOSYS) => {}
                    Ok(Readiness::TimedOut) => return Ok(Err(End::TimedOut)),
                    Err(Errno::INTR) => {
                        shell.run_pending_traps()?;
                        continue;
                    }
                    Err(errno) => return Ok(Err(End::Failed(errno))),
                }
            }
            self.block.resize(if self.seekable { 512 } else { 1 }, 0);
            match rt::read(self.fd, &mut self.block) {
                Ok(0) => {
                    self.block.clear();
                    self.at = 0;
                    return Ok(Err(End::Finished));
                }
                Ok(got) => {
                    self.block.truncate(got);
                    self.at = 1;
                    return Ok(self.block.first().copied().ok_or(End::Finished));
                }
                Err(Errno::INTR) => shell.run_pending_traps()?,
                Err(errno) => return Ok(Err(End::Failed(errno))),
            }
        }
    }

    fn give_back(&self) {
        let unread = self.block.len().saturating_sub(self.at);
        if self.seekable && unread > 0 {
            // It was possible when reading began.
            let _ = rt::seek(self.fd, -(unread as i64));
        }
    }
}

/// Distributes a line over the variables; says whether all could be assigned.
fn store(shell: &mut Shell, options: &Options, names: &[Bytes], line: Bytes, quoted: &[bool]) -> Run<bool> {
    let ifs = shell.ifs();
    if let Some(array) = &options.array {
        let mut map = BTreeMap::new();
        if options.exact {
            map.insert(0, line);
        } else {
            let mut fields = Fields { line: &line, quoted, ifs: &ifs, at: 0 };
            while let Some(field) = fields.next_field() {
                map.insert(map.len() as u64, field);
            }
        }
        let name: Name = array.as_slice().into();
        let Some(name) = shell.array_to_fill(&name) else { return Ok(false) };
        if name_len(&name) != name.len() || name.is_empty() {
            shell.complain_builtin(format!("`{}': not a valid identifier", lossy(&name)));
            return Ok(false);
        }
        if matches!(shell.vars.get(&name).map(|var| &var.value), Some(Value::Assoc(_))) {
            shell.complain_builtin([&name[..], b": cannot convert associative to indexed array"].concat());
            return Ok(false);
        }
        if !shell.may_assign(&name) {
            return Ok(false);
        }
        let flags = shell.vars.get(&name).map_or(0, |var| var.flags & !crate::vars::BARE);
        for value in map.values_mut() {
            shell.attributed(flags, value)?;
        }
        shell.vars.insert(name, Var { value: Value::Indexed(map), flags });
        return Ok(true);
    }
    if names.is_empty() || options.exact {
        let reply = b"REPLY".to_vec();
        let name = names.first().unwrap_or(&reply);
        let mut good = shell.assign_place(name, line)?;
        for name in names.iter().skip(1) {
            good = good && assign_checked(shell, name, Bytes::new())?;
        }
        return Ok(good);
    }
    let mut fields = Fields { line: &line, quoted, ifs: &ifs, at: 0 };
    let mut good = true;
    for (at, name) in names.iter().enumerate() {
        let value = if at + 1 == names.len() { fields.remainder() } else { fields.next_field().unwrap_or_default() };
        // The first name that cannot be assigned ends it.
        good = good && assign_checked(shell, name, value)?;
    }
    Ok(good)
}

fn assign_checked(shell: &mut Shell, name: &[u8], value: Bytes) -> Run<bool> {
    if shell.place_of(name).is_none() {
        shell.complain_builtin(format!("`{}': not a valid identifier", lossy(name)));
        return Ok(false);
    }
    shell.assign_place(name, value)
}

/// Fields of a line, one after the other.
struct Fields<'a> {
    line: &'a [u8],
    quoted: &'a [bool],
    ifs: &'a [u8],
    at: usize,
}

impl Fields<'_> {
    /// The length of the separator at this place, 0 when there is none.
    fn separator(&self, at: usize) -> usize {
        let Some(byte) = self.line.get(at) else { return 0 };
        if self.quoted.get(at).copied().unwrap_or(false) {
            return 0;
        }
        if byte.is_ascii() {
            return usize::from(self.ifs.contains(byte));
        }
        let rest = self.line.get(at..).unwrap_or_default();
        let len = char_len(rest).max(1);
        let char = rest.get(..len).unwrap_or_default();
        let mut known = self.ifs;
        while !known.is_empty() {
            let (first, others) = known.split_at(char_len(known).clamp(1, known.len()));
            if first == char {
                return len;
            }
            known = others;
        }
        0
    }

    fn is_space(&self, at: usize) -> bool {
        self.separator(at) > 0 && matches!(self.line.get(at), Some(b' ' | b'\t' | b'\n'))
    }

    fn skip_space(&mut self) {
        while self.is_space(self.at) {
            self.at += 1;
        }
    }

    fn next_field(&mut self) -> Option<Bytes> {
        self.skip_space();
        if self.at >= self.line.len() {
            return None;
        }
        let start = self.at;
        while self.at < self.line.len() && self.separator(self.at) == 0 {
            self.at += char_len(self.line.get(self.at..).unwrap_or_default()).max(1);
        }
        let field = self.line.get(start..self.at).unwrap_or_default().to_vec();
        self.skip_separator();
        Some(field)
    }

    /// White space and at most one other separator.
    fn skip_separator(&mut self) {
        self.skip_space();
        let len = self.separator(self.at);
        if len > 0 {
            self.at += len;
            self.skip_space();
        }
    }

    /// What is left for the last variable: separators inside stay, white space at the end goes, and a single separator
    /// after the only field goes too.
    fn remainder(&mut self) -> Bytes {
        self.skip_space();
        let start = self.at;
        let mut probe = Fields { at: start, ..*self };
        if let Some(only) = probe.next_field()
            && probe.at >= self.line.len()
        {
            return only;
        }
        let mut end = self.line.len();
        while end > start && self.is_space(end - 1) {
            end -= 1;
        }
        self.line.get(start..end).unwrap_or_default().to_vec()
    }
}

impl Shell {
    /// A line of the script's descriptor, for `select`; `None` at the end of the file.
    pub(crate) fn read_line(&mut self, number: u32) -> Run<Option<Bytes>> {
        let options =
            Options { raw: false, delimiter: b'\n', array: None, most: None, exact: false, timeout_ns: None, number };
        let Some(fd) = self.io.fd(number) else { return Ok(None) };
        self.io.flush();
        let (line, _, end) = read_line(self, fd, &options)?;
        Ok(if line.is_empty() && end != End::Delimiter { None } else { Some(line) })
    }
}
