//! `:`, `true`, `false`, `break`, `continue`, `return`, `exit`, `shift`, `caller`, `help`.

use std::rc::Rc;

use crate::expand::lossy;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{Run, Shell, Stop};

pub(super) fn succeed(_: &mut Shell, _: &[Bytes]) -> Run<u8> {
    Ok(0)
}

pub(super) fn fail(_: &mut Shell, _: &[Bytes]) -> Run<u8> {
    Ok(1)
}

/// How many loops `break` and `continue` mean; `None` outside loops.
fn loops(shell: &mut Shell, args: &[Bytes]) -> Run<Option<u32>> {
    if shell.loops == 0 {
        shell.complain_builtin("only meaningful in a `for', `while', or `until' loop");
        return Ok(None);
    }
    let Some(arg) = args.get(1) else { return Ok(Some(1)) };
    match plain_number(arg) {
        Some(n) if n > 0 => Ok(Some(u32::try_from(n).unwrap_or(u32::MAX).min(shell.loops))),
        Some(_) => {
            shell.complain_builtin([arg, &b": loop count out of range"[..]].concat());
            shell.status = 1;
            Err(Stop::Break(shell.loops))
        }
        None => {
            shell.complain_builtin([arg, &b": numeric argument required"[..]].concat());
            shell.status = 128;
            Err(Stop::Exit)
        }
    }
}

pub(super) fn leave(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    match loops(shell, args)? {
        None => Ok(0),
        Some(n) => {
            shell.status = 0;
            Err(Stop::Break(n))
        }
    }
}

pub(super) fn go_on(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    match loops(shell, args)? {
        None => Ok(0),
        Some(n) => {
            shell.status = 0;
            Err(Stop::Continue(n))
        }
    }
}

/// The status that `exit` and `return` were given.
fn status_argument(shell: &mut Shell, args: &[Bytes]) -> u8 {
    let mut rest = args.iter().skip(1).filter(|arg| arg.as_slice() != b"--");
    let Some(arg) = rest.next() else { return shell.status };
    match std::str::from_utf8(arg.trim_ascii()).ok().and_then(|text| text.parse::<i64>().ok()) {
        Some(number) => (number & 255) as u8,
        None => {
            shell.complain_builtin([arg, &b": numeric argument required"[..]].concat());
            2
        }
    }
}

pub(super) fn exit(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    if args.len() > 2 && plain_number(args.get(1).map_or(b"", |a| a)).is_some() {
        shell.complain_builtin("too many arguments");
        return Ok(1);
    }
    shell.status = status_argument(shell, args);
    Err(Stop::Exit)
}

pub(super) fn go_back(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    if shell.frames.is_empty() && shell.sourcing == 0 {
        shell.complain_builtin("can only `return' from a function or sourced script");
        return Ok(2);
    }
    shell.status = status_argument(shell, args);
    Err(Stop::Return)
}

pub(super) fn shift(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let by = match args.get(1) {
        None => 1,
        Some(arg) => match plain_number(arg) {
            Some(n) => n,
            None => {
                shell.complain_builtin([arg, &b": numeric argument required"[..]].concat());
                return Ok(1);
            }
        },
    };
    let Ok(by) = usize::try_from(by) else {
        shell.complain_builtin(format!("{by}: shift count out of range"));
        return Ok(1);
    };
    if by > shell.positional.len() {
        return Ok(1);
    }
    let rest = shell.positional.get(by..).unwrap_or_default().to_vec();
    shell.positional = Rc::new(rest);
    Ok(0)
}

/// `exec` where the evaluator did not see its redirections, as in `command exec prog`.
pub(super) fn exec_words(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let words = args.get(1..).unwrap_or_default();
    if !words.is_empty() {
        shell.exec_program(words, None)?;
        return Ok(shell.status);
    }
    Ok(0)
}

pub(super) fn caller(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let level = args.get(1).and_then(|arg| plain_number(arg)).and_then(|n| usize::try_from(n).ok());
    let depth = level.unwrap_or(0);
    let frames: Vec<_> = shell.frames.iter().rev().collect();
    let Some(frame) = frames.get(depth) else {
        return Ok(if level.is_none() && !shell.script.is_empty() { shell.print("0 NULL\n") } else { 1 });
    };
    let outer = frames.get(depth + 1);
    let source = outer.map_or(&shell.script, |frame| &frame.source);
    let source = if source.is_empty() { "NULL".into() } else { lossy(source) };
    let text = match level {
        None => format!("{} {source}\n", frame.line),
        Some(_) => {
            let name = outer.map_or_else(|| "main".into(), |frame| lossy(&frame.name).into_owned());
            format!("{} {name} {source}\n", frame.line)
        }
    };
    Ok(shell.print(text))
}

pub(super) fn help(shell: &mut Shell, _: &[Bytes]) -> Run<u8> {
    let names: Vec<&str> = super::BUILTINS.iter().map(|builtin| builtin.name).collect();
    let text =
        format!("tidebox sh, compatible with bash {}\nbuiltins: {}\n", crate::expand::BASH_VERSION, names.join(" "));
    Ok(shell.print(text))
}
