//! `eval`, `source` and `.`.

use std::rc::Rc;

use tidebox_rt::{FileKind, Open};

use crate::builtins::option_letters::without_options;
use crate::ir::{Bytes, Name};
use crate::state::{EvalResult, Frame, Shell, TEXT_LEVELS, Unwind};

pub(super) fn eval(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let words = match without_options(shell, args) {
        Ok(words) => words,
        Err(status) => return Ok(status),
    };
    let text = words.join(&b' ');
    let line = shell.line;
    shell.builtin.name = "";
    let source = shell.current_source();
    shell.flow.trace_depth += 1;
    let result = shell.descend(TEXT_LEVELS, |shell| shell.run_source(&text, line, source, b"eval"));
    shell.flow.trace_depth -= 1;
    result?;
    shell.builtin.name = "eval";
    Ok(shell.status)
}

pub(super) fn source(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let words = match without_options(shell, args) {
        Ok(words) => words,
        Err(status) => return Ok(status),
    };
    let Some((name, parameters)) = words.split_first() else {
        shell.report_builtin_error("filename argument required");
        return Ok(shell.print_usage());
    };
    let found = if name.contains(&b'/') { Some(name.clone()) } else { find(shell, name) };
    let Some(path) = found else {
        shell.report_builtin_error([name, &b": file not found"[..]].concat());
        return missing(shell);
    };
    let text = match read_script(shell, name, &path) {
        Ok(text) => text,
        Err(answer) => return answer,
    };
    let result = run_script(shell, path, &text, parameters);
    shell.builtin.name = "source";
    match result {
        Ok(()) | Err(Unwind::Return) => Ok(shell.status),
        Err(stop) => Err(stop),
    }
}

/// The status for a missing file, which ends a shell in posix mode.
fn missing(shell: &mut Shell) -> EvalResult<u8> {
    shell.status = 1;
    shell.fatal_in_posix().map(|()| 1)
}

/// Reads the script in a file. The error is the status, after an error message.
fn read_script(shell: &mut Shell, name: &[u8], path: &[u8]) -> Result<Bytes, EvalResult<u8>> {
    let text = match shell.open_path(path, Open { read: true, ..Open::default() }) {
        Ok(fd) if tidebox_rt::fstat(fd).is_ok_and(|stat| stat.kind() == FileKind::Dir) => {
            shell.io.close(fd);
            shell.report_builtin_error([name, b": is a directory"].concat());
            return Err(Ok(1));
        }
        Ok(fd) => {
            let text = shell.read_all(fd);
            shell.io.close(fd);
            text
        }
        Err(errno) => {
            shell.report_error([name, b": ", errno.text().as_bytes()].concat());
            return Err(missing(shell));
        }
    };
    text_of_script(text).ok_or_else(|| {
        shell.report_builtin_error([path, b": cannot execute binary file"].concat());
        Ok(126)
    })
}

/// Runs the text of a file as a call, with its RETURN trap at the end.
fn run_script(shell: &mut Shell, path: Bytes, text: &[u8], parameters: &[Bytes]) -> EvalResult {
    let source: Rc<[u8]> = path.as_slice().into();
    let line = shell.line;
    shell.frames.push(Frame {
        name: Name::from(&b"source"[..]),
        source: Rc::clone(&source),
        line,
        is_function: false,
        args: shell.options.extdebug.then(|| if parameters.is_empty() { vec![path] } else { parameters.to_vec() }),
        options: None,
    });
    shell.flow.sources += 1;
    shell.flow.trace_depth += 1;
    let traced = shell.options.functrace;
    let aside = shell.traps.take_matching(|signal| signal == crate::trap::DEBUG && !traced);
    shell.builtin.name = "";
    let result = shell.descend(TEXT_LEVELS, |shell| {
        let run = |shell: &mut Shell| shell.run_source(text, 1, source, b"");
        if parameters.is_empty() { run(shell) } else { with_parameters(shell, parameters.to_vec(), run) }
    });
    shell.flow.sources -= 1;
    shell.flow.trace_depth -= 1;
    shell.line = line;
    shell.frames.pop();
    let result = match result {
        Ok(()) | Err(Unwind::Return) if shell.traps.get(crate::trap::RETURN).is_some() => {
            // As after a function, it sees the status from before the `return`.
            let returned = shell.status;
            if let (Err(_), Some(before)) = (result, shell.traps.status_before_return.take()) {
                shell.status = before;
            }
            let trapped = shell.run_trap(crate::trap::RETURN);
            if trapped != Err(Unwind::Exit) {
                shell.status = returned;
            }
            trapped.and(result)
        }
        other => other,
    };
    shell.traps.restore(aside);
    result
}

/// Runs a script with its own parameters. Parameters that it sets by `set` stay, except in functions.
fn with_parameters(
    shell: &mut Shell,
    parameters: Vec<Bytes>,
    script: impl FnOnce(&mut Shell) -> EvalResult,
) -> EvalResult {
    let mut chosen = None;
    let result = shell.with_positional(parameters, |shell| {
        let result = script(shell);
        if shell.positional.chosen && !shell.frames.iter().any(|frame| frame.is_function) {
            chosen = Some(shell.positional.clone());
        }
        result
    });
    if let Some(words) = chosen {
        shell.positional = words;
        shell.positional.chosen = false;
    }
    result
}

/// The text of a script without NUL bytes; `None` if it has more than 256 of them and is a binary file.
fn text_of_script(mut text: Bytes) -> Option<Bytes> {
    let len = text.len();
    text.retain(|&byte| byte != 0);
    (len - text.len() <= 256).then_some(text)
}

/// The file that a name without a slash means: in `PATH` first, then here, but in posix mode.
fn find(shell: &mut Shell, name: &[u8]) -> Option<Bytes> {
    let dirs = if shell.options.sourcepath { shell.lookup(b"PATH").unwrap_or_default() } else { Bytes::new() };
    for dir in dirs.split(|&b| b == b':').filter(|dir| !dir.is_empty()) {
        let path = [dir, b"/", name].concat();
        if tidebox_rt::stat(&path, true).is_ok_and(|stat| stat.kind() == FileKind::File) {
            return Some(path);
        }
    }
    (!shell.options.posix).then(|| name.to_vec())
}
