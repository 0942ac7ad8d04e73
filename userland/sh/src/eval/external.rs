//! Programs: finding, starting, waiting.

use tidebox_rt::{self as rt, Errno, Fd, FileKind, SpawnRequest, Status};

use crate::expand::lossy;
use crate::ir::{Bytes, Simple};
use crate::state::{Run, Shell, Stop};
use crate::trap::signal_name;

/// Commands of an optional runtime, of which a sandbox without it says how to get it.
const PACKED: [&[u8]; 6] = [b"python3", b"python", b"python3.15", b"pip", b"pip3", b"pytest"];

/// The program that directories, with colons between them, hold. A file that may not be executed is found only when no
/// other is.
pub(crate) fn search(dirs: &[u8], name: &[u8]) -> Option<Bytes> {
    let mut second = None;
    for dir in dirs.split(|&b| b == b':') {
        let mut path = if dir.is_empty() { b".".to_vec() } else { dir.to_vec() };
        path.push(b'/');
        path.extend_from_slice(name);
        let Ok(stat) = rt::stat(&path, true) else { continue };
        if stat.kind() != FileKind::File {
            continue;
        }
        if stat.mode & 0o111 != 0 && rt::access(&path, 1).is_ok() {
            return Some(path);
        }
        second.get_or_insert(path);
    }
    second
}

impl Shell {
    /// The file that a command's name means: the name itself if it has a slash, else what `PATH` finds.
    pub(crate) fn find_program(&mut self, name: &[u8]) -> Option<Bytes> {
        self.find_for(name, true)
    }

    /// The same. What looks for it in a process of its own, as the stage of a pipeline, leaves the shell nothing to
    /// remember, which `remembers` says.
    fn find_for(&mut self, name: &[u8], remembers: bool) -> Option<Bytes> {
        if name.contains(&b'/') {
            return Some(name.to_vec());
        }
        if name.is_empty() {
            return None;
        }
        let checked = self.options.posix || self.options.checkhash;
        // What was found in the working directory is looked for again when it is not in the one of now.
        if let Some((path, hits)) = self.hash.get_mut(name)
            && (!(checked || path.starts_with(b"./")) || rt::stat(path, true).is_ok_and(|stat| stat.mode & 0o111 != 0))
        {
            *hits = hits.saturating_add(u32::from(remembers));
            return Some(path.clone());
        }
        let path = self.search_path(name)?;
        if self.options.hashall && remembers {
            self.remember_program(name, path.clone(), 1);
        }
        Some(path)
    }

    /// Looks a name up in `PATH`.
    pub(crate) fn search_path(&mut self, name: &[u8]) -> Option<Bytes> {
        let dirs = self.lookup(b"PATH").unwrap_or_default();
        search(&dirs, name)
    }

    /// Starts a program and waits for it.
    #[inline(never)]
    pub(crate) fn run_external(&mut self, simple: &Simple, args: &[Bytes]) -> Run {
        use crate::parse::simple::{has_pure_body, is_pure_redirect};
        if args.first().is_some_and(|name| self.refuses_command(name)) {
            self.status = 1;
            return Ok(());
        }
        let pure = |redirect| is_pure_redirect(redirect, true) && has_pure_body(redirect, true);
        if simple.redirects.iter().all(pure) {
            return self.run_program(simple, args);
        }
        if let Some(name) = args.first() {
            // It is looked for before the process is there.
            self.find_program(name);
        }
        // What their words change is not for this shell.
        let pid = self.fork_child(|child| {
            // The process is the program's, and no subshell.
            child.subshell = child.subshell.wrapping_sub(1);
            child.run_program(simple, args)
        })?;
        if let Some(last) = args.last() {
            self.last_arg.clone_from(last);
        }
        self.status = self.wait_pid(pid)?.code();
        self.run_pending_traps()
    }

    fn run_program(&mut self, simple: &Simple, args: &[Bytes]) -> Run {
        // bash does this in the child, so an expansion that fails there ends nothing else.
        let undo = match self.redirect_command(simple) {
            Ok(Some(undo)) => undo,
            Ok(None) => {
                self.status = 1;
                return Ok(());
            }
            Err(Stop::Exit | Stop::Discard | Stop::Abandon) => return Ok(()),
            Err(stop) => return Err(stop),
        };
        let started = self.start_program(args, true);
        self.undo(undo);
        if let Some(last) = args.last() {
            self.last_arg.clone_from(last);
        }
        match started? {
            Ok(pid) => {
                let status = self.wait_pid(pid)?;
                self.status = status.code();
                self.report_death(pid, status, || crate::print::simple(simple));
                self.run_pending_traps()?;
            }
            Err(status) => {
                self.status = status;
                // It was a child of bash that found no program.
                self.traps.child_ended();
                self.run_pending_traps()?;
            }
        }
        Ok(())
    }

