//! `fc`.

use tidebox_rt as rt;

use crate::builtins::option_letters::Letters;
use crate::history::LinePosition;
use crate::invoke::Lines;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell, TEXT_LEVELS};

/// Number of entries that `-l` prints by default.
const LISTED: usize = 16;

#[derive(Default)]
struct Options {
    list: bool,
    bare: bool,
    reverse: bool,
    again: bool,
    editor: Option<Bytes>,
}

pub(in crate::builtins) fn fc(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut options = Options::default();
    let words = match read_options(shell, args, &mut options) {
        Ok(words) => words,
        Err(status) => return Ok(status),
    };
    if options.again || options.editor.as_deref() == Some(b"-") {
        return run_again(shell, words);
    }
    if shell.history.entries.is_empty() {
        return Ok(0);
    }
    let (mut first, mut last) = match range(shell, words, options.list) {
        Ok(range) => range,
        Err(missing) => {
            shell.report_builtin_error(missing.text());
            return Ok(1);
        }
    };
    if !options.list && shell.history.added {
        // The history contains the edited command instead of `fc`.
        shell.history.pop();
        let end = shell.history.entries.len().saturating_sub(1);
        (first, last) = (first.min(end), last.min(end));
        if shell.history.entries.is_empty() {
            shell.report_builtin_error(Missing::Range.text());
            return Ok(1);
        }
    }
    if last < first {
        std::mem::swap(&mut first, &mut last);
        options.reverse = true;
    }
    let numbered = options.list && !options.bare;
    let mut lines = Vec::new();
    for (at, entry) in shell.history.entries.iter().enumerate().take(last + 1).skip(first) {
        let number = if numbered { (shell.history.first() + at).to_string() } else { String::new() };
        let mark: &[u8] = match (options.list, shell.options.posix) {
            (false, _) => b"",
            (true, true) => b"\t",
            (true, false) => b"\t ",
        };
        lines.push([number.as_bytes(), mark, &entry.text, b"\n"].concat());
    }
    if options.reverse {
        lines.reverse();
    }
    if options.list { Ok(shell.print(lines.concat())) } else { edit(shell, options.editor, &lines.concat()) }
}

/// Parses the options. Returns the words after them, or a status.
fn read_options<'a>(shell: &mut Shell, args: &'a [Bytes], options: &mut Options) -> Result<&'a [Bytes], u8> {
    // A negative number is a command, not an option.
    let mut letters = Letters::but(args, |word| plain_number(word).is_some());
    while let Some(letter) = letters.next() {
        match letter {
            b'l' => options.list = true,
            b'n' => options.bare = true,
            b'r' => options.reverse = true,
            b's' => options.again = true,
            b'e' => match letters.argument() {
                Some(name) => options.editor = Some(name.to_vec()),
                None => return Err(letters.missing_argument(shell)),
            },
            _ => return Err(letters.invalid_option(shell)),
        }
    }
    Ok(letters.words())
}

/// The index of the command before the current one.
fn newest(shell: &Shell) -> usize {
    let count = shell.history.entries.len();
    count.saturating_sub(usize::from(shell.records_commands()) + usize::from(shell.history.added))
}

/// The error of a word that does not denote an entry.
enum Missing {
    Command,
    Range,
}

impl Missing {
    fn text(&self) -> &'static str {
        match self {
            Self::Command => "no command found",
            Self::Range => "history specification out of range",
        }
    }
}

/// The indices of the first and last requested entry.
fn range(shell: &Shell, words: &[Bytes], list: bool) -> Result<(usize, usize), Missing> {
    let newest = newest(shell);
    let first = match words.first() {
        None if list => return Ok((newest.saturating_sub(LISTED - 1), newest)),
        None => return Ok((newest, newest)),
        Some(word) => entry_index(shell, word, list)?,
    };
    let last = match words.get(1) {
        None if list => newest.max(first),
        None => first,
        Some(word) => entry_index(shell, word, list)?,
    };
    Ok((first, last))
}

