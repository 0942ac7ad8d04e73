//! How processes begin: the root of a session, a spawned program, a forked copy.

use std::sync::Arc;

use crate::conversation::Conversation;
use crate::errno::Errno;
use crate::fd::{Descriptors, Entry, ROOT_FD, WORK_FD};
use crate::fs::{Device, Ino, Kind, Target};
use crate::kernel::{Kernel, USER};
use crate::open_file::{OpenFile, What};
use crate::process::{Birth, Fork, Image, Pid, Program, Start, Strings};
use crate::resolve::{Found, Place, Walk};
use crate::session::{Session, SessionId, SessionSpec, Stream};
use crate::signal::{Dispositions, FIXED, Signal};

/// A `#!` line may name a script again; Linux allows as many levels.
const SCRIPT_LEVELS: usize = 4;
/// Linux's `BINPRM_BUF_SIZE`: what of a file's start is looked at.
const START_BYTES: usize = 256;
/// What every Unix process starts with.
const UMASK: u32 = 0o022;
/// All processes together may hold as many bytes of arguments and environment as this many with the longest allowed.
const FULL_ARGUMENT_LISTS: usize = 16;

/// What `spawn` of `tidebox_v1` asks for.
#[derive(Debug, Default)]
pub(crate) struct SpawnRequest {
    pub(crate) path: Vec<u8>,
    pub(crate) argv: Vec<Vec<u8>>,
    pub(crate) env: Vec<Vec<u8>>,
    /// Empty: the caller's.
    pub(crate) cwd: Vec<u8>,
    /// The child's number, the caller's number.
    pub(crate) fds: Vec<(u32, u32)>,
    /// 0: the caller's; 1: a new one; else the group to join.
    pub(crate) group: u32,
    pub(crate) ignored: u64,
}

impl Kernel {
    /// Nothing to read comes from `/dev/null`, where there is one, so that `[ -p /dev/stdin ]` tells input from none.
    fn standard_input(&self, bytes: Vec<u8>) -> What {
        let null = self.fs.walk(&USER, self.fs.root(), b"/dev/null", true);
        match null {
            Ok(Target::Node(ino))
                if bytes.is_empty() && self.fs.stat(ino).is_ok_and(|stat| stat.kind == Kind::Device(Device::Null)) =>
            {
                What::Device(Device::Null, ino)
            }
            _ => What::Stdin(bytes.into()),
        }
    }

    /// Begins a session with its root process, which waits in [`take_starts`](Self::take_starts). The errors are those
    /// of a spawn, and `NOENT` or `NOTDIR` for a bad working directory.
    pub fn begin(&mut self, spec: SessionSpec) -> Result<(SessionId, Pid), Errno> {
        let root = Place::Node(self.fs.root());
        let cwd = self.find_dir(Pid(0), &root, &spec.cwd)?;
        let program = self.load(Pid(0), &cwd, &spec.program, spec.argv, spec.env)?;
        self.admit(0, &program)?;
        let signals = dispositions(&program, 0);
        let session = self.new_session();
        let mut fds = Descriptors::default();
        let streams = [
            OpenFile::new(self.standard_input(spec.stdin), true, false, 0),
            OpenFile::new(What::Output(session, Stream::Stdout), false, true, 0),
            OpenFile::new(What::Output(session, Stream::Stderr), false, true, 0),
        ];
        for (fd, open) in (0..).zip(streams) {
            let file = self.add_file(open);
            self.share_file(file);
            fds.put(fd, Entry::new(file), u32::MAX)?;
        }
        let mut begun = Session::new(Pid(0), spec.output_bytes, spec.shell_state);
        begun.conversation = spec.conversation.then(Conversation::default);
        self.sessions.insert(session, begun);
        let pid = self.born(
            Birth {
                parent: 0,
                group: None,
                session,
                depth: 0,
                program,
                cwd,
                umask: UMASK,
                fds,
                signals,
                started: self.clock.monotonic(),
            },
            None,
        );
        if let Some(found) = self.sessions.get_mut(&session) {
            found.root = pid;
        }
        Ok((session, pid))
    }

