//! `trap`.

use crate::builtins::option_letters::Letters;
use crate::expand::{lossy, single_quote};
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};
use crate::trap::{DEBUG, ERR, RETURN, signal_name, signal_number};

/// The name as `trap -p` prints it.
fn command_line(shell: &Shell, signal: u8) -> String {
    let Some(name) = signal_name(signal) else { return signal.to_string() };
    if (1..=64).contains(&signal) && !shell.options.posix { format!("SIG{name}") } else { name.into_owned() }
}

pub(super) fn trap(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut table, mut requested) = (false, false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'l' => table = true,
            b'p' => requested = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if table {
        return Ok(shell.print(crate::trap::signal_table()));
    }
    shell.store_ignored();
    if requested {
        return Ok(print(shell, words, shell.options.posix));
    }
    let (action, signals) = match words {
        [] => return Ok(print(shell, &[], false)),
        // A number first, or a single name, resets all of them to their defaults.
        // In posix mode only a number does.
        [only] if signal_number(only).is_none() || (shell.options.posix && !only.iter().all(u8::is_ascii_digit)) => {
            return Ok(shell.usage());
        }
        [only] => (None, std::slice::from_ref(only)),
        [first, ..] if first.iter().all(u8::is_ascii_digit) && !first.is_empty() => (None, words),
        [first, rest @ ..] => (Some(first), rest),
    };
    let mut status = 0;
    for name in signals {
        let Some(signal) = signal_number(name) else {
            shell.report_builtin_error(format!("{}: invalid signal specification", lossy(name)));
            status = 1;
            continue;
        };
        let text = action.filter(|text| text.as_slice() != b"-").cloned();
        shell.traps.forget_inherited();
        shell.traps.set(signal, text);
    }
    Ok(status)
}

/// Prints all traps, or those of the names in their order; in posix mode `-p` also prints signals with the default action.
fn print(shell: &mut Shell, names: &[Bytes], defaults: bool) -> u8 {
    let mut status = 0;
    let mut signals = Vec::new();
    for name in names {
        match signal_number(name) {
            Some(signal) => signals.push(signal),
            None => {
                shell.report_builtin_error(format!("{}: invalid signal specification", lossy(name)));
                status = 1;
            }
        }
    }
    let set = shell.traps.listed();
    if names.is_empty() && defaults {
        signals = (0..65).chain([DEBUG, ERR, RETURN]).collect();
    } else if names.is_empty() {
        signals = set.iter().map(|(signal, _)| *signal).collect();
    }
    let mut text = Bytes::new();
    for signal in signals {
        let action = match set.iter().find(|(known, _)| *known == signal) {
            Some((_, action)) => single_quote(action),
            None if defaults => b"-".to_vec(),
            None => continue,
        };
        text.extend([b"trap -- ", &action[..], b" ", command_line(shell, signal).as_bytes(), b"\n"].concat());
    }
    shell.print(text).max(status)
}
