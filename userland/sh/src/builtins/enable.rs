//! `enable`.

use crate::builtins::option_letters::Letters;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

pub(super) fn enable(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut all, mut off, mut special, mut print) = (false, false, false, false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'a' => all = true,
            b'n' => off = true,
            b'p' => print = true,
            b's' => special = true,
            b'd' | b'f' => {
                shell.report_builtin_error("dynamic loading not available");
                return Ok(1);
            }
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if words.is_empty() || print {
        let shown = super::BUILTINS.iter().map(|builtin| builtin.name).filter(|name| {
            let is_off = shell.builtin.disabled.contains(name);
            (all || is_off == off) && (!special || super::is_special(name.as_bytes()))
        });
        let line =
            |name: &str| format!("enable {}{name}\n", if shell.builtin.disabled.contains(name) { "-n " } else { "" });
        let text: String = shown.map(line).collect();
        return Ok(shell.print(text));
    }
    let mut status = 0;
    for word in words {
        match super::find(word).filter(|builtin| !special || super::is_special(builtin.name.as_bytes())) {
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