    /// What bash says about a process that a signal ended.
    pub(super) fn report_death(&mut self, pid: u32, status: Status, text: impl FnOnce() -> Bytes) {
        let Status::Killed(signal) = status else { return };
        if self.substitutes {
            return;
        }
        let what = death_text(signal);
        match signal {
            // SIGINT and SIGPIPE are how programs are meant to end.
            2 | 13 => {}
            _ if self.traps.get(signal).is_some() => {
                // Where standard error is closed there is nobody to tell.
                let _ = self.io.write(2, format!("{what}\n").as_bytes());
            }
            15 => {
                // Where standard error is closed there is nobody to tell.
                let _ = self.io.write(2, b"Terminated\n");
            }
            _ => {
                let text = text();
                self.complain(format!("{pid:5} {what:<23} {}", lossy(&text)));
            }
        }
    }

    /// Starts a program that was found at `path`; the inner error is as in [`Self::start_program`].
    pub(crate) fn start_found(&mut self, path: Option<Bytes>, args: &[Bytes]) -> Run<Result<u32, u8>> {
        let name = args.first().cloned().unwrap_or_default();
        let Some(path) = path else {
            // Whatever `PATH` is, there was one to look in.
            self.complain([&crate::expand::message_quote(&name)[..], b": command not found"].concat());
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
    pub(crate) fn start_program(&mut self, args: &[Bytes], remembers: bool) -> Run<Result<u32, u8>> {
        let name = args.first().cloned().unwrap_or_default();
        let Some(path) = self.find_for(&name, remembers) else {
            self.not_found(&name);
            return Ok(Err(127));
        };
        self.io.flush();
        match self.spawn(&path, args) {
            Err(Errno::NOENT) if !name.contains(&b'/') && self.options.checkhash => {
                // The hash table remembered a file that is gone.
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
        self.complain([&crate::expand::message_quote(name)[..], why].concat());
        if PACKED.contains(&name) {
            let hint = b" comes with the pack python, which is not here; outside the sandbox: tidebox pack add python";
            self.complain([name, hint].concat());
        }
    }

    fn spawn(&self, path: &[u8], args: &[Bytes]) -> rt::Result<u32> {
        self.spawn_with(path, args, &self.environment_of(path))
    }

    /// The environment of a program, which is told by which path it was found.
    fn environment_of(&self, path: &[u8]) -> Vec<Bytes> {
        let mut env = self.environment();
        env.push([b"_=", path].concat());
        env
    }

    fn spawn_with(&self, path: &[u8], args: &[Bytes], env: &[Bytes]) -> rt::Result<u32> {
        let env: Vec<&[u8]> = env.iter().map(Vec::as_slice).collect();
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        let fds: Vec<(Fd, Fd)> = self.io.for_child();
        let group = u32::from(self.jobs.starting);
        let request =
            SpawnRequest { path, args: &args, env: &env, cwd: b"", fds: &fds, group, ignored: self.traps.ignored() };
        rt::spawn(&request)
    }

    fn cannot_start(&mut self, name: &[u8], path: &[u8], args: &[Bytes], errno: Errno) -> Run<Result<u32, u8>> {
        let text = match errno {
            Errno::NOENT if rt::stat(path, true).is_ok() => {
                // What is missing is the program that its first line names.
                self.complain([name, b": cannot execute: required file not found"].concat());
                return Ok(Err(127));
            }
            Errno::NOENT => {
                let shown = if name.contains(&b'/') { name } else { path };
                self.complain([shown, b": No such file or directory"].concat());
                return Ok(Err(127));
            }
            Errno::AGAIN => {
                self.complain("fork: retry: Resource temporarily unavailable");
                self.status = 254;
                return Err(Stop::Discard);
            }
            Errno::NOEXEC => return self.start_script(name, path, args),
            Errno::ACCES if rt::stat(path, true).is_ok_and(|stat| stat.kind() == FileKind::Dir) => "Is a directory",
            other => other.text(),
        };
        let shown = if name.contains(&b'/') { name } else { path };
        self.complain([shown, b": ", text.as_bytes()].concat());
        Ok(Err(126))
    }

    /// A file that is neither a program nor names its interpreter is a script of this shell, as POSIX wants it.
    fn start_script(&mut self, name: &[u8], path: &[u8], args: &[Bytes]) -> Run<Result<u32, u8>> {
        let text = match rt::open(path, rt::Open { read: true, ..rt::Open::default() }) {
            Ok(fd) => {
                let text = self.read_all(fd);
                // Reading is over whatever closing says.
                let _ = rt::close(fd);
                text
            }
            Err(errno) => {
                self.complain([name, b": ", errno.text().as_bytes()].concat());
                return Ok(Err(126));
            }
        };
        let first_line = text.split(|&b| b == b'\n').next().unwrap_or_default();
        if first_line.contains(&0) {
            self.complain([name, b": cannot execute binary file: Exec format error"].concat());
            return Ok(Err(126));
        }
        let script: std::rc::Rc<[u8]> = path.into();
        let words = args.get(1..).unwrap_or_default().to_vec();
        let pid = self.fork_child(|child| {
            child.forget_functions();
            child.traps.fix_ignored();
            // It has numbers of its own.
            (child.pid, child.parent) = (None, None);
            child.name = path.to_vec();
            child.script = std::rc::Rc::clone(&script);
            child.levels = 0;
            child.with_positional(words, |child| child.run_source(&text, 1, script, b""))
        })?;
        Ok(Ok(pid))
    }

    /// What a new shell would not know: functions, unexported variables, options.
    fn forget_functions(&mut self) {
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
            return if self.survives_exec() { Ok(()) } else { Err(Stop::Exit) };
        };
        // What is not found through PATH is named in full.
        let (name, path) = match name.first() {
            Some(b'/') => (name, path),
            _ if name.contains(&b'/') => {
                let rest = name.strip_prefix(b"./").unwrap_or(&name);
                let whole = [self.cwd.strip_suffix(b"/").unwrap_or(&self.cwd), b"/", rest].concat();
                (whole.clone(), whole)
            }
            _ => (name, path),
        };
        self.io.flush();
        // The program takes the shell's place, so it stands no level deeper.
        let level = self.lookup(b"SHLVL").and_then(|text| crate::parse::plain_number(&text)).unwrap_or(1);
        self.set_exported(b"SHLVL", level.saturating_sub(1).to_string().into_bytes());
        let env = if clean { vec![] } else { self.environment() };
        let mut words = args.to_vec();
        if let (Some(first), Some(shown)) = (words.first_mut(), shown) {
            *first = shown;
        }
        let started = match self.spawn_with(&path, &words, &env) {
            Ok(pid) => Ok(pid),
            Err(Errno::NOEXEC) => self.start_script(&name, &path, &words)?,
            Err(errno) => {
                let status = if errno == Errno::NOENT { 127 } else { 126 };
                let directory = rt::stat(&path, true).is_ok_and(|stat| stat.kind() == FileKind::Dir);
                let text = if directory { "Is a directory" } else { errno.text() };
                self.complain([&name[..], b": ", text.as_bytes()].concat());
                if errno != Errno::NOENT && name.contains(&b'/') {
                    self.complain([b"exec: ", &name[..], b": cannot execute: ", text.as_bytes()].concat());
                }
                Err(status)
            }
        };
        match started {
            Ok(pid) => {
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
            Err(status) => {
                self.status = status;
                if self.survives_exec() { Ok(()) } else { Err(Stop::Exit) }
            }
        }
    }
}

/// What bash prints for a signal that ended a program.
pub(crate) fn death_text(signal: u8) -> String {
    let text = match signal {
        1 => "Hangup",
        2 => "Interrupt",
        3 => "Quit",
        13 => "Broken pipe",
        4 => "Illegal instruction",
        5 => "Trace/breakpoint trap",
        6 => "Aborted",
        7 => "Bus error",
        8 => "Floating point exception",
        9 => "Killed",
        10 => "User defined signal 1",
        11 => "Segmentation fault",
        12 => "User defined signal 2",
        14 => "Alarm clock",
        15 => "Terminated",
        16 => "Stack fault",
        24 => "CPU time limit exceeded",
        25 => "File size limit exceeded",
        26 => "Virtual timer expired",
        27 => "Profiling timer expired",
        29 => "I/O possible",
        30 => "Power failure",
        31 => "Bad system call",
        34..=64 => return format!("Real-time signal {}", signal - 34),
        _ => return signal_name(signal).map_or_else(|| format!("Signal {signal}"), |name| format!("SIG{name}")),
    };
    text.to_owned()
}