    /// Starts a program as a child of `pid`.
    pub(crate) fn spawn(&mut self, pid: Pid, request: SpawnRequest) -> Result<Pid, Errno> {
        let parent = self.process(pid)?;
        let (session, depth, umask, own_group) = (parent.session, parent.depth + 1, parent.umask, parent.group);
        let at = parent.cwd.clone();
        let cwd = if request.cwd.is_empty() { at } else { self.find_dir(pid, &at, &request.cwd)? };
        let program = self.load(pid, &cwd, &request.path, request.argv, request.env)?;
        self.admit(depth, &program)?;
        let group = match request.group {
            0 => Some(own_group),
            1 => None,
            group => Some(self.joinable(session, group)?),
        };
        let fds = self.inherit(pid, &request.fds)?;
        let signals = dispositions(&program, request.ignored);
        let started = self.clock.monotonic();
        let birth = Birth { parent: pid.0, group, session, depth, program, cwd, umask, fds, signals, started };
        Ok(self.born(birth, None))
    }

    /// Starts a copy of `pid`.
    pub(crate) fn fork(&mut self, pid: Pid, arg: i32) -> Result<Pid, Errno> {
        let parent = self.process(pid)?;
        let depth = parent.depth + 1;
        self.admit(depth, &parent.program)?;
        let fds = parent.fds.copy();
        let birth = Birth {
            parent: pid.0,
            group: Some(parent.group),
            session: parent.session,
            depth,
            program: parent.program.clone(),
            cwd: parent.cwd.clone(),
            umask: parent.umask,
            fds,
            // What has arrived was for the parent.
            signals: Dispositions { noted: 0, ..parent.signals },
            started: self.clock.monotonic(),
        };
        for (_, entry) in birth.fds.iter() {
            if let Some(open) = self.files.get_mut(entry.file) {
                open.refs += 1;
            }
        }
        Ok(self.born(birth, Some(Fork { parent: pid, arg })))
    }

    /// The copy that `fork` just made of `parent`, when the engine makes its instance within the call.
    /// [`take_starts`](Self::take_starts) no longer answers it.
    pub fn take_fork(&mut self, parent: Pid) -> Option<Start> {
        let session = self.processes.get(parent)?.session;
        let starts = &mut self.sessions.get_mut(&session)?.starts;
        let at = starts.iter().rposition(|s| s.fork.is_some_and(|fork| fork.parent == parent))?;
        Some(starts.remove(at))
    }

    /// Takes back a process that could not be instantiated, as if it had never been: its parent never sees it.
    pub fn abandon(&mut self, pid: Pid) {
        let Some(process) = self.processes.get(pid) else {
            return;
        };
        if let Some(session) = self.sessions.get_mut(&process.session) {
            session.starts.retain(|start| start.pid != pid);
            session.processes_started = session.processes_started.saturating_sub(1);
        }
        self.bury(pid);
    }

    /// Takes the signals that have arrived for a process that notes them (bit *n* is signal *n*), as its own `sig_take` would: for
    /// an engine that tells a program which cannot ask while it computes.
    pub fn take_noted(&mut self, pid: Pid) -> u64 {
        self.processes.get_mut(pid).map_or(0, |process| std::mem::take(&mut process.signals.noted))
    }

    /// Installs the preopened directories before the guest runs: 3 is `/`, and a plain guest gets 4, its working
    /// directory.
    pub fn set_aware(&mut self, pid: Pid, aware: bool) {
        let Some(process) = self.processes.get(pid).filter(|p| p.ended.is_none()) else {
            return;
        };
        let cwd = process.cwd.clone();
        let root = What::Dir(Place::Node(self.fs.root()));
        let wanted = [(ROOT_FD, Some(root)), (WORK_FD, (!aware).then_some(What::WorkDir(cwd)))];
        for (fd, what) in wanted {
            let entry = what.map(|what| {
                let file = self.add_file(OpenFile::new(what, true, false, 0));
                self.share_file(file);
                Entry { file, preopen: true }
            });
            let Some(process) = self.processes.get_mut(pid) else {
                return;
            };
            let old = match entry {
                Some(entry) => process.fds.put(fd, entry, u32::MAX).ok().flatten(),
                None => process.fds.remove(fd),
            };
            if let Some(old) = old {
                self.drop_file(old.file);
            }
        }
    }

