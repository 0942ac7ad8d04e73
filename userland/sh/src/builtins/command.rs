//! `command` and `builtin`.

use crate::ir::Bytes;
use crate::state::{Run, Shell};

pub(super) fn builtin(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let words = args.get(1..).unwrap_or_default();
    let Some(name) = words.first() else { return Ok(0) };
    match super::find(name) {
        Some(builtin) => {
            shell.call_builtin(builtin, words)?;
            Ok(shell.status)
        }
        None => {
            shell.complain_builtin([name, &b": not a shell builtin"[..]].concat());
            Ok(1)
        }
    }
}

pub(super) fn command(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let (mut short, mut long, mut standard) = (false, false, false);
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        words = rest;
        if letters == b"-" {
            break;
        }
        for letter in letters {
            match letter {
                b'v' => short = true,
                b'V' => long = true,
                b'p' => standard = true,
                _ => return Ok(shell.bad_option(first, "command [-pVv] command [arg ...]")),
            }
        }
    }
    if short || long {
        let mut status = if words.is_empty() { 0 } else { 1 };
        for name in words {
            if super::type_builtin::describe(
                shell,
                name,
                if long { super::type_builtin::How::Long } else { super::type_builtin::How::Command },
            )? {
                status = 0;
            } else if long {
                shell.complain_builtin([name, &b": not found"[..]].concat());
            }
        }
        return Ok(status);
    }
    let Some(name) = words.first() else { return Ok(0) };
    if let Some(builtin) = super::find(name) {
        shell.call_builtin(builtin, words)?;
        return Ok(shell.status);
    }
    let path = shell.lookup(b"PATH");
    if standard {
        shell.forget_programs();
        shell.set_exported(b"PATH", b"/usr/local/bin:/usr/bin:/bin".to_vec());
    }
    let running = std::mem::take(&mut shell.running);
    let started = shell.start_program(words);
    if standard && let Some(path) = path {
        shell.set_exported(b"PATH", path);
    }
    let status = match started? {
        Ok(pid) => shell.wait_pid(pid)?.code(),
        Err(status) => status,
    };
    shell.running = running;
    Ok(status)
}