/// The entry that a number, a distance from the end or the start of a command means. Numbers out of range mean the ends.
fn entry_index(shell: &Shell, word: &[u8], list: bool) -> Result<usize, Missing> {
    let newest = newest(shell);
    let (digits, back) = match word {
        [b'-', digits @ ..] => (digits, true),
        _ => (word, false),
    };
    if !digits.first().is_some_and(u8::is_ascii_digit) {
        let entries = shell.history.entries.iter().take(newest + 1);
        let found = entries.enumerate().rfind(|(_, entry)| entry.text.starts_with(word));
        return found.map(|(at, _)| at).ok_or(Missing::Command);
    }
    let digits = digits.iter().take_while(|b| b.is_ascii_digit());
    let number = digits.fold(0_usize, |n, b| n.saturating_mul(10).saturating_add(usize::from(b - b'0')));
    match (number, back) {
        // The current command, if it may be listed.
        (0, true) if list => Ok(shell.history.entries.len().saturating_sub(1)),
        (0, true) => Err(Missing::Range),
        (0, false) => Ok(newest),
        (_, true) => Ok((newest + 1).saturating_sub(number)),
        (_, false) => Ok(number.saturating_sub(shell.history.first()).min(newest)),
    }
}

/// `fc -s [old=new] [command]`
fn run_again(shell: &mut Shell, words: &[Bytes]) -> EvalResult<u8> {
    let mut replacements = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first()
        && let Some(at) = word.iter().position(|&b| b == b'=')
    {
        replacements.push((word.get(..at).unwrap_or_default(), word.get(at + 1..).unwrap_or_default()));
        rest = after;
    }
    let found = match rest.first() {
        _ if shell.history.entries.is_empty() => None,
        None => Some(newest(shell)),
        Some(word) => entry_index(shell, word, false).ok(),
    };
    let Some(entry) = found.and_then(|at| shell.history.entries.get(at)) else {
        shell.report_builtin_error(Missing::Command.text());
        return Ok(1);
    };
    let mut text = entry.text.clone();
    for (old, new) in replacements {
        text = if old.is_empty() { text } else { replace_all(&text, old, new) };
    }
    // A closed standard error is ignored.
    let _ = shell.io.write(2, &[&text[..], b"\n"].concat());
    shell.history.pop();
    shell.add_line(text.strip_suffix(b"\n").unwrap_or(&text), LinePosition::First);
    let line = shell.line;
    shell.in_text(|shell| shell.run_text(&text, line))?;
    Ok(shell.status)
}

fn replace_all(text: &[u8], old: &[u8], new: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        match rest.strip_prefix(old) {
            Some(after) => {
                out.extend_from_slice(new);
                rest = after;
            }
            None => {
                out.push(byte);
                rest = after;
            }
        }
    }
    out
}

/// Runs an editor on these commands, then runs the edited text.
fn edit(shell: &mut Shell, editor: Option<Bytes>, text: &[u8]) -> EvalResult<u8> {
    let directory = shell.lookup(b"TMPDIR").filter(|path| !path.is_empty()).unwrap_or_else(|| b"/tmp".to_vec());
    let number = rt::realtime_ns() ^ u64::from(shell.own_pid());
    let path = [&directory[..], format!("/bash-fc.{number:x}").as_bytes()].concat();
    let how = rt::Open { write: true, create: true, exclusive: true, ..rt::Open::default() };
    let written = shell.open_path(&path, how).and_then(|fd| {
        let written = rt::write_all(fd, text);
        shell.io.close(fd);
        written
    });
    if let Err(errno) = written {
        shell.report_builtin_error([&path[..], b": cannot open temp file: ", errno.text().as_bytes()].concat());
        return Ok(1);
    }
    // The file contains typed commands, so only its owner may read it. A failed chmod is ignored.
    let _ = rt::chmod(&path, 0o600);
    let result = edit_file(shell, editor, &path);
    // An editor may have removed it.
    let _ = rt::unlink(&path);
    result
}

fn edit_file(shell: &mut Shell, editor: Option<Bytes>, path: &[u8]) -> EvalResult<u8> {
    let command = match editor {
        Some(editor) => editor,
        None if shell.options.posix => b"${FCEDIT:-${EDITOR:-ed}}".to_vec(),
        None => b"${FCEDIT:-${EDITOR:-vi}}".to_vec(),
    };
    let line = shell.line;
    shell.in_text(|shell| shell.run_text(&[&command[..], b" ", path].concat(), line))?;
    if shell.status != 0 {
        return Ok(1);
    }
    let Ok(fd) = shell.open_path(path, rt::Open { read: true, ..rt::Open::default() }) else {
        return Ok(1);
    };
    let text = shell.read_all(fd);
    shell.io.close(fd);
    let (history, verbose) = (shell.options.history, shell.options.verbose);
    (shell.options.history, shell.options.verbose) = (true, true);
    let source = shell.current_source();
    let result = shell.descend(TEXT_LEVELS, |shell| shell.run_lines(Lines::Text(&text), 1, &source, b""));
    (shell.options.history, shell.options.verbose) = (history, verbose);
    result?;
    Ok(shell.status)
}
