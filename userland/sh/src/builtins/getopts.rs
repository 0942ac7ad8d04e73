//! `getopts`.

use crate::builtins::option_letters::without_options;
use crate::expand::lossy;
use crate::ir::{Bytes, Name};
use crate::parse::plain_number;
use crate::parse::token::name_len;
use crate::state::{EvalResult, Shell};
use crate::vars::Key;

pub(super) fn getopts(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let given = match without_options(shell, args) {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let [letters, name, rest @ ..] = given else { return Ok(shell.usage()) };
    let words: Vec<Bytes> = if rest.is_empty() { shell.positional.to_vec() } else { rest.to_vec() };
    let index = shell.lookup(b"OPTIND").and_then(|text| plain_number(&text)).and_then(|n| usize::try_from(n).ok());
    let mut index = index.unwrap_or(1).clamp(1, words.len() + 1);
    let (known, mut within) = shell.builtin.getopts_position;
    if known != index {
        within = 0;
    }
    let quiet = letters.first() == Some(&b':');
    let word = words.get(index - 1).map(Vec::as_slice).unwrap_or_default();
    if within == 0 {
        if word.len() < 2 || word.first() != Some(&b'-') || word == b"--" {
            if word == b"--" {
                index += 1;
            }
            return finish(shell, name, index, 0, b"?", None, 1);
        }
        within = 1;
    }
    let Some(&letter) = word.get(within) else {
        return finish(shell, name, index + 1, 0, b"?", None, 1);
    };
    let at = letters.iter().position(|&l| l == letter).filter(|_| letter != b':');
    within += 1;
    let ends_word = within >= word.len();
    let Some(at) = at else {
        let next = if ends_word { (index + 1, 0) } else { (index, within) };
        if quiet {
            return finish(shell, name, next.0, next.1, b"?", Some(vec![letter]), 0);
        }
        if prints_errors(shell) {
            bare_message(shell, format!("illegal option -- {}", char::from(letter)));
        }
        return finish(shell, name, next.0, next.1, b"?", None, 0);
    };
    if letters.get(at + 1) != Some(&b':') {
        let next = if ends_word { (index + 1, 0) } else { (index, within) };
        return finish(shell, name, next.0, next.1, &[letter], None, 0);
    }
    if !ends_word {
        let value = word.get(within..).unwrap_or_default().to_vec();
        return finish(shell, name, index + 1, 0, &[letter], Some(value), 0);
    }
    match words.get(index) {
        Some(value) => finish(shell, name, index + 2, 0, &[letter], Some(value.clone()), 0),
        None if quiet => finish(shell, name, index + 1, 0, b":", Some(vec![letter]), 0),
        None => {
            if prints_errors(shell) {
                bare_message(shell, format!("option requires an argument -- {}", char::from(letter)));
            }
            finish(shell, name, index + 1, 0, b"?", None, 0)
        }
    }
}

/// Returns whether `OPTERR` enables error messages.
fn prints_errors(shell: &mut Shell) -> bool {
    let value = shell.lookup(b"OPTERR").unwrap_or_default();
    value.is_empty() || plain_number(&value).is_some_and(|n| n != 0)
}

/// Messages of `getopts` start with the name of the script only.
fn bare_message(shell: &mut Shell, text: String) {
    let line = format!("{}: {text}\n", lossy(&shell.invocation.name));
    // A closed standard error is ignored.
    let _ = shell.io.write(2, line.as_bytes());
}

fn finish(
    shell: &mut Shell,
    name: &Bytes,
    index: usize,
    within: usize,
    value: &[u8],
    argument: Option<Bytes>,
    status: u8,
) -> EvalResult<u8> {
    let index_name = Name::from(&b"OPTIND"[..]);
    shell.assign(&index_name, Key::Whole, false, index.to_string().into_bytes())?;
    shell.builtin.getopts_position = (index, within);
    match argument {
        Some(argument) => {
            shell.assign(&Name::from(&b"OPTARG"[..]), Key::Whole, false, argument)?;
        }
        None => {
            shell.vars.remove(b"OPTARG");
        }
    }
    if name.is_empty() || name_len(name) != name.len() {
        shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(name)));
        return Ok(1);
    }
    if shell.assign_element_name(name, value.to_vec())? { Ok(status) } else { Ok(2) }
}
