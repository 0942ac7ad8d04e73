//! `history`.

use crate::builtins::option_letters::Letters;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell};

pub(super) fn history(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut clear, mut delete, mut mode) = (false, None, None);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'c' => clear = true,
            b'n' | b'p' => {
                shell.report_builtin_error(format!("-{}: option not supported", char::from(letter)));
                return Ok(1);
            }
            b'a' | b'r' | b'w' | b's' => {
                let file = |mode: u8| matches!(mode, b'a' | b'r' | b'w');
                if mode.is_some_and(|old| file(old) && file(letter) && old != letter) {
                    shell.report_builtin_error("cannot use more than one of -anrw");
                    return Ok(1);
                }
                mode = Some(letter);
            }
            b'd' => match letters.argument() {
                Some(range) => delete = Some(range),
                None => return Ok(letters.missing_argument(shell)),
            },
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if clear {
        shell.history.clear();
        if words.is_empty() && mode.is_none() {
            return Ok(0);
        }
    }
    match (mode, delete) {
        (Some(b's'), _) => {
            if !words.is_empty() {
                store(shell, &words.join(&b' '));
            }
            Ok(0)
        }
        (_, Some(range)) => Ok(remove(shell, range)),
        (Some(letter), None) => Ok(file(shell, letter, words.first())),
        (None, None) => {
            if words.first().is_some_and(|word| plain_number(word).is_some()) {
                super::flow::at_most_one(shell, &[&[Bytes::new()], words].concat())?;
            }
            Ok(list(shell, words))
        }
    }
}

/// `-s`: the command that stores is itself forgotten.
fn store(shell: &mut Shell, text: &[u8]) {
    if shell.options.history && !shell.history.pushed && shell.history.added {
        shell.history.pop();
    }
    if shell.admits(text) {
        shell.history.push(text.to_vec());
    }
    shell.history.pushed = true;
}

/// `fc`, which edits commands of the list and runs them again.
pub(super) fn fc(shell: &mut Shell, _: &[Bytes]) -> EvalResult<u8> {
    shell.report_builtin_error("editing the history is not supported; list it with `history'");
    Ok(1)
}

fn list(shell: &mut Shell, words: &[Bytes]) -> u8 {
    let count = shell.history.entries.len();
    let most = match words.first() {
        None => count,
        Some(word) => match plain_number(word) {
            Some(number) => usize::try_from(number.unsigned_abs()).unwrap_or(count).min(count),
            None => {
                shell.report_builtin_error([word, &b": numeric argument required"[..]].concat());
                return 1;
            }
        },
    };
    let first = shell.history.first();
    let mut text = Bytes::new();
    for (at, entry) in shell.history.entries.iter().enumerate().skip(count - most) {
        text.extend_from_slice(format!("{:5}  ", first + at).as_bytes());
        text.extend([&entry[..], b"\n"].concat());
    }
    shell.print(text)
}

/// `-d`: one entry, or a range of them; negative counts from the end.
fn remove(shell: &mut Shell, range: &[u8]) -> u8 {
    let dash = range.iter().skip(1).position(|&b| b == b'-').map(|at| at + 1);
    let (from, to) = match dash {
        Some(at) => (range.get(..at).unwrap_or_default(), range.get(at + 1..).unwrap_or_default()),
        None => (range, range),
    };
    let entry_index = |text: &[u8]| -> Option<usize> {
        let number = plain_number(text)?;
        let count = shell.history.entries.len();
        let at = if number < 0 {
            count.checked_sub(usize::try_from(number.unsigned_abs()).ok()?)?
        } else {
            usize::try_from(number).ok()?.checked_sub(shell.history.first())?
        };
        (at < count).then_some(at)
    };
    if let (Some(from), Some(to)) = (entry_index(from), entry_index(to)) {
        if from <= to {
            shell.history.remove(from, to);
        }
        return u8::from(from > to);
    }
    shell.report_builtin_error([range, b": history position out of range"].concat());
    1
}

/// `-a`, `-r`, `-w`: between the list and a file.
fn file(shell: &mut Shell, letter: u8, name: Option<&Bytes>) -> u8 {
    let Some(path) = name.cloned().or_else(|| shell.history_path()).filter(|path| !path.is_empty()) else {
        return 0;
    };
    let result = match letter {
        // As in bash, a missing file is not reported.
        b'r' => return u8::from(shell.read_history(&path).is_err()),
        b'a' if shell.history.unsaved == 0 => Ok(()),
        b'a' => shell.append_history(&path),
        _ => return u8::from(shell.write_history(&path).is_err()),
    };
    match result {
        Ok(()) => 0,
        Err(errno) => {
            shell.report_builtin_error([&path[..], b": cannot create: ", errno.text().as_bytes()].concat());
            1
        }
    }
}
