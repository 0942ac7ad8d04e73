//! `exec`: replaces the shell by a program.

use tidebox_rt::{self as rt, ChildChange, Errno, ExitStatus, FileKind};

use crate::ir::Bytes;
use crate::state::{EvalResult, Shell, Unwind};
use crate::vars::Lines;

/// SIGSTOP.
const STOP: u8 = 19;

impl Shell {
    /// Removes the state that a new shell would not have: functions, unexported variables, options.
    pub(super) fn forget_functions(&mut self) {
        let exported = std::mem::take(&mut self.functions.exported);
        self.functions.by_name.retain(|name, _| exported.contains(name));
        self.functions.exported = exported;
        self.clear_aliases();
        self.frames.clear();
        for name in self.vars.names() {
            let keeps = self.vars.get(&name).is_some_and(|var| var.has(crate::vars::EXPORT))
                || matches!(&*name, b"IFS" | b"PS4" | b"OPTIND" | b"PATH");
            if !keeps {
                self.vars.remove(&name);
            } else if let Some(var) = self.vars.get_mut(&name) {
                var.flags &= !crate::vars::READONLY;
            }
        }
        // bash keeps this option.
        let globskipdots = self.options.globskipdots;
        self.options = crate::options::Options { globskipdots, ..crate::options::Options::default() };
    }

    /// Returns whether the shell continues after a failed `exec`.
    fn survives_exec(&self) -> bool {
        self.options.execfail || (self.options.interactive && !self.process.forked)
    }

    /// Runs a program instead of the shell: the shell waits and exits with the status of the program.
    #[inline(never)]
    pub(crate) fn exec_program(&mut self, args: &[Bytes], shown: Option<Bytes>, clean: bool) -> EvalResult {
        let name = args.first().cloned().unwrap_or_default();
        let Some(path) = self.find_program(&name) else {
            self.report_error([b"exec: ", &name[..], b": not found"].concat());
            self.status = 127;
            return self.end_of_exec();
        };
        let (name, path) = self.full_path(name, path);
        self.io.flush();
        // The program replaces the shell, so `SHLVL` does not increase.
        let level = self.lookup(b"SHLVL").and_then(|text| crate::parse::plain_number(&text)).unwrap_or(1);
        self.set_exported(b"SHLVL", level.saturating_sub(1).to_string().into_bytes());
        let env = if clean { Lines::default() } else { self.environment() };
        let mut words = args.to_vec();
        if let (Some(first), Some(shown)) = (words.first_mut(), shown) {
            *first = shown;
        }
        let started = match self.spawn_with(&path, &words, &env) {
            Ok(pid) => Ok(pid),
            Err(Errno::NOEXEC) => self.start_script(&name, &path, &words)?,
            Err(errno) => Err(self.report_exec_error(&name, &path, errno)),
        };
        match started {
            Ok(pid) => self.end_as(pid),
            Err(status) => {
                self.status = status;
                if !self.survives_exec() {
                    // A successful `exec` would have removed it.
                    self.traps.set(crate::trap::EXIT, None);
                }
                self.end_of_exec()
            }
        }
    }

    /// Ends the shell if `exec` failed, with the redirections of the command applied.
    fn end_of_exec(&mut self) -> EvalResult {
        if self.survives_exec() {
            return Ok(());
        }
        self.run_exit_trap();
        Err(Unwind::Exit)
    }

    /// The name and the path of a program. What is not found through PATH is named in full.
    fn full_path(&self, name: Bytes, path: Bytes) -> (Bytes, Bytes) {
        if name.starts_with(b"/") || !name.contains(&b'/') {
            return (name, path);
        }
        let rest = name.strip_prefix(b"./").unwrap_or(&name);
        let whole = [self.dirs.cwd.strip_suffix(b"/").unwrap_or(&self.dirs.cwd), b"/", rest].concat();
        (whole.clone(), whole)
    }

    /// Reports that a program cannot be started. Returns the status.
    fn report_exec_error(&mut self, name: &[u8], path: &[u8], errno: Errno) -> u8 {
        let directory = rt::stat(path, true).is_ok_and(|stat| stat.kind() == FileKind::Dir);
        let text = if directory { "Is a directory" } else { errno.text() };
        self.report_error([name, b": ", text.as_bytes()].concat());
        if errno == Errno::NOENT {
            return 127;
        }
        if name.contains(&b'/') {
            self.report_error([b"exec: ", name, b": cannot execute: ", text.as_bytes()].concat());
        }
        126
    }

    /// Waits for the program that replaced the shell, and stops when a key stops the program.
    fn wait_as(&mut self, pid: u32) -> EvalResult<ExitStatus> {
        if self.traps.keyboard == crate::trap::Keyboard::Unused {
            return self.wait_pid(pid);
        }
        self.traps.ignore_stops();
        loop {
            match self.wait_child(pid, true)? {
                ChildChange::Ended(status) => return Ok(status),
                // The process that stopped only the program continues only the program.
                ChildChange::Stopped(STOP) => {}
                ChildChange::Stopped(_) => {
                    let own = rt::getids().map_or(0, |ids| ids.pid);
                    // It cannot fail for the own process.
                    let _ = rt::kill(i32::try_from(own).unwrap_or(0), u32::from(STOP));
                }
            }
        }
    }

    /// Exits as the program that replaced the shell exits.
    fn end_as(&mut self, pid: u32) -> EvalResult {
        self.traps.set(crate::trap::EXIT, None);
        // The program would end the shell session, so this is the end of the shell.
        self.leave_session();
        // The program has the descriptors; ends of files must not wait for this process too.
        self.io.set_table(vec![(2, self.io.fd(2).unwrap_or(2))]);
        self.io.close_all_unused();
        let status = self.wait_as(pid)?;
        if let ExitStatus::Killed(signal) = status {
            // The parent sees the same exit status as after a real `exec`.
            self.exit_by_signal(signal);
        }
        self.status = status.code();
        Err(Unwind::Exit)
    }
}
