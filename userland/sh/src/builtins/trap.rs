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

fn print(shell: &mut Shell, names: &[Bytes]) -> u8 {
    let mut text = Bytes::new();
    let wanted: Vec<Option<u8>> = names.iter().map(|name| signal_number(name)).collect();
    for (signal, action) in shell.traps.shown() {
        if names.is_empty() || wanted.contains(&Some(*signal)) {
            text.extend_from_slice(b"trap -- ");
            text.extend(single_quote(action));
            text.extend_from_slice(format!(" {}\n", shown(*signal)).as_bytes());
        }
    }
    shell.print(text)
}
