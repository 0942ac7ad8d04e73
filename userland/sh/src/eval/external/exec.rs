//! `exec`: a program in place of the shell.

use tidebox_rt::{self as rt, Errno, FileKind, Status};

use crate::ir::Bytes;
use crate::state::{Run, Shell, Stop};
use crate::vars::Lines;

impl Shell {
    /// What a new shell would not know: functions, unexported variables, options.
    pub(super) fn forget_functions(&mut self) {
        let exported = std::mem::take(&mut self.exported_functions);
        self.functions.retain(|name, _| exported.contains(name));
        self.exported_functions = exported;
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
        // bash keeps one of them.
        let globskipdots = self.options.globskipdots;
        self.options = crate::options::Options { globskipdots, ..crate::options::Options::default() };
    }

    /// Whether the shell goes on after an `exec` that failed.
    fn survives_exec(&self) -> bool {
        self.options.execfail || (self.options.interactive && !self.forked)
    }

    /// Runs a program in place of the shell: the shell waits, ends with its status, and does nothing else.
    #[inline(never)]
    pub(crate) fn exec_program(&mut self, args: &[Bytes], shown: Option<Bytes>, clean: bool) -> Run {
        let name = args.first().cloned().unwrap_or_default();
        let Some(path) = self.find_program(&name) else {
            self.complain([b"exec: ", &name[..], b": not found"].concat());
            self.status = 127;
            return self.end_of_exec();
        };
        let (name, path) = self.full_path(name, path);
        self.io.flush();
        // The program takes the shell's place, so it stands no level deeper.
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
            Err(errno) => Err(self.tell_no_exec(&name, &path, errno)),
        };
        match started {
            Ok(pid) => self.end_as(pid),
            Err(status) => {
                self.status = status;
                if !self.survives_exec() {
                    // It was to be gone by now.
                    self.traps.set(crate::trap::EXIT, None);
                }
                self.end_of_exec()
            }
        }
    }

    /// Where no program takes the shell's place, it ends right there, with the redirections of that place.
    fn end_of_exec(&mut self) -> Run {
        if self.survives_exec() {
            return Ok(());
        }
        self.run_exit_trap();
        Err(Stop::Exit)
    }

    /// The name and the path of a program. What is not found through PATH is named in full.
    fn full_path(&self, name: Bytes, path: Bytes) -> (Bytes, Bytes) {
        if name.starts_with(b"/") || !name.contains(&b'/') {
            return (name, path);
        }
        let rest = name.strip_prefix(b"./").unwrap_or(&name);
        let whole = [self.cwd.strip_suffix(b"/").unwrap_or(&self.cwd), b"/", rest].concat();
        (whole.clone(), whole)
    }

    /// Tells why a program cannot be started; answers the status for it.
    fn tell_no_exec(&mut self, name: &[u8], path: &[u8], errno: Errno) -> u8 {
        let directory = rt::stat(path, true).is_ok_and(|stat| stat.kind() == FileKind::Dir);
        let text = if directory { "Is a directory" } else { errno.text() };
        self.complain([name, b": ", text.as_bytes()].concat());
        if errno == Errno::NOENT {
            return 127;
        }
        if name.contains(&b'/') {
            self.complain([b"exec: ", name, b": cannot execute: ", text.as_bytes()].concat());
        }
        126
    }

    /// Ends the shell as the program ends that has taken its place.
    fn end_as(&mut self, pid: u32) -> Run {
        self.traps.set(crate::trap::EXIT, None);
        // In its place the program would end the session, so this is the shell's end.
        self.leave_session();
        // The program has the descriptors; ends of files must not wait for this process too.
        self.io.set_table(vec![(2, self.io.fd(2).unwrap_or(2))]);
        self.io.close_all_unused();
        let status = self.wait_pid(pid)?;
        if let Status::Killed(signal) = status {
            // So that the parent sees what it would have seen.
            self.die_of(signal);
        }
        self.status = status.code();
        Err(Stop::Exit)
    }
}
