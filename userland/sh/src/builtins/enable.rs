//! `enable`.

use crate::builtins::option_letters::Letters;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

pub(super) fn enable(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut all, mut off) = (false, false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'a' => all = true,
            b'n' => off = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if words.is_empty() {
        let states = super::BUILTINS.iter().map(|builtin| (builtin.name, shell.builtin.disabled.contains(builtin.name)));
        let shown = states.filter(|(_, is_off)| all || *is_off == off);
        let text: String = shown.map(|(name, is_off)| format!("enable {}{name}\n", if is_off { "-n " } else { "" })).collect();
        return Ok(shell.print(text));
    }
    let mut status = 0;
    for word in words {
        match super::find(word) {
            Some(builtin) if off => drop(shell.builtin.disabled.insert(builtin.name)),
            Some(builtin) => drop(shell.builtin.disabled.remove(builtin.name)),
            None => {
                shell.report_builtin_error([word, &b": not a shell builtin"[..]].concat());
                status = 1;
            }
        }
    }
    Ok(status)
}
