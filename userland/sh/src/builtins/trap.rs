//! `trap`.

use crate::expand::{lossy, single_quote};
use crate::ir::Bytes;
use crate::state::{Run, Shell};
use crate::trap::{signal_name, signal_number};

/// The name as `trap -p` prints it.
fn shown(signal: u8) -> String {
    let name = signal_name(signal).unwrap_or("?".into());
    if (1..=64).contains(&signal) { format!("SIG{name}") } else { name.into_owned() }
}

pub(super) fn trap(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    match words.first().map(Vec::as_slice) {
        None => return Ok(print(shell, &[])),
        Some(b"-p") => return Ok(print(shell, words.get(1..).unwrap_or_default())),
        Some(b"-l") => return Ok(shell.print(crate::trap::signal_table())),
        Some(b"--") => words = words.get(1..).unwrap_or_default(),
        Some([b'-', letter, ..]) => {
            let option = [b'-', *letter];
            return Ok(shell.bad_option(&option, "trap [-lp] [[arg] signal_spec ...]"));
        }
        Some(_) => {}
    }
    let (action, signals) = match words {
        [] => return Ok(print(shell, &[])),
        // A number first, or a single name, means that all of them get their defaults back.
        [only] => (None, std::slice::from_ref(only)),
        [first, ..] if first.iter().all(u8::is_ascii_digit) && !first.is_empty() => (None, words),
        [first, rest @ ..] => (Some(first), rest),
    };
    let mut status = 0;
    for name in signals {
        let Some(signal) = signal_number(name) else {
            shell.complain_builtin(format!("{}: invalid signal specification", lossy(name)));
            status = 1;
            continue;
        };
        let text = action.filter(|text| text.as_slice() != b"-").cloned();
        shell.traps.forget_inherited();
        shell.traps.set(signal, text);
    }
    Ok(status)
}

/// Prints all traps, or those of the names in their order.
fn print(shell: &mut Shell, names: &[Bytes]) -> u8 {
    let (mut text, mut status) = (Bytes::new(), 0);
    let mut add = |signal: u8, action: &[u8]| {
        text.extend([b"trap -- ", &single_quote(action)[..], b" ", shown(signal).as_bytes(), b"\n"].concat());
    };
    if names.is_empty() {
        shell.traps.shown().iter().for_each(|(signal, action)| add(*signal, action));
        return shell.print(text);
    }
    for name in names {
        match signal_number(name) {
            Some(wanted) => {
                let found = shell.traps.shown().iter().find(|(signal, _)| *signal == wanted);
                found.into_iter().for_each(|(signal, action)| add(*signal, action));
            }
            None => {
                shell.complain_builtin(format!("{}: invalid signal specification", lossy(name)));
                status = 1;
            }
        }
    }
    shell.print(text).max(status)
}
