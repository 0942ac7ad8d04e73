//! `:`, `true`, `false`, `break`, `continue`, `return`, `exit`, `shift`, `caller`.

use crate::builtins::option_letters::without_options;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell, Unwind};

pub(super) fn succeed(_: &mut Shell, _: &[Bytes]) -> EvalResult<u8> {
    Ok(0)
}

pub(super) fn fail(_: &mut Shell, _: &[Bytes]) -> EvalResult<u8> {
    Ok(1)
}

/// Rejects more than one argument, which discards the current command, or a whole command string.
pub(super) fn at_most_one(shell: &mut Shell, args: &[Bytes]) -> EvalResult {
    let words = args.iter().skip(1).skip_while(|word| word.as_slice() == b"--");
    if words.count() <= 1 { Ok(()) } else { too_many(shell) }
}

/// Reports too many arguments and discards the command.
pub(super) fn too_many<T>(shell: &mut Shell) -> EvalResult<T> {
    shell.report_builtin_error("too many arguments");
    shell.status = 1;
    Err(Unwind::Discard)
}

/// The number of loops that `break` and `continue` mean; `None` outside loops.
fn loops(shell: &mut Shell, args: &[Bytes]) -> EvalResult<Option<u32>> {
    if shell.flow.loops == 0 && shell.options.posix {
        return Ok(None);
    }
    if shell.flow.loops == 0 {
        shell.report_builtin_error("only meaningful in a `for', `while', or `until' loop");
        return Ok(None);
    }
    let arg = args.iter().skip(1).find(|word| word.as_slice() != b"--");
    let Some(arg) = arg else { return Ok(Some(1)) };
    match plain_number(arg) {
        Some(n) if n > 0 => {
            at_most_one(shell, args)?;
            Ok(Some(u32::try_from(n).unwrap_or(u32::MAX).min(shell.flow.loops)))
        }
        Some(_) => {
            shell.report_builtin_error([arg, &b": loop count out of range"[..]].concat());
            shell.status = 1;
            Err(Unwind::Break(shell.flow.loops))
        }
        None => {
            shell.report_builtin_error([arg, &b": numeric argument required"[..]].concat());
            // As when a signal ends it.
            shell.status |= 128;
            Err(Unwind::Exit)
        }
    }
}

pub(super) fn break_loop(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    match loops(shell, args)? {
        None => Ok(0),
        Some(n) => {
            shell.status = 0;
            Err(Unwind::Break(n))
        }
    }
}

pub(super) fn continue_loop(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    match loops(shell, args)? {
        None => Ok(0),
        Some(n) => {
            shell.status = 0;
            Err(Unwind::Continue(n))
        }
    }
}

/// The status of `exit` and `return` without a number: the last one, or in a trap the one before the trap.
fn status_without_argument(shell: &Shell) -> u8 {
    match (shell.traps.status_before, shell.traps.innermost()) {
        (Some(status), Some(trap)) if trap != crate::trap::DEBUG => status,
        _ => shell.status,
    }
}

/// The status that `exit` and `return` were given.
fn status_argument(shell: &mut Shell, args: &[Bytes]) -> u8 {
    let mut rest = args.iter().skip(1).filter(|arg| arg.as_slice() != b"--");
    let Some(arg) = rest.next() else { return status_without_argument(shell) };
    match std::str::from_utf8(arg.trim_ascii()).ok().and_then(|text| text.parse::<i64>().ok()) {
        Some(number) => (number & 255) as u8,
        None => {
            shell.report_builtin_error([arg, &b": numeric argument required"[..]].concat());
            2
        }
    }
}

pub(super) fn exit(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    if args.get(1).is_some_and(|arg| plain_number(arg).is_some()) {
        at_most_one(shell, args)?;
    }
    shell.show_end();
    if shell.stays_for_stopped_jobs() {
        return Ok(1);
    }
    // Only the EXIT trap keeps the status from before it.
    if shell.traps.innermost() != Some(crate::trap::EXIT) {
        let before = shell.traps.status_before.take();
        shell.status = status_argument(shell, args);
        shell.traps.status_before = before;
    } else {
        shell.status = status_argument(shell, args);
    }
    // The trap sees the redirections and local variables of this command.
    shell.run_exit_trap();
    Err(Unwind::Exit)
}

pub(super) fn return_builtin(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    if shell.frames.is_empty() && shell.flow.sources == 0 {
        // An invalid argument is reported first.
        status_argument(shell, args);
        shell.report_builtin_error("can only `return' from a function or sourced script");
        shell.builtin.usage_error = true;
        return Ok(2);
    }
    let before = shell.status;
    if args.get(1).is_some_and(|arg| plain_number(arg).is_some()) {
        at_most_one(shell, args)?;
    }
    shell.status = status_argument(shell, args);
    shell.traps.status_before_return = Some(before);
    Err(Unwind::Return)
}

pub(super) fn shift(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let arg = args.iter().skip(1).find(|word| word.as_slice() != b"--");
    let by = match arg {
        None => 1,
        Some(arg) => match plain_number(arg) {
            Some(n) => n,
            None => {
                shell.report_builtin_error([arg, &b": numeric argument required"[..]].concat());
                return Ok(1);
            }
        },
    };
    at_most_one(shell, args)?;
    let count = usize::try_from(by).ok().filter(|by| *by <= shell.positional.len());
    let Some(count) = count else {
        if by < 0 || shell.options.shift_verbose {
            let number = arg.map_or_else(String::new, |_| format!("{by}: "));
            shell.report_builtin_error(format!("{number}shift count out of range"));
        }
        return Ok(1);
    };
    shell.positional.shift(count);
    Ok(0)
}

pub(super) fn caller(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    // Outside calls the arguments are ignored.
    if shell.calls(b"BASH_LINENO").is_none_or(|lines| lines.is_empty()) {
        return Ok(1);
    }
    let words = match without_options(shell, args) {
        Ok(words) => words,
        Err(status) => return Ok(status),
    };
    let level = match words.first() {
        None => None,
        Some(word) => match plain_number(word).and_then(|n| usize::try_from(n).ok()) {
            Some(level) => Some(level),
            None => {
                shell.report_builtin_error([word, &b": invalid number"[..]].concat());
                shell.usage();
                return Ok(2);
            }
        },
    };
    // In a script file, the main program counts as a call.
    let (lines, sources) = (shell.calls(b"BASH_LINENO"), shell.calls(b"BASH_SOURCE"));
    let names = shell.calls(b"FUNCNAME").unwrap_or_default();
    let (lines, sources) = (lines.unwrap_or_default(), sources.unwrap_or_default());
    if lines.is_empty() {
        return Ok(1);
    }
    let depth = level.unwrap_or(0);
    let source = sources.get(depth + 1);
    let Some(level) = level else {
        let line = lines.first().cloned().unwrap_or_default();
        let source = source.cloned().unwrap_or_else(|| b"NULL".to_vec());
        return Ok(shell.print([&line[..], b" ", &source, b"\n"].concat()));
    };
    match (lines.get(level), names.get(level + 1), source) {
        (Some(line), Some(name), Some(source)) => {
            Ok(shell.print([&line[..], b" ", name, b" ", source, b"\n"].concat()))
        }
        _ => Ok(1),
    }
}
