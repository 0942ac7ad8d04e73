//! How the shell is called and where its commands come from.

use std::rc::Rc;

use tidebox_rt::{self as rt, FileKind, Open};

use crate::ir::Bytes;
use crate::state::{Run, Shell, Stop};

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
    let source = match options(&mut shell, args.get(1..).unwrap_or_default()) {
        Ok(source) => source,
        Err(status) => {
            shell.io.flush();
            return status;
        }
    };
    let result = match source {
        Source::Text(text) => {
            shell.options.from_string = true;
            shell.run_source(&text, 1, Rc::from(&b""[..]), b"-c")
        }
        Source::File(path) => run_file(&mut shell, &path),
        Source::Stdin => {
            shell.options.from_stdin = true;
            run_stdin(&mut shell)
        }
    };
    // What stopped the commands has set the status; nothing is left to run but the EXIT trap.
    let _ = result;
    shell.finish();
    shell.leave_session();
    shell.status
}

/// Reads the options; an error is the exit code.
fn options(shell: &mut Shell, args: &[Bytes]) -> Result<Source, u8> {
    let mut rest = args;
    let (mut string, mut stdin) = (false, false);
    while let Some((first, after)) = rest.split_first() {
        let (on, letters) = match first.split_first() {
            Some((b'-', letters)) if !letters.is_empty() => (true, letters),
            Some((b'+', letters)) if !letters.is_empty() => (false, letters),
            _ => break,
        };
        rest = after;
        if matches!(first.as_slice(), b"--" | b"-") {
            break;
        }
        if let Some(long) = first.strip_prefix(b"--") {
            long_option(shell, long, &mut rest)?;
            continue;
        }
        for letter in letters {
            match letter {
                b'c' => string = true,
                b's' => stdin = true,
                // Login and interactive shells would read files first, which this one never does.
                b'l' | b'i' => {}
                b'o' | b'O' => {
                    let Some((name, after)) = rest.split_first() else { continue };
                    rest = after;
                    let known = if *letter == b'o' {
                        shell.options.set_named(name, on)
                    } else {
                        let switch = crate::options::switch(crate::options::SHOPT, name);
                        switch.is_some_and(|switch| shell.options.apply(switch, on))
                    };
                    if !known {
                        return Err(refuse(shell, name, ": invalid option name"));
                    }
                }
                _ if shell.options.set_letter(*letter, on) => {}
                _ => return Err(refuse(shell, first, ": invalid option")),
            }
        }
    }
    if string {
        let Some((text, words)) = rest.split_first() else {
            return Err(refuse(shell, b"-c", ": option requires an argument"));
        };
        if let Some((name, words)) = words.split_first() {
            shell.name = name.clone();
            shell.positional = Rc::new(words.to_vec());
        }
        return Ok(Source::Text(text.clone()));
    }
    match rest.split_first() {
        Some((path, words)) if !stdin => {
            shell.positional = Rc::new(words.to_vec());
            Ok(Source::File(path.clone()))
        }
        _ => {
            shell.positional = Rc::new(rest.to_vec());
            Ok(Source::Stdin)
        }
    }
}

fn long_option(shell: &mut Shell, name: &[u8], rest: &mut &[Bytes]) -> Result<(), u8> {
    match name {
        b"norc" | b"noprofile" | b"login" | b"noediting" | b"restricted" => Ok(()),
        b"rcfile" | b"init-file" => {
            *rest = rest.get(1..).unwrap_or_default();
            Ok(())
        }
        b"posix" => {
            shell.options.posix = true;
            Ok(())
        }
        b"verbose" => {
            shell.options.verbose = true;
            Ok(())
        }
        b"version" => {
            let text = format!("Tidebox sh, compatible with GNU bash, version {}\n", crate::expand::BASH_VERSION);
            shell.print(text);
            Err(0)
        }
        _ => Err(refuse(shell, &[b"--", name].concat(), ": invalid option")),
    }
}

fn refuse(shell: &mut Shell, what: &[u8], why: &str) -> u8 {
    let line = [&shell.name[..], b": ", what, why.as_bytes(), b"\n"].concat();
    // Where standard error is closed there is nobody to tell.
    let _ = shell.io.write(2, &line);
    2
}

fn run_file(shell: &mut Shell, path: &[u8]) -> Run {
    let found = if rt::stat(path, true).is_err() && !path.contains(&b'/') {
        shell.search_path(path).unwrap_or_else(|| path.to_vec())
    } else {
        path.to_vec()
    };
    let failed = |shell: &mut Shell, status: u8, why: &str| {
        let line = [&shell.name[..], b": ", path, b": ", why.as_bytes(), b"\n"].concat();
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
        let line = read_raw_line(shell);
        let ended = line.last() != Some(&b'\n');
        text.extend_from_slice(&line);
        if text.is_empty() {
            return Ok(());
        }
        if !ended && !is_complete(shell, &text, line_number) {
            continue;
        }
        let lines = u32::try_from(text.iter().filter(|&&b| b == b'\n').count()).unwrap_or(u32::MAX);
        shell.run_source(&text, line_number, Rc::from(&b""[..]), b"")?;
        line_number = line_number.saturating_add(lines);
        text.clear();
        if ended {
            return Ok(());
        }
    }
}

/// Whether text ends where a command does.
fn is_complete(shell: &Shell, text: &[u8], line: u32) -> bool {
    if text.ends_with(b"\\\n") {
        return false;
    }
    let mut parser = crate::parse::Parser::new(text, line, Rc::from(&b""[..]));
    parser.set_extglob(shell.options.extglob);
    loop {
        match parser.next_list() {
            Ok(None) => return parser.unfinished.is_empty(),
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