    /// Zombies count, and so do the depth of parents and the bytes of arguments, so that neither a fork bomb nor a
    /// script that calls itself gets far.
    fn admit(&self, depth: u32, program: &Program) -> Result<(), Errno> {
        let most = (self.limits.argument_bytes as usize).saturating_mul(FULL_ARGUMENT_LISTS);
        let strings = self.string_bytes.saturating_add(program.string_bytes());
        let full = self.processes.len() >= self.limits.processes as usize;
        if full || depth > self.limits.nesting || strings > most { Err(Errno::Again) } else { Ok(()) }
    }

    fn born(&mut self, birth: Birth, fork: Option<Fork>) -> Pid {
        let (parent, session) = (Pid(birth.parent), birth.session);
        self.enter_place(&birth.cwd);
        self.string_bytes += birth.program.string_bytes();
        let process = self.processes.insert(birth);
        let pid = process.pid;
        let start = Start {
            pid,
            image: process.program.image.clone(),
            fork,
            host: process.program.host.clone(),
            kill_flag: Arc::clone(&process.kill_flag),
        };
        if let Some(parent) = self.processes.get_mut(parent) {
            parent.children.push(pid);
        }
        if let Some(session) = self.sessions.get_mut(&session) {
            session.starts.push(start);
            session.processes_started += 1;
        }
        pid
    }

    /// A group of the same session, or `PERM` as POSIX says.
    pub(crate) fn joinable(&self, session: SessionId, group: u32) -> Result<u32, Errno> {
        let exists = self.processes.iter().any(|p| p.session == session && p.group == group);
        if exists { Ok(group) } else { Err(Errno::Perm) }
    }

    /// The child's table from the caller's descriptors. On an error nothing was shared.
    fn inherit(&mut self, pid: Pid, wanted: &[(u32, u32)]) -> Result<Descriptors, Errno> {
        let mut fds = Descriptors::default();
        let parent = self.process(pid)?;
        for (theirs, ours) in wanted {
            let entry = parent.fds.get(*ours).ok_or(Errno::Badf)?;
            if crate::fd::to_unix(*theirs).is_none() {
                return Err(Errno::Badf);
            }
            fds.put(*theirs, Entry::new(entry.file), self.limits.descriptors)?;
        }
        for (_, entry) in fds.iter() {
            if let Some(open) = self.files.get_mut(entry.file) {
                open.refs += 1;
            }
        }
        Ok(fds)
    }

    /// The directory that `path` names, which the user may enter.
    pub(crate) fn find_dir(&self, pid: Pid, at: &Place, path: &[u8]) -> Result<Place, Errno> {
        match self.find(pid, at, path, Walk { follow: true, beneath: false })? {
            Found::Node(ino) => {
                if !matches!(self.fs.stat(ino)?.kind, Kind::Dir) {
                    return Err(Errno::Notdir);
                }
                self.fs.access(&USER, ino, 1)?;
                Ok(Place::Node(ino))
            }
            Found::Proc(item) => item.dir().map(Place::Proc).ok_or(Errno::Notdir),
        }
    }

    /// Finds the program to run, through `#!` lines where needed.
    fn load(
        &self,
        pid: Pid,
        cwd: &Place,
        path: &[u8],
        mut argv: Vec<Vec<u8>>,
        env: Vec<Vec<u8>>,
    ) -> Result<Program, Errno> {
        self.check_strings(&argv, &env)?;
        let mut path = path.to_vec();
        for _ in 0..=SCRIPT_LEVELS {
            let ino = self.executable(pid, cwd, &path)?;
            let host = self.host_program(ino)?;
            if host.is_some() || self.is_wasm(ino)? {
                let argv = Arc::new(Strings::new(&argv));
                let env = Arc::new(Strings::new(&env));
                return Ok(Program { image: self.image(ino)?, host, path: self.absolute(cwd, &path), argv, env });
            }
            let mut start = [0; START_BYTES];
            let n = self.fs.read_at(ino, 0, &mut start)?;
            let (interpreter, argument) = script_line(start.get(..n).unwrap_or(&start)).ok_or(Errno::Noexec)?;
            let rest = argv.into_iter().skip(1);
            argv = [Some(interpreter.clone()), argument, Some(path)].into_iter().flatten().chain(rest).collect();
            path = interpreter;
        }
        Err(Errno::Loop)
    }

