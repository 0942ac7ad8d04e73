//! `read`.

mod fields;
mod partial;

use std::collections::BTreeMap;

use tidebox_rt::{self as rt, Errno, Fd, Readiness};

use self::fields::{Fields, Line};
use self::partial::PartialLine;
use crate::builtins::option_letters::Letters;
use crate::expand::lossy;
use crate::ir::{Bytes, Name};
use crate::parse::plain_number;
use crate::parse::token::name_len;
use crate::state::{EvalResult, Shell};
use crate::terminal::TemporaryMode;
use crate::vars::{Value, Var};

/// The options of `read`.
#[derive(Debug)]
struct Options {
    raw: bool,
    delimiter: u8,
    array: Option<Bytes>,
    /// Maximum number of characters; `exact` ignores delimiters.
    max_chars: Option<usize>,
    exact: bool,
    timeout_ns: Option<u64>,
    number: u32,
    /// The terminal does not echo.
    silent: bool,
}

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Delimiter,
    Enough,
    Finished,
    TimedOut,
    Failed(Errno),
}

pub(super) fn read(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut options = Options {
        raw: false,
        delimiter: b'\n',
        array: None,
        max_chars: None,
        exact: false,
        timeout_ns: None,
        number: 0,
        silent: false,
    };
    let names = match parse(shell, args, &mut options) {
        Ok(names) => names,
        Err(status) => return Ok(status),
    };
    if let Some(first) = names.first()
        && shell.parse_element_name(first).is_none()
    {
        shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(first)));
        return Ok(1);
    }
    let Some(fd) = shell.io.fd(options.number) else {
        let text = match options.number {
            0 => "read error: 0: Bad file descriptor".to_owned(),
            number => format!("{number}: invalid file descriptor: Bad file descriptor"),
        };
        shell.report_builtin_error(text);
        return Ok(1);
    };
    shell.io.flush();
    if options.timeout_ns == Some(0) {
        return Ok(u8::from(rt::poll_read(fd, 0) != Ok(Readiness::Ready)));
    }
    let by_key = options.max_chars.is_some() || options.delimiter != b'\n';
    let mode = TemporaryMode::set(fd, options.silent, by_key);
    let line = read_line(shell, fd, &options);
    drop(mode);
    let line = line?;
    if let End::Failed(errno) = line.end {
        shell.report_builtin_error(format!("read error: {}: {errno}", options.number));
        return Ok(1);
    }
    let end = line.end;
    let stored = store(shell, &options, names, line)?;
    Ok(match end {
        End::TimedOut => 142,
        End::Finished => 1,
        _ if stored => 0,
        _ => 1,
    })
}

/// Parses the options. Returns the words after them, or a status.
fn parse<'a>(shell: &mut Shell, args: &'a [Bytes], options: &mut Options) -> Result<&'a [Bytes], u8> {
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'r' => options.raw = true,
            b'e' => {}
            b's' => options.silent = true,
            b'a' | b'd' | b'i' | b'n' | b'N' | b'p' | b't' | b'u' => match letters.argument() {
                Some(value) => set(shell, options, letter, value.to_vec())?,
                None => return Err(letters.missing_argument(shell)),
            },
            _ => return Err(letters.invalid_option(shell)),
        }
    }
    Ok(letters.words())
}

fn set(shell: &mut Shell, options: &mut Options, letter: u8, value: Bytes) -> Result<(), u8> {
    let number = || plain_number(&value).and_then(|n| usize::try_from(n).ok());
    let mut bad = false;
    match letter {
        b'a' => options.array = Some(value.clone()),
        b'd' => options.delimiter = value.first().copied().unwrap_or(0),
        b'n' | b'N' => {
            options.exact = letter == b'N';
            options.max_chars = number();
            bad = options.max_chars.is_none();
        }
        b't' => {
            let seconds =
                std::str::from_utf8(&value).ok().and_then(|text| text.parse::<f64>().ok()).filter(|s| *s >= 0.0);
            options.timeout_ns = seconds.map(|s| (s * 1e9) as u64);
            if seconds.is_none() {
                shell.report_builtin_error([&value[..], b": invalid timeout specification"].concat());
                return Err(1);
            }
        }
        b'u' => match number().and_then(|n| u32::try_from(n).ok()) {
            Some(number) => options.number = number,
            None => {
                shell.report_builtin_error([&value[..], b": invalid file descriptor specification"].concat());
                return Err(1);
            }
        },
        b'p' if shell.io.fd(0).is_some_and(rt::is_terminal) => {
            // A closed standard error is ignored.
            let _ = shell.io.write(2, &value);
        }
        _ => {}
    }
    if bad {
        shell.report_builtin_error([&value[..], b": invalid number"].concat());
        return Err(1);
    }
    Ok(())
}

