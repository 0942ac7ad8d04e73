//! `mapfile` and `readarray`.

use std::collections::BTreeMap;

use crate::builtins::option_letters::Letters;
use crate::ir::{Bytes, Name};
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell};
use crate::vars::{Value, Var};

/// The options of `mapfile`.
#[derive(Debug)]
struct Options {
    delimiter: u8,
    /// Maximum number of lines; 0 means all.
    max_lines: usize,
    /// The index of the first line; without it the array is emptied first.
    origin: Option<u64>,
    skip: usize,
    trim: bool,
    number: u32,
    callback: Option<Bytes>,
    quantum: usize,
}

pub(super) fn mapfile(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut options = Options {
        delimiter: b'\n',
        max_lines: 0,
        origin: None,
        skip: 0,
        trim: false,
        number: 0,
        callback: None,
        quantum: 5000,
    };
    let words = match parse(shell, args, &mut options) {
        Ok(words) => words,
        Err(status) => return Ok(status),
    };
    let name: Name = words.first().map_or(&b"MAPFILE"[..], Vec::as_slice).into();
    if name.is_empty() {
        shell.report_builtin_error("empty array variable name");
        return Ok(2);
    }
    let Some(name) = shell.array_to_fill(&name) else { return Ok(1) };
    if crate::parse::token::name_len(&name) != name.len() {
        shell.report_builtin_error([b"`", &name[..], b"': not a valid identifier"].concat());
        return Ok(1);
    }
    let Some(fd) = shell.io.fd(options.number) else {
        shell.report_builtin_error(format!("{}: invalid file descriptor: Bad file descriptor", options.number));
        return Ok(1);
    };
    if !shell.may_assign(&name)? {
        return Ok(1);
    }
    if matches!(shell.vars.get(&name).map(|var| &var.value), Some(Value::Assoc(_))) {
        shell.report_builtin_error([&name[..], b": not an indexed array"].concat());
        return Ok(1);
    }
    shell.io.flush();
    let text = shell.read_all(fd);
    fill(shell, name, &text, &options)?;
    Ok(0)
}

/// Parses the options. Returns the words after them, or a status.
fn parse<'a>(shell: &mut Shell, args: &'a [Bytes], options: &mut Options) -> Result<&'a [Bytes], u8> {
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        if letter == b't' {
            options.trim = true;
            continue;
        }
        if !b"dnOsuCc".contains(&letter) {
            return Err(letters.invalid_option(shell));
        }
        let Some(value) = letters.argument() else { return Err(letters.missing_argument(shell)) };
        let count = plain_number(value).and_then(|n| usize::try_from(n).ok());
        match (letter, count) {
            (b'd', _) => options.delimiter = value.first().copied().unwrap_or(0),
            (b'C', _) => options.callback = Some(value.to_vec()),
            (b'n', Some(count)) => options.max_lines = count,
            (b'O', Some(count)) => options.origin = Some(count as u64),
            (b's', Some(count)) => options.skip = count,
            (b'u', Some(count)) => options.number = u32::try_from(count).unwrap_or(u32::MAX),
            (b'c', Some(count)) if count > 0 => options.quantum = count,
            _ => {
                let why: &[u8] = match letter {
                    b'O' => b": invalid array origin",
                    b'u' => b": invalid file descriptor specification",
                    b'c' => b": invalid callback quantum",
                    _ => b": invalid line count",
                };
                shell.report_builtin_error([value, why].concat());
                return Err(1);
            }
        }
    }
    Ok(letters.words())
}

/// Puts the lines of `text` into the array.
fn fill(shell: &mut Shell, name: Name, text: &[u8], options: &Options) -> EvalResult {
    let mut map = match (options.origin, shell.vars.get(&name).map(|var| &var.value)) {
        (Some(_), Some(Value::Indexed(map))) => map.clone(),
        (Some(_), Some(Value::Text(text))) => BTreeMap::from([(0, text.clone())]),
        _ => BTreeMap::new(),
    };
    let flags = shell.vars.get(&name).map_or(0, |var| var.flags & !crate::vars::BARE);
    let mut at = options.origin.unwrap_or(0);
    for (count, line) in lines(text, options.delimiter).skip(options.skip).enumerate() {
        if options.max_lines > 0 && count >= options.max_lines {
            break;
        }
        let line = if options.trim { line.strip_suffix(&[options.delimiter]).unwrap_or(line) } else { line };
        // As in C, a line ends at a NUL.
        let mut line: Bytes = line.split(|&b| b == 0).next().unwrap_or_default().to_vec();
        if let Some(callback) = &options.callback
            && (count + 1) % options.quantum == 0
        {
            let quoted = crate::expand::single_quote(&line);
            let command = [&callback[..], b" ", at.to_string().as_bytes(), b" ", &quoted].concat();
            let line = shell.line;
            shell.in_text(|shell| shell.run_text(&command, line))?;
        }
        shell.attributed(flags, &mut line)?;
        map.insert(at, line);
        at = at.saturating_add(1);
    }
    shell.vars.insert(name, Var { value: Value::Indexed(map), flags });
    Ok(())
}

fn lines(text: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(move |&b| b == delimiter)
}
