//! `eval`, `source` and `.`.

use std::rc::Rc;

use tidebox_rt::{FileKind, Open};

use crate::builtins::letters::without_options;
use crate::ir::{Bytes, Name};
use crate::state::{Frame, Run, Shell, Stop, TEXT_LEVELS};

pub(super) fn eval(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let words = match without_options(shell, args, "eval [arg ...]") {
        Ok(words) => words,
        Err(status) => return Ok(status),
    };
    let text = words.join(&b' ');
    let line = shell.line;
    shell.running = "";
    let source = shell.current_source();
    shell.sourcing_depth += 1;
    let result = shell.descend(TEXT_LEVELS, |shell| shell.run_source(&text, line, source, b"eval"));
    shell.sourcing_depth -= 1;
    result?;
    shell.running = "eval";
    Ok(shell.status)
}

pub(super) fn source(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let usage = format!("{} filename [arguments]", shell.running);
    let words = match without_options(shell, args, &usage) {
        Ok(words) => words,
        Err(status) => return Ok(status),
    };
    let Some((name, parameters)) = words.split_first() else {
        shell.complain_builtin("filename argument required");
        // Where standard error is closed there is nobody to tell.
        let _ = shell.io.write(2, format!("{}: usage: {usage}\n", shell.running).as_bytes());
        return Ok(2);
    };
    if shell.refuses_path(name) {
        return Ok(1);
    }
    let found = if name.contains(&b'/') { Some(name.clone()) } else { find(shell, name) };
    let Some(path) = found else {
        shell.complain_builtin([name, &b": file not found"[..]].concat());
        return missing(shell);
    };
    let text = match read_script(shell, name, &path) {
        Ok(text) => text,
        Err(answer) => return answer,
    };
    let result = run_script(shell, path, &text, parameters);
    shell.running = "source";
    match result {
        Ok(()) | Err(Stop::Return) => Ok(shell.status),
        Err(stop) => Err(stop),
    }
}

/// The status where there is no file to read, which ends a shell in posix mode.
fn missing(shell: &mut Shell) -> Run<u8> {
    shell.status = 1;
    shell.fatal_in_posix().map(|()| 1)
}

/// The script in a file; otherwise what the builtin answers, having complained.
fn read_script(shell: &mut Shell, name: &[u8], path: &[u8]) -> Result<Bytes, Run<u8>> {
    let text = match shell.open_path(path, Open { read: true, ..Open::default() }) {
        Ok(fd) if tidebox_rt::fstat(fd).is_ok_and(|stat| stat.kind() == FileKind::Dir) => {
            shell.io.close(fd);
            shell.complain_builtin([name, b": is a directory"].concat());
            return Err(Ok(1));
        }
        Ok(fd) => {
            let text = shell.read_all(fd);
            shell.io.close(fd);
            text
        }
        Err(errno) => {
            shell.complain([name, b": ", errno.text().as_bytes()].concat());
            return Err(missing(shell));
        }
    };
    text_of_script(text).ok_or_else(|| {
        shell.complain_builtin([path, b": cannot execute binary file"].concat());
        Ok(126)
    })
}

/// Runs the text of a file as a call of its own, with its RETURN trap at the end.
fn run_script(shell: &mut Shell, path: Bytes, text: &[u8], parameters: &[Bytes]) -> Run {
    let source: Rc<[u8]> = path.as_slice().into();
    let line = shell.line;
    shell.frames.push(Frame {
        name: Name::from(&b"source"[..]),
        source: Rc::clone(&source),
        line,
        is_function: false,
        args: shell.options.extdebug.then(|| if parameters.is_empty() { vec![path] } else { parameters.to_vec() }),
        commands: 0,
        options: None,
    });
    shell.sourcing += 1;
    shell.sourcing_depth += 1;
    let traced = shell.options.functrace;
    let aside = shell.traps.set_aside(|signal| signal == crate::trap::DEBUG && !traced);
    shell.running = "";
    let result = shell.descend(TEXT_LEVELS, |shell| {
        let run = |shell: &mut Shell| shell.run_source(text, 1, source, b"");
        if parameters.is_empty() { run(shell) } else { with_parameters(shell, parameters.to_vec(), run) }
    });
    shell.sourcing -= 1;
    shell.sourcing_depth -= 1;
    shell.line = line;
    shell.frames.pop();
    let result = match result {
        Ok(()) | Err(Stop::Return) if shell.traps.get(crate::trap::RETURN).is_some() => {
            // As after a function, it sees the status from before the `return`.
            let returned = shell.status;
            if let (Err(_), Some(before)) = (result, shell.before_return.take()) {
                shell.status = before;
            }
            let trapped = shell.run_trap(crate::trap::RETURN);
            if trapped != Err(Stop::Exit) {
                shell.status = returned;
            }
            trapped.and(result)
        }
        other => other,
    };
    shell.traps.put_back(aside);
    result
}

/// Runs a script with parameters of its own. Those that it gives itself by `set` stay, except in functions.
fn with_parameters(shell: &mut Shell, parameters: Vec<Bytes>, script: impl FnOnce(&mut Shell) -> Run) -> Run {
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

/// What bash reads of a file: it takes NUL bytes out, passing over the byte after each, and ends at one that is left.
/// `None` when there are so many that it is no script.
fn text_of_script(text: Bytes) -> Option<Bytes> {
    if !text.contains(&0) {
        return Some(text);
    }
    let mut out = Bytes::with_capacity(text.len());
    let mut removed = 0;
    let mut bytes = text.into_iter();
    while let Some(byte) = bytes.next() {
        if byte == 0 {
            removed += 1;
            out.extend(bytes.next());
        } else {
            out.push(byte);
        }
    }
    let end = out.iter().position(|&b| b == 0).unwrap_or(out.len());
    out.truncate(end);
    (removed <= 256).then_some(out)
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