/// Reads up to the delimiter.
fn read_line(shell: &mut Shell, fd: Fd, options: &Options) -> EvalResult<Line> {
    let deadline = options.timeout_ns.map(|ns| rt::monotonic_ns().saturating_add(ns));
    let mut source = Source::new(fd, options);
    let mut partial = PartialLine::default();
    let end = loop {
        if options.max_chars == Some(partial.characters) {
            break End::Enough;
        }
        let byte = match source.byte(shell, deadline)? {
            Ok(byte) => byte,
            Err(end) => break end,
        };
        if byte == options.delimiter && !options.exact && (byte != b'\\' || options.raw) {
            break End::Delimiter;
        }
        if byte == b'\\' && !options.raw {
            match source.byte(shell, deadline)? {
                Ok(byte) => partial.escaped(byte),
                Err(end) => break end,
            }
        } else if byte != 0 {
            if partial.text.try_reserve(1).is_err() {
                return shell.out_of_memory(partial.text.len());
            }
            partial.plain(byte);
        }
    };
    source.give_back();
    Ok(partial.line(end))
}

/// Reads bytes of a descriptor. A file is read in blocks, and unused bytes are returned by seeking. Other descriptors are
/// read byte by byte, because other processes may read the rest.
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

    fn byte(&mut self, shell: &mut Shell, deadline: Option<u64>) -> EvalResult<Result<u8, End>> {
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
            // Seeking succeeded when reading started.
            let _ = rt::seek(self.fd, -(unread as i64));
        }
    }
}

/// Assigns the fields of a line to the variables. Returns whether all could be assigned.
fn store(shell: &mut Shell, options: &Options, names: &[Bytes], line: Line) -> EvalResult<bool> {
    let ifs = shell.ifs();
    if let Some(array) = &options.array {
        let mut map = BTreeMap::new();
        if options.exact {
            map.insert(0, line.whole());
        } else {
            let mut fields = Fields::new(&line, &ifs);
            while let Some(field) = fields.next_field() {
                map.insert(map.len() as u64, field);
            }
        }
        let name: Name = array.as_slice().into();
        let Some(name) = shell.array_to_fill(&name) else { return Ok(false) };
        if name_len(&name) != name.len() || name.is_empty() {
            shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(&name)));
            return Ok(false);
        }
        if matches!(shell.vars.get(&name).map(|var| &var.value), Some(Value::Assoc(_))) {
            shell.report_builtin_error([&name[..], b": cannot convert associative to indexed array"].concat());
            return Ok(false);
        }
        if !shell.may_assign(&name)? {
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
        let mut good = shell.assign_element_name(name, line.whole())?;
        for name in names.iter().skip(1) {
            good = good && assign_checked(shell, name, Bytes::new())?;
        }
        return Ok(good);
    }
    let mut fields = Fields::new(&line, &ifs);
    let mut good = true;
    for (at, name) in names.iter().enumerate() {
        let value = if at + 1 == names.len() { fields.remainder() } else { fields.next_field().unwrap_or_default() };
        // The first name that cannot be assigned ends it.
        good = good && assign_checked(shell, name, value)?;
    }
    Ok(good)
}

fn assign_checked(shell: &mut Shell, name: &[u8], value: Bytes) -> EvalResult<bool> {
    if shell.parse_element_name(name).is_none() {
        shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(name)));
        return Ok(false);
    }
    shell.assign_element_name(name, value)
}

impl Shell {
    /// A line of the script's descriptor, for `select`, and whether it was a whole one.
    pub(crate) fn read_line(&mut self, number: u32) -> EvalResult<(Bytes, bool)> {
        let options = Options {
            raw: false,
            delimiter: b'\n',
            array: None,
            max_chars: None,
            exact: false,
            timeout_ns: None,
            number,
            silent: false,
        };
        let Some(fd) = self.io.fd(number) else { return Ok((Bytes::new(), false)) };
        self.io.flush();
        let line = read_line(self, fd, &options)?;
        let is_whole = line.end == End::Delimiter;
        Ok((line.whole(), is_whole))
    }
}