    /// Reads no more than this takes: the rest may have to be brought from far.
    fn is_wasm(&self, ino: Ino) -> Result<bool, Errno> {
        let mut magic = [0; 4];
        Ok(self.fs.read_at(ino, 0, &mut magic)? == magic.len() && magic == *b"\0asm")
    }

    fn check_strings(&self, argv: &[Vec<u8>], env: &[Vec<u8>]) -> Result<(), Errno> {
        let all = || argv.iter().chain(env);
        // As Linux counts: a pointer each, the string and its end.
        let bytes: usize = all().map(|s| s.len().saturating_add(5)).sum();
        if bytes > self.limits.argument_bytes as usize {
            return Err(Errno::TooBig);
        }
        if all().any(|s| s.contains(&0)) { Err(Errno::Inval) } else { Ok(()) }
    }

    /// A regular file that the user may execute.
    fn executable(&self, pid: Pid, cwd: &Place, path: &[u8]) -> Result<Ino, Errno> {
        let walk = Walk { follow: true, beneath: false };
        let ino = match self.find(pid, cwd, path, walk)? {
            Found::Node(ino) => ino,
            Found::Proc(item) => item.executable(self).ok_or(Errno::Acces)?,
        };
        if !matches!(self.fs.stat(ino)?.kind, Kind::File) {
            return Err(Errno::Acces);
        }
        self.fs.access(&USER, ino, 1)?;
        Ok(ino)
    }

    fn image(&self, ino: Ino) -> Result<Image, Errno> {
        let stat = self.fs.stat(ino)?;
        // What the host installed was chosen by the embedder; the limit is for what guests bring.
        if stat.uid != 0 && stat.size > self.limits.module_bytes {
            return Err(Errno::TooBig);
        }
        Ok(Image { ino, version: self.fs.version(ino), contents: self.fs.contents(ino)?.loaded()? })
    }

    fn absolute(&self, cwd: &Place, path: &[u8]) -> Arc<[u8]> {
        if path.starts_with(b"/") {
            return path.into();
        }
        let mut full = self.path_of(cwd).unwrap_or_default();
        if !full.ends_with(b"/") {
            full.push(b'/');
        }
        full.extend_from_slice(path.strip_prefix(b"./").unwrap_or(path));
        full.into()
    }
}

/// What a new process wants of signals. A program of the application is told that nobody reads what it writes; it does
/// not die of it, because only the application knows what is to be put in order first.
fn dispositions(program: &Program, ignored: u64) -> Dispositions {
    let pipe = if program.host.is_some() { Signal::Pipe.bit() } else { 0 };
    Dispositions { ignored: (ignored & !FIXED) | pipe, ..Dispositions::default() }
}

/// The interpreter of a `#!` line and its one optional argument, as Linux splits them. A line that does not end within
/// what was read is no such line, because its interpreter might be cut.
fn script_line(start: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let rest = start.strip_prefix(b"#!")?;
    let end = rest.iter().position(|b| *b == b'\n');
    if end.is_none() && start.len() >= START_BYTES {
        return None;
    }
    let line = rest.get(..end.unwrap_or(rest.len()))?.trim_ascii();
    let split = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (interpreter, argument) = line.split_at_checked(split)?;
    let argument = argument.trim_ascii();
    if interpreter.is_empty() || line.contains(&0) {
        return None;
    }
    Some((interpreter.to_vec(), (!argument.is_empty()).then(|| argument.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_line_has_an_interpreter_and_at_most_one_argument() {
        let line = |s: &str| {
            script_line(s.as_bytes()).map(|(i, a)| {
                let text = |b: Vec<u8>| String::from_utf8(b).expect("the cases are ASCII");
                (text(i), a.map(text))
            })
        };
        assert_eq!(line("#!/bin/sh\necho"), Some(("/bin/sh".into(), None)));
        assert_eq!(line("#! /usr/bin/env  awk -f \n"), Some(("/usr/bin/env".into(), Some("awk -f".into()))));
        assert_eq!(line("#!/bin/sh"), Some(("/bin/sh".into(), None)), "a file may end without a newline");
        assert_eq!(line("#!\n"), None);
        assert_eq!(line("echo"), None);
        assert_eq!(line(&format!("#!{}", "x".repeat(300))), None, "the name may be cut");
    }
}
