//! How the shell is called and where its commands come from.

use std::rc::Rc;

use tidebox_rt::{self as rt, Errno, FileKind, Open};

use crate::ir::Bytes;
use crate::state::{Run, Shell, Stop};

mod arguments;
mod interactive;
mod startup;

/// Where commands are read from.
enum Source {
    Text(Bytes),
    File(Bytes),
    Stdin,
}

/// Runs the shell with these arguments; answers its exit code.
pub(crate) fn run(args: Vec<Bytes>) -> u8 {
    let name = args.first().cloned().unwrap_or_else(|| b"sh".to_vec());
    let mut shell = Shell::new(name);
    shell.started_ns = rt::monotonic_ns();
    shell.import_environment();
    shell.join_session();
    let called = shell.name.rsplit(|&b| b == b'/').next().unwrap_or_default().to_vec();
    if called == b"sh" || called == b"-sh" || shell.vars.get(b"POSIXLY_CORRECT").is_some() {
        shell.options.set_named(b"posix", true);
    }
    let mut start = arguments::Start::default();
    start.login = called.first() == Some(&b'-');
    let source = match arguments::read(&mut shell, args.get(1..).unwrap_or_default(), &mut start) {
        Ok(source) => source,
        Err(status) => {
            shell.io.flush();
            return status;
        }
    };
    shell.options.login_shell = start.login;
    shell.start_args = shell.positional.clone();
    shell.note_source(&source);
    let result = shell.read_startup(&start).and_then(|()| run_from(&mut shell, source));
    // What stopped the commands has set the status; nothing is left to run but the EXIT trap.
    let _ = result;
    shell.finish();
    shell.leave_session();
    shell.status
}

fn run_from(shell: &mut Shell, source: Source) -> Run {
    shell.status = 0;
    match source {
        Source::Text(text) => shell.run_source(&text, 1, Rc::from(&b""[..]), b"-c"),
        Source::File(path) => run_file(shell, &path),
        Source::Stdin => run_stdin(shell),
    }
}

impl Shell {
    /// Sets what `$-` and messages tell of where the commands come from.
    fn note_source(&mut self, source: &Source) {
        match source {
            Source::Text(text) => {
                self.options.from_string = true;
                self.execution_string = Some(text.clone());
            }
            Source::File(_) => {}
            Source::Stdin => self.options.from_stdin = true,
        }
        if self.options.interactive {
            self.options.expand_aliases = true;
            self.options.histexpand = true;
            for (name, value) in [(&b"PS1"[..], &br"\s-\v\$ "[..]), (b"PS2", b"> ")] {
                if self.vars.get(name).is_none() {
                    let var = crate::vars::Var { value: crate::vars::Value::Text(value.to_vec()), flags: 0 };
                    self.vars.insert(name.into(), var);
                }
            }
            self.options.history = true;
        }
        if self.options.interactive || self.options.monitor {
            self.options.monitor = false;
            self.miss_terminal();
        }
    }
}

fn run_file(shell: &mut Shell, path: &[u8]) -> Run {
    let found = if rt::stat(path, true).is_err() && !path.contains(&b'/') {
        shell.search_path(path).unwrap_or_else(|| path.to_vec())
    } else {
        path.to_vec()
    };
    let failed = |shell: &mut Shell, status: u8, why: &str| {
        let name = if status == 126 && why != Errno::ACCES.text() { path } else { &shell.name[..] };
        let line = [name, b": ", path, b": ", why.as_bytes(), b"\n"].concat();
        let _ = shell.io.write(2, &line);
        shell.status = status;
        Err(Stop::Exit)
    };
    if rt::stat(&found, true).is_ok_and(|stat| stat.kind() == FileKind::Dir) {
        return failed(shell, 126, "Is a directory");
    }
    let text = match shell.open_path(&found, Open { read: true, ..Open::default() }) {
        Ok(fd) => {
            let text = shell.read_all(fd);
            shell.io.close(fd);
            text
        }
        Err(errno) => return failed(shell, if errno == rt::Errno::NOENT { 127 } else { 126 }, errno.text()),
    };
    let first_line = text.split(|&b| b == b'\n').next().unwrap_or_default();
    if first_line.contains(&0) {
        return failed(shell, 126, "cannot execute binary file");
    }
    shell.name = path.to_vec();
    shell.script = path.into();
    let source = Rc::clone(&shell.script);
    shell.run_source(&text, 1, source, b"")
}

/// Reads commands from standard input line by line, so that commands can read what follows them.
fn run_stdin(shell: &mut Shell) -> Run {
    let mut line_number = 1;
    let mut text = Bytes::new();
    loop {
        if shell.options.interactive {
            shell.show_prompt(text.is_empty())?;
        }
        let line = read_raw_line(shell);
        if shell.options.interactive && !line.is_empty() {
            shell.show_line(&line);
        }
        let ended = line.last() != Some(&b'\n');
        text.extend_from_slice(&line);
        if text.is_empty() {
            shell.show_end();
            return Ok(());
        }
        if !ended && !is_complete(shell, &text, line_number) {
            continue;
        }
        let lines = u32::try_from(text.iter().filter(|&&b| b == b'\n').count()).unwrap_or(u32::MAX);
        shell.run_source(&text, line_number, Rc::from(&b""[..]), b"")?;
        line_number = line_number.saturating_add(lines);
        text.clear();
        if ended && (!shell.options.interactive || line.is_empty()) {
            shell.show_end();
            return Ok(());
        }
    }
}

/// Whether text ends where a command does.
fn is_complete(shell: &Shell, text: &[u8], line: u32) -> bool {
    let texts = crate::parse::Texts::default();
    let mut parser = crate::parse::Parser::new(text, line, Rc::from(&b""[..]));
    if parser.ends_joined() {
        return false;
    }
    parser.set_texts(&texts);
    parser.set_extglob(shell.options.extglob);
    parser.set_posix(shell.options.posix);
    parser.set_aliases(shell.options.expand_aliases.then(|| Rc::clone(&shell.aliases)));
    loop {
        match parser.next_list() {
            Ok(None) => return parser.unfinished.is_empty() && !parser.ends_joined(),
            Ok(Some(_)) => {}
            Err(error) => return !error.is_incomplete(),
        }
    }
}

fn read_raw_line(shell: &mut Shell) -> Bytes {
    let mut line = Bytes::new();
    shell.io.flush();
    let Some(fd) = shell.io.fd(0) else { return line };
    let mut byte = [0];
    loop {
        match rt::read(fd, &mut byte) {
            Ok(1) => {
                line.extend_from_slice(&byte);
                if byte == *b"\n" {
                    return line;
                }
            }
            Err(rt::Errno::INTR) => {}
            _ => return line,
        }
    }
}
