//! Invocation of the shell and the source of its commands.

use std::rc::Rc;

use tidebox_rt::{self as rt, Errno, FileKind, Open};

use crate::ir::Bytes;
use crate::state::{EvalResult, Shell, Unwind};

pub(crate) use reading::Lines;

mod arguments;
mod interactive;
mod reading;
mod startup;

/// The source of commands.
enum Source {
    Text(Bytes),
    File(Bytes),
    Stdin,
}

/// Runs the shell. Returns its exit code.
pub(crate) fn run(started: &rt::StartupInfo) -> u8 {
    let mut args = started.args().map(<[u8]>::to_vec);
    let name = args.next().unwrap_or_else(|| b"sh".to_vec());
    let args: Vec<Bytes> = args.collect();
    let mut shell = Shell::new(name);
    shell.io.inherit(started.descriptors);
    shell.computed.started_ns = started.at_ns;
    shell.traps.ignored_at_start = started.ignored;
    let invoked = shell.invocation.name.clone();
    let called = shell.base_name().to_vec();
    if called == b"sh" || called == b"-sh" {
        shell.options.set_named(b"posix", true);
    }
    let mut start = arguments::Start::default();
    start.login = called.first() == Some(&b'-');
    let source = match arguments::read(&mut shell, &args, &mut start) {
        Ok(source) => source,
        Err(status) => {
            shell.io.flush();
            return status;
        }
    };
    if matches!(source, Source::Stdin) && rt::is_terminal(0) && rt::is_terminal(2) {
        shell.options.interactive = true;
    }
    shell.import_environment(started, &invoked);
    if started.keeps_state {
        shell.join_session();
    }
    if shell.vars.get(b"POSIXLY_CORRECT").is_some() {
        shell.options.set_named(b"posix", true);
    }
    shell.options.login_shell = start.login;
    if shell.options.extdebug {
        shell.store_start_args();
    }
    shell.set_source(&source);
    let result = shell.read_startup(&start).and_then(|()| {
        if shell.options.history {
            shell.start_history();
        }
        run_from(&mut shell, source)
    });
    // The unwinding has set the status; only the EXIT trap is left to run.
    let _ = result;
    shell.finish();
    shell.save_history();
    shell.leave_session();
    let status = shell.status;
    // The process exits; dropping the shell would take a tenth of the time of a shell that runs `:`.
    std::mem::forget(shell);
    status
}

fn run_from(shell: &mut Shell, source: Source) -> EvalResult {
    shell.status = 0;
    match source {
        Source::Text(text) => shell.run_source(&text, 1, Rc::from(&b""[..]), b"-c"),
        Source::File(path) => run_file(shell, &path),
        Source::Stdin => shell.run_lines(Lines::Stdin, 1, &Rc::from(&b""[..]), b""),
    }
}

impl Shell {
    /// Sets `$-` and the message prefix for the source of the commands.
    fn set_source(&mut self, source: &Source) {
        match source {
            Source::Text(text) => {
                self.options.from_string = true;
                self.invocation.command_string = Some(text.clone());
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
            if self.lookup(b"HISTFILE").is_none() {
                let home = self.lookup(b"HOME").unwrap_or_default();
                let name: &[u8] = if self.options.posix { b"/.sh_history" } else { b"/.bash_history" };
                self.vars.entry(&b"HISTFILE"[..].into()).value = crate::vars::Value::Text([&home, name].concat());
            }
            self.options.history = true;
        }
        if !self.join_terminal() && (self.options.interactive || self.options.monitor) {
            self.options.monitor = false;
            self.report_no_job_control();
        }
    }
}

fn run_file(shell: &mut Shell, path: &[u8]) -> EvalResult {
    let found = if rt::stat(path, true).is_err() && !path.contains(&b'/') {
        shell.search_for_script(path).unwrap_or_else(|| path.to_vec())
    } else {
        path.to_vec()
    };
    let failed = |shell: &mut Shell, status: u8, why: &str| {
        let name = if status == 126 && why != Errno::ACCES.text() { path } else { &shell.invocation.name[..] };
        let line = [name, b": ", path, b": ", why.as_bytes(), b"\n"].concat();
        let _ = shell.io.write(2, &line);
        shell.status = status;
        Err(Unwind::Exit)
    };
    if rt::stat(&found, true).is_ok_and(|stat| stat.kind() == FileKind::Dir) {
        return failed(shell, 126, "Is a directory");
    }
    let mut text = match shell.open_path(&found, Open { read: true, ..Open::default() }) {
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
    reading::end_last_line(&mut text);
    shell.invocation.name = path.to_vec();
    shell.invocation.script = found.as_slice().into();
    let source = Rc::clone(&shell.invocation.script);
    shell.run_source(&text, 1, source, b"")
}
