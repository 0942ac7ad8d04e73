//! `history`.

use crate::builtins::option_letters::Letters;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell};

pub(super) fn history(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut delete, mut mode) = (None, None);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'c' => {
                shell.history.clear();
                mode = mode.or(Some(letter));
            }
            b'a' | b'r' | b'w' => mode = Some(letter),
            b'd' => match letters.argument() {
                Some(number) => delete = Some(number),
                None => return Ok(letters.missing_argument(shell)),
            },
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    match (delete, mode) {
        (Some(number), _) => Ok(remove(shell, number)),
        (None, None) => {
            super::flow::at_most_one(shell, &[&[Bytes::new()], words].concat())?;
            Ok(list(shell, words.first()))
        }
        (None, Some(b'c')) => Ok(0),
        (None, Some(letter)) => Ok(file(shell, letter, words.first())),
    }
}

/// `fc`, which edits commands of the list and runs them again.
pub(super) fn fc(shell: &mut Shell, _: &[Bytes]) -> EvalResult<u8> {
    shell.report_builtin_error("editing the history is not supported; list it with `history'");
    Ok(1)
}

/// Prints the newest entries, or all of them.
fn list(shell: &mut Shell, most: Option<&Bytes>) -> u8 {
    let count = shell.history.entries.len();
    let most = match most.map(|word| (word, plain_number(word))) {
        None => count,
        Some((_, Some(number))) => usize::try_from(number.unsigned_abs()).unwrap_or(count).min(count),
        Some((word, None)) => {
            shell.report_builtin_error([word, &b": numeric argument required"[..]].concat());
            return 1;
        }
    };
    let first = shell.history.first();
    let newest = shell.history.entries.iter().enumerate().skip(count - most);
    let lines = newest.map(|(at, entry)| [format!("{:5}  ", first + at).as_bytes(), entry, b"\n"].concat());
    let text = lines.collect::<Vec<_>>().concat();
    shell.print(text)
}

/// `-d`: removes an entry; negative numbers count from the end.
fn remove(shell: &mut Shell, number: &[u8]) -> u8 {
    let count = shell.history.entries.len();
    let at = plain_number(number).and_then(|number| {
        let distance = usize::try_from(number.unsigned_abs()).ok()?;
        if number < 0 { count.checked_sub(distance) } else { distance.checked_sub(shell.history.first()) }
    });
    match at.filter(|at| *at < count) {
        Some(at) => {
            shell.history.remove(at);
            0
        }
        None => {
            shell.report_builtin_error([number, b": history position out of range"].concat());
            1
        }
    }
}

/// `-a`, `-r`, `-w`: between the list and a file.
fn file(shell: &mut Shell, letter: u8, name: Option<&Bytes>) -> u8 {
    let Some(path) = name.cloned().or_else(|| shell.history_path()).filter(|path| !path.is_empty()) else {
        return 0;
    };
    let result = match letter {
        b'r' => shell.read_history(&path),
        _ => shell.write_history(&path, letter == b'a'),
    };
    match result {
        Ok(()) => 0,
        Err(errno) => {
            shell.report_builtin_error([&path[..], b": ", errno.text().as_bytes()].concat());
            1
        }
    }
}
