//! `exec`.

use crate::builtins::option_letters::Letters;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

/// Replaces the shell by the program that the words name. Without a program only the redirections count, which the evaluator
/// has applied.
pub(crate) fn exec(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut clean, mut login, mut name) = (false, false, None);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'c' => clean = true,
            b'l' => login = true,
            b'a' => match letters.argument() {
                Some(value) => name = Some(value.to_vec()),
                None => return Ok(letters.missing_argument(shell)),
            },
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    let Some(first) = words.first() else { return Ok(0) };
    if login {
        let shown = name.as_ref().unwrap_or(first);
        name = Some([b"-", &shown[..]].concat());
    }
    shell.exec_program(words, name, clean)?;
    Ok(shell.status)
}
