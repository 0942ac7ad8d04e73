//! Starting programs and scripts.

use tidebox_rt::{self as rt, Errno, Fd, FileKind, SpawnRequest};

use crate::ir::Bytes;
use crate::job_control::NewGroup;
use crate::state::{EvalResult, Shell, Unwind};
use crate::vars::Lines;

/// Commands of an optional pack. A sandbox without the pack prints how to install it.
const PACKED: [&[u8]; 6] = [b"python3", b"python", b"python3.15", b"pip", b"pip3", b"pytest"];

impl Shell {
    /// Starts a program that was found at `path`; the inner error is as in [`Self::start_program`].
    pub(crate) fn start_found(&mut self, path: Option<Bytes>, args: &[Bytes]) -> EvalResult<Result<u32, u8>> {
        let name = args.first().cloned().unwrap_or_default();
        let Some(path) = path else {
            // The message is that of a search, whatever the value of `PATH`.
            self.report_error([&crate::expand::message_quote(&name)[..], b": command not found"].concat());
            return Ok(Err(127));
        };
        self.io.flush();
        match self.spawn(&path, args) {
            Ok(pid) => Ok(Ok(pid)),
            Err(errno) => self.cannot_start(&name, &path, args, errno),
        }
    }

    /// Starts a program with the shell's descriptors; the inner error is the status of a command that could not start.
    #[inline(never)]
    pub(crate) fn start_program(&mut self, args: &[Bytes], remembers: bool) -> EvalResult<Result<u32, u8>> {
        let name = args.first().cloned().unwrap_or_default();
        let Some(path) = self.find_for(&name, remembers) else {
            self.not_found(&name);
            return Ok(Err(127));
        };
        self.io.flush();
        match self.spawn(&path, args) {
            Err(Errno::NOENT) if !name.contains(&b'/') && self.options.checkhash => {
                // The file in the hash table no longer exists.
                self.forget_program(&name);
                match self.find_for(&name, remembers) {
                    Some(path) => match self.spawn(&path, args) {
                        Ok(pid) => Ok(Ok(pid)),
                        Err(errno) => self.cannot_start(&name, &path, args, errno),
                    },
                    None => {
                        self.not_found(&name);
                        Ok(Err(127))
                    }
                }
            }
            Ok(pid) => Ok(Ok(pid)),
            Err(errno) => self.cannot_start(&name, &path, args, errno),
        }
    }

    fn not_found(&mut self, name: &[u8]) {
        let why: &[u8] = if self.lookup(b"PATH").is_some_and(|path| !path.is_empty()) {
            b": command not found"
        } else {
            b": No such file or directory"
        };
        self.report_error([&crate::expand::message_quote(name)[..], why].concat());
        if PACKED.contains(&name) {
            let hint =
                b": the pack python is not installed; on the host, run: tidebox pack add python (in JavaScript, \
                         also set the option packs: [\"python\"])";
            self.report_error([name, hint].concat());
        }
    }

    fn spawn(&mut self, path: &[u8], args: &[Bytes]) -> rt::Result<u32> {
        self.spawn_with(path, args, &self.environment_of(path))
    }

    /// The environment of a program, with its path in `_`.
    fn environment_of(&self, path: &[u8]) -> Lines {
        let mut env = self.environment();
        env.push(&[b"_=", path]);
        env
    }

    pub(super) fn spawn_with(&mut self, path: &[u8], args: &[Bytes], env: &Lines) -> rt::Result<u32> {
        let env: Vec<&[u8]> = env.iter().collect();
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        let fds: Vec<(Fd, Fd)> = self.io.for_child();
        let starting = self.jobs.starting;
        let stops = if self.has_terminal() && starting == NewGroup::Shared { crate::trap::STOPS } else { 0 };
        let (group, ignored) = (starting.to_spawn(), self.traps.ignored() | stops);
        let request = SpawnRequest { path, args: &args, env: &env, cwd: b"", fds: &fds, group, ignored };
        let started = match rt::spawn(&request) {
            // All processes of the job have ended, and a shell that ignores SIGCHLD keeps no trace of them.
            Err(Errno::PERM) if group > 1 => rt::spawn(&SpawnRequest { group: 1, ..request }),
            started => started,
        };
        if let Ok(pid) = started {
            self.join_job(pid);
        }
        started
    }

    fn cannot_start(&mut self, name: &[u8], path: &[u8], args: &[Bytes], errno: Errno) -> EvalResult<Result<u32, u8>> {
        let text = match errno {
            Errno::NOENT if rt::stat(path, true).is_ok() => {
                // The interpreter that its first line names is missing.
                self.report_error([name, b": cannot execute: required file not found"].concat());
                return Ok(Err(127));
            }
            Errno::NOENT => {
                let shown = if name.contains(&b'/') { name } else { path };
                self.report_error([shown, b": No such file or directory"].concat());
                return Ok(Err(127));
            }
            Errno::AGAIN => {
                self.report_error("fork: retry: Resource temporarily unavailable");
                self.status = 254;
                return Err(Unwind::Discard);
            }
            Errno::NOEXEC => return self.start_script(name, path, args),
            Errno::ACCES if rt::stat(path, true).is_ok_and(|stat| stat.kind() == FileKind::Dir) => "Is a directory",
            other => other.text(),
        };
        let shown = if name.contains(&b'/') { name } else { path };
        self.report_error([shown, b": ", text.as_bytes()].concat());
        Ok(Err(126))
    }

    /// Runs a file without a program header or interpreter line as a script of this shell, as POSIX requires.
    pub(super) fn start_script(&mut self, name: &[u8], path: &[u8], args: &[Bytes]) -> EvalResult<Result<u32, u8>> {
        let text = match rt::open(path, rt::Open { read: true, ..rt::Open::default() }) {
            Ok(fd) => {
                let text = self.read_all(fd);
                // The text has been read; an error of close does not matter.
                let _ = rt::close(fd);
                text
            }
            Err(errno) => {
                self.report_error([name, b": ", errno.text().as_bytes()].concat());
                return Ok(Err(126));
            }
        };
        let first_line = text.split(|&b| b == b'\n').next().unwrap_or_default();
        if first_line.contains(&0) {
            self.report_error([name, b": cannot execute binary file: Exec format error"].concat());
            return Ok(Err(126));
        }
        let script: std::rc::Rc<[u8]> = path.into();
        let words = args.get(1..).unwrap_or_default().to_vec();
        let pid = self.fork_child(|child| {
            child.forget_functions();
            child.traps.fix_ignored();
            // The script has its own process numbers.
            (child.process.pid, child.process.parent) = (None, None);
            child.invocation.name = path.to_vec();
            child.invocation.script = std::rc::Rc::clone(&script);
            child.flow.depth = 0;
            child.with_positional(words, |child| child.run_source(&text, 1, script, b""))
        })?;
        Ok(Ok(pid))
    }
}
