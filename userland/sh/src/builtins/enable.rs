//! `enable`.

use crate::builtins::option_letters::Letters;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

pub(super) fn enable(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut all, mut off, mut special, mut print, mut delete) = (false, false, false, false, false);
    let mut file = None;
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'a' => all = true,
            b'n' => off = true,
            b'p' => print = true,
            b's' => special = true,
            b'd' => delete = true,
            b'f' => match letters.argument() {
                Some(path) => file = Some(path),
                None => return Ok(letters.missing_argument(shell)),
            },
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
    if let Some(path) = file {
        return Ok(load(shell, path));
    }
    let mut status = 0;
    for word in words {
        match super::find(word).filter(|builtin| !special || super::is_special(builtin.name.as_bytes())) {
            Some(_) if delete => {
                shell.report_builtin_error([word, &b": not dynamically loaded"[..]].concat());
                status = 1;
            }
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

/// `-f`: loading builtins is not supported. Returns the status.
fn load(shell: &mut Shell, path: &[u8]) -> u8 {
    if tidebox_rt::stat(path, true).is_ok() {
        shell.report_builtin_error("dynamic loading not available");
    } else {
        let why = b": cannot open shared object file: No such file or directory";
        shell.report_builtin_error([b"cannot open shared object ", path, b": ", path, why].concat());
    }
    1
}
