//! `command` and `builtin`.

use crate::builtins::option_letters::{Letters, without_options};
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

pub(super) fn builtin(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let words = match without_options(shell, args) {
        Ok(words) => words,
        Err(status) => return Ok(status),
    };
    let Some(name) = words.first() else { return Ok(0) };
    match super::find(name).filter(|builtin| !shell.builtin.disabled.contains(builtin.name)) {
        Some(builtin) => {
            shell.call_builtin(builtin, words)?;
            Ok(shell.status)
        }
        None => {
            shell.report_builtin_error([name, &b": not a shell builtin"[..]].concat());
            Ok(1)
        }
    }
}

pub(super) fn command(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut short, mut long, mut standard) = (false, false, false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'v' => short = true,
            b'V' => long = true,
            b'p' => standard = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if words.is_empty() {
        return Ok(0);
    }
    if (short || long) && standard {
        let path = shell.lookup(b"PATH");
        shell.set_exported(b"PATH", STANDARD_PATH.to_vec());
        let status = describe(shell, words, long);
        match path {
            Some(path) => shell.set_exported(b"PATH", path),
            None => drop(shell.vars.remove(b"PATH")),
        }
        return status;
    }
    if short || long {
        return describe(shell, words, long);
    }
    let Some(name) = words.first() else { return Ok(0) };
    if !standard || name.contains(&b'/') || super::find(name).is_some() {
        return run(shell, words);
    }
    let running = std::mem::take(&mut shell.builtin.name);
    let path = crate::eval::search(STANDARD_PATH, name);
    let started = shell.start_job(|shell| shell.start_found(path, words))?;
    let status = wait_started(shell, started, words)?;
    shell.builtin.name = running;
    Ok(status)
}

/// `command -v` and `-V`: succeeds when any of the names means something.
fn describe(shell: &mut Shell, words: &[Bytes], long: bool) -> EvalResult<u8> {
    use super::type_builtin::{How, describe};
    let how = if long { How::Long } else { How::Command };
    let mut status = u8::from(!words.is_empty());
    for name in words {
        if describe(shell, name, how)? {
            status = 0;
        } else if long {
            shell.report_builtin_error([name, &b": not found"[..]].concat());
        }
    }
    Ok(status)
}

/// The search path of `command -p`.
const STANDARD_PATH: &[u8] = b"/bin:/usr/bin";

/// Runs a builtin or a program, and ignores functions.
pub(super) fn run(shell: &mut Shell, words: &[Bytes]) -> EvalResult<u8> {
    let Some(name) = words.first() else { return Ok(0) };
    if let Some(builtin) = super::find(name).filter(|builtin| !shell.builtin.disabled.contains(builtin.name)) {
        shell.builtin.command_calls += 1;
        let called = shell.call_builtin(builtin, words);
        shell.builtin.command_calls -= 1;
        called?;
        return Ok(shell.status);
    }
    let running = std::mem::take(&mut shell.builtin.name);
    let started = shell.start_job(|shell| shell.start_program(words, true))?;
    let status = wait_started(shell, started, words)?;
    shell.builtin.name = running;
    Ok(status)
}

/// Waits for a program. Returns its status, or that of one that could not start.
fn wait_started(shell: &mut Shell, started: Result<u32, u8>, words: &[Bytes]) -> EvalResult<u8> {
    let pid = match started {
        Ok(pid) => pid,
        Err(status) => return Ok(status),
    };
    let waited = shell.wait_process(pid, || words.join(&b' '))?;
    Ok(waited.map_or(shell.status, tidebox_rt::ExitStatus::code))
}
