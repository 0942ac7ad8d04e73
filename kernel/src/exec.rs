//! Process creation: the root of an execution, spawned programs and forks.

use std::borrow::Cow;
use std::sync::Arc;

use tidebox_core::{OutputStream, StopReason};

use crate::errno::Errno;
use crate::execution::{Execution, ExecutionId, ExecutionSpec, OutputLimits};
use crate::fd::{Descriptors, Entry, ROOT_FD, WORK_FD};
use crate::fs::{Device, Ino, Kind, Resolved};
use crate::kernel::{Kernel, USER};
use crate::open_file::{FileObject, OpenFile};
use crate::process::{CStringList, Executable, ForkOrigin, NewProcess, PendingProcess, Pid, Program};
use crate::request_channel::RequestChannel;
use crate::resolve::{DirRef, ResolvedPath, Walk};
use crate::signal::{Dispositions, Signal, UNCATCHABLE};

/// Maximum nesting of `#!` interpreters that are scripts themselves, as on Linux.
const SCRIPT_LEVELS: usize = 4;
/// Linux's `BINPRM_BUF_SIZE`: number of bytes searched for a `#!` line.
const SHEBANG_BYTES: usize = 256;
/// Initial umask, as usual on Unix.
const UMASK: u32 = 0o022;
/// Arguments and environments of all processes together are limited to this many lists of maximum size.
const MAX_FULL_ARGUMENT_LISTS: usize = 16;

/// Decoded `spawn` request of `tidebox_v1`.
#[derive(Debug, Default)]
pub(crate) struct SpawnRequest {
    pub(crate) path: Vec<u8>,
    pub(crate) argv: CStringList,
    pub(crate) env: CStringList,
    /// Empty: inherit from the caller.
    pub(crate) cwd: Vec<u8>,
    /// Pairs of the child's descriptor and the caller's descriptor.
    pub(crate) fds: Vec<(u32, u32)>,
    /// 0: the caller's; 1: a new one; else the group to join.
    pub(crate) group: u32,
    pub(crate) ignored: u64,
}

impl Kernel {
    /// Empty input is `/dev/null` if it exists, so that `[ -p /dev/stdin ]` can distinguish it from a pipe.
    fn standard_input(&self, bytes: Vec<u8>) -> FileObject {
        let null = self.fs.walk(&USER, self.fs.root(), b"/dev/null", true);
        match null {
            Ok(Resolved::Node(ino))
                if bytes.is_empty() && self.fs.stat(ino).is_ok_and(|stat| stat.kind == Kind::Device(Device::Null)) =>
            {
                FileObject::Device(Device::Null, ino)
            }
            _ => FileObject::Stdin(bytes.into()),
        }
    }

    /// Starts an execution with its root process, which [`take_pending`](Self::take_pending) returns. The errors are those of a
    /// spawn, and `NOENT` or `NOTDIR` for a bad working directory.
    pub fn start_execution(&mut self, spec: ExecutionSpec) -> Result<(ExecutionId, Pid), Errno> {
        let root = DirRef::Node(self.fs.root());
        let cwd = self.find_dir(Pid(0), &root, &spec.cwd)?;
        let program = self.resolve_executable(Pid(0), &cwd, &spec.program, spec.argv, spec.env)?;
        self.check_process_limits(0, &program).map_err(|_| Errno::Again)?;
        let signals = dispositions(&program, 0);
        let execution = self.new_execution();
        let output = OutputLimits { bytes: spec.output_bytes, overflow: spec.output_overflow };
        let mut started = Execution::new(Pid(0), output, spec.shell_state);
        started.interactive = spec.interactive.then(|| RequestChannel::new(spec.supports_rest));
        started.is_background = spec.is_background;
        let fds = match spec.terminal {
            Some(size) => {
                let terminal = self.new_terminal(execution, size);
                started.terminal = Some(terminal);
                self.terminal_streams(terminal)?
            }
            None => {
                started.input = if spec.open_input { Some(self.new_pipe()?) } else { None };
                let stdin = match started.input {
                    Some(pipe) => FileObject::Reader(pipe),
                    None => self.standard_input(spec.stdin),
                };
                self.captured_streams(execution, stdin)?
            }
        };
        let terminal = started.terminal;
        self.executions.insert(execution, started);
        let pid = self.create_process(
            NewProcess {
                parent: 0,
                group: None,
                execution,
                depth: 0,
                program,
                cwd,
                umask: UMASK,
                nice: 0,
                fds,
                signals,
                started: self.clock.monotonic(),
            },
            None,
        );
        if let Some(found) = self.executions.get_mut(&execution) {
            found.root = pid;
        }
        if let Some(terminal) = terminal {
            self.set_foreground(terminal, pid.0);
        }
        Ok((execution, pid))
    }

    /// Creates the standard streams of an execution without a terminal.
    fn captured_streams(&mut self, execution: ExecutionId, stdin: FileObject) -> Result<Descriptors, Errno> {
        let mut fds = Descriptors::default();
        let streams = [
            OpenFile::new(stdin, true, false, 0),
            OpenFile::new(FileObject::Output(execution, OutputStream::Stdout), false, true, 0),
            OpenFile::new(FileObject::Output(execution, OutputStream::Stderr), false, true, 0),
        ];
        for (fd, open) in (0..).zip(streams) {
            let file = self.insert_file(open);
            self.ref_file(file);
            fds.put(fd, Entry::new(file), u32::MAX)?;
        }
        Ok(fds)
    }

    /// Creates the standard streams of an execution with a terminal: three descriptors of one open file, as on Linux.
    fn terminal_streams(&mut self, terminal: u32) -> Result<Descriptors, Errno> {
        let mut fds = Descriptors::default();
        let file = self.insert_file(OpenFile::new(FileObject::Terminal(terminal), true, true, 0));
        for fd in 0..3 {
            self.ref_file(file);
            fds.put(fd, Entry::new(file), u32::MAX)?;
        }
        Ok(fds)
    }

    /// Starts a program as a child of `pid`.
    pub(crate) fn spawn(&mut self, pid: Pid, request: SpawnRequest) -> Result<Pid, Errno> {
        let parent = self.process(pid)?;
        let (execution, depth, umask, own_group) = (parent.execution, parent.depth + 1, parent.umask, parent.group);
        let nice = parent.nice;
        let at = parent.cwd.clone();
        let cwd = if request.cwd.is_empty() { at } else { self.find_dir(pid, &at, &request.cwd)? };
        let program = self.resolve_executable(pid, &cwd, &request.path, request.argv, request.env)?;
        self.check_process_limits(depth, &program).map_err(|limit| self.reached_process_limit(execution, limit))?;
        let group = match request.group {
            0 => Some(own_group),
            1 => None,
            group => Some(self.check_group(execution, group)?),
        };
        let fds = self.inherit_fds(pid, &request.fds)?;
        let signals = dispositions(&program, request.ignored);
        let started = self.clock.monotonic();
        let birth =
            NewProcess { parent: pid.0, group, execution, depth, program, cwd, umask, nice, fds, signals, started };
        Ok(self.create_process(birth, None))
    }

    /// Starts a copy of `pid`.
    pub(crate) fn fork(&mut self, pid: Pid, arg: i32) -> Result<Pid, Errno> {
        let parent = self.process(pid)?;
        let depth = parent.depth + 1;
        let execution = parent.execution;
        self.check_process_limits(depth, &parent.program)
            .map_err(|limit| self.reached_process_limit(execution, limit))?;
        let parent = self.process(pid)?;
        let fds = parent.fds.copy();
        let birth = NewProcess {
            parent: pid.0,
            group: Some(parent.group),
            execution: parent.execution,
            depth,
            program: parent.program.clone(),
            cwd: parent.cwd.clone(),
            umask: parent.umask,
            nice: parent.nice,
            fds,
            // Pending signals stay with the parent.
            signals: Dispositions { pending: 0, ..parent.signals },
            started: self.clock.monotonic(),
        };
        for (_, entry) in birth.fds.iter() {
            if let Some(open) = self.files.get_mut(entry.file) {
                open.refs += 1;
            }
        }
        Ok(self.create_process(birth, Some(ForkOrigin { parent: pid, arg })))
    }

    /// Returns the copy that `fork` has just created of `parent`, for an engine that instantiates it within the call.
    /// [`take_pending`](Self::take_pending) does not return it any more.
    pub fn take_fork(&mut self, parent: Pid) -> Option<PendingProcess> {
        let execution = self.processes.get(parent)?.execution;
        let starts = &mut self.executions.get_mut(&execution)?.starts;
        let at = starts.iter().rposition(|s| s.fork.is_some_and(|fork| fork.parent == parent))?;
        Some(starts.remove(at))
    }

    /// Removes a process that could not be instantiated; its parent never sees it.
    pub fn cancel_spawn(&mut self, pid: Pid) {
        let Some(process) = self.processes.get(pid) else {
            return;
        };
        if let Some(execution) = self.executions.get_mut(&process.execution) {
            execution.starts.retain(|start| start.pid != pid);
            execution.processes_started = execution.processes_started.saturating_sub(1);
        }
        self.reap(pid);
    }

    /// Takes the pending signals of a process that catches them (bit *n* is signal *n*), like its own `sig_take`. For an engine
    /// that notifies a program which makes no calls while it computes.
    pub fn take_pending_signals(&mut self, pid: Pid) -> u64 {
        self.processes.get_mut(pid).map_or(0, |process| std::mem::take(&mut process.signals.pending))
    }

    /// Installs the preopened directories before the guest runs: 3 is `/`, and a plain guest gets 4, its working directory.
    pub fn set_tidebox_guest(&mut self, pid: Pid, aware: bool) {
        let Some(process) = self.processes.get(pid).filter(|p| p.ended.is_none()) else {
            return;
        };
        let cwd = process.cwd.clone();
        let root = FileObject::Dir(DirRef::Node(self.fs.root()));
        let requested = [(ROOT_FD, Some(root)), (WORK_FD, (!aware).then_some(FileObject::WorkDir(cwd)))];
        for (fd, what) in requested {
            let entry = what.map(|what| {
                let file = self.insert_file(OpenFile::new(what, true, false, 0));
                self.ref_file(file);
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
                self.unref_file(old.file);
            }
        }
    }

    /// Checks the limits on processes (zombies count), on the depth of parents and on argument bytes, which stop fork bombs and
    /// scripts that call themselves.
    fn check_process_limits(&self, depth: u32, program: &Program) -> Result<(), StopReason> {
        let limit = (self.limits.argument_bytes as usize).saturating_mul(MAX_FULL_ARGUMENT_LISTS);
        let strings = self.string_bytes.saturating_add(program.string_bytes());
        if depth > self.limits.nesting {
            return Err(StopReason::Nesting);
        }
        let full = self.processes.len() >= self.limits.processes as usize;
        if full || strings > limit { Err(StopReason::Processes) } else { Ok(()) }
    }

    fn reached_process_limit(&mut self, execution: ExecutionId, limit: StopReason) -> Errno {
        self.record_execution_limit(execution, limit);
        Errno::Again
    }

    fn create_process(&mut self, birth: NewProcess, fork: Option<ForkOrigin>) -> Pid {
        let (parent, execution) = (Pid(birth.parent), birth.execution);
        self.hold_dir(&birth.cwd);
        self.string_bytes += birth.program.string_bytes();
        let process = self.processes.insert(birth);
        let pid = process.pid;
        let start = PendingProcess {
            pid,
            execution,
            image: process.program.image.clone(),
            fork,
            resume: None,
            host: process.program.host.clone(),
            flags: Arc::clone(&process.flags),
        };
        if let Some(parent) = self.processes.get_mut(parent) {
            parent.children.push(pid);
        }
        if let Some(execution) = self.executions.get_mut(&execution) {
            execution.starts.push(start);
            execution.processes_started += 1;
        }
        pid
    }

    /// Checks that a group belongs to the same execution; else `PERM`, as POSIX specifies.
    pub(crate) fn check_group(&self, execution: ExecutionId, group: u32) -> Result<u32, Errno> {
        let exists = self.processes.iter().any(|p| p.execution == execution && p.group == group);
        if exists { Ok(group) } else { Err(Errno::Perm) }
    }

    /// Creates the child's table from the caller's descriptors. On an error nothing is shared.
    fn inherit_fds(&mut self, pid: Pid, requested: &[(u32, u32)]) -> Result<Descriptors, Errno> {
        let mut fds = Descriptors::default();
        let parent = self.process(pid)?;
        for (child_fd, parent_fd) in requested {
            let entry = parent.fds.get(*parent_fd).ok_or(Errno::Badf)?;
            if crate::fd::to_unix(*child_fd).is_none() {
                return Err(Errno::Badf);
            }
            fds.put(*child_fd, Entry::new(entry.file), self.limits.descriptors)?;
        }
        for (_, entry) in fds.iter() {
            if let Some(open) = self.files.get_mut(entry.file) {
                open.refs += 1;
            }
        }
        Ok(fds)
    }

    /// Resolves `path` to a directory that the user may search.
    pub(crate) fn find_dir(&self, pid: Pid, at: &DirRef, path: &[u8]) -> Result<DirRef, Errno> {
        match self.find(pid, at, path, Walk { follow: true, beneath: false })? {
            ResolvedPath::Node(ino) => {
                if !matches!(self.fs.stat(ino)?.kind, Kind::Dir) {
                    return Err(Errno::Notdir);
                }
                self.fs.access(&USER, ino, 1)?;
                Ok(DirRef::Node(ino))
            }
            ResolvedPath::Proc(item) => item.dir().map(DirRef::Proc).ok_or(Errno::Notdir),
        }
    }

    /// Resolves the program to run, following `#!` lines.
    fn resolve_executable(
        &self,
        pid: Pid,
        cwd: &DirRef,
        path: &[u8],
        mut argv: CStringList,
        env: CStringList,
    ) -> Result<Program, Errno> {
        self.check_strings(&argv, &env)?;
        let mut path = Cow::Borrowed(path);
        for _ in 0..=SCRIPT_LEVELS {
            let ino = self.executable(pid, cwd, &path)?;
            let host = self.host_program(ino)?;
            if host.is_some() || self.is_wasm(ino)? {
                let (argv, env) = (Arc::new(argv), Arc::new(env));
                return Ok(Program { image: self.image(ino)?, host, path: self.absolute_path(cwd, &path), argv, env });
            }
            let mut start = [0; SHEBANG_BYTES];
            let n = self.fs.read_at(ino, 0, &mut start)?;
            let (interpreter, argument) = parse_shebang(start.get(..n).unwrap_or(&start)).ok_or(Errno::Noexec)?;
            let command = [Some(interpreter.as_slice()), argument.as_deref(), Some(&*path)];
            argv = command.into_iter().flatten().chain(argv.iter().skip(1)).collect();
            path = Cow::Owned(interpreter);
        }
        Err(Errno::Loop)
    }

    /// Reads only these bytes, because the rest may be loaded lazily.
    fn is_wasm(&self, ino: Ino) -> Result<bool, Errno> {
        let mut magic = [0; 4];
        Ok(self.fs.read_at(ino, 0, &mut magic)? == magic.len() && magic == *b"\0asm")
    }

    fn check_strings(&self, argv: &CStringList, env: &CStringList) -> Result<(), Errno> {
        // As Linux counts: a pointer, the string and its terminator each.
        let bytes = |list: &CStringList| list.bytes.len().saturating_add((list.count as usize).saturating_mul(4));
        if bytes(argv).saturating_add(bytes(env)) > self.limits.argument_bytes as usize {
            return Err(Errno::TooBig);
        }
        if argv.has_embedded_nul() || env.has_embedded_nul() { Err(Errno::Inval) } else { Ok(()) }
    }

    /// Resolves a regular file that the user may execute.
    fn executable(&self, pid: Pid, cwd: &DirRef, path: &[u8]) -> Result<Ino, Errno> {
        let walk = Walk { follow: true, beneath: false };
        let ino = match self.find(pid, cwd, path, walk)? {
            ResolvedPath::Node(ino) => ino,
            ResolvedPath::Proc(item) => item.executable(self).ok_or(Errno::Acces)?,
        };
        if !matches!(self.fs.stat(ino)?.kind, Kind::File) {
            return Err(Errno::Acces);
        }
        self.fs.access(&USER, ino, 1)?;
        Ok(ino)
    }

    fn image(&self, ino: Ino) -> Result<Executable, Errno> {
        let stat = self.fs.stat(ino)?;
        // The limit applies to guest files only; the embedder selects what the host installs.
        if stat.uid != 0 && stat.size > self.limits.module_bytes {
            return Err(Errno::TooBig);
        }
        Ok(Executable { ino, version: self.fs.version(ino), contents: self.fs.contents(ino)?.into_memory()? })
    }

    fn absolute_path(&self, cwd: &DirRef, path: &[u8]) -> Arc<[u8]> {
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

/// Returns the initial signal dispositions of a process. A host program gets an error instead of SIGPIPE, because only the
/// application knows how to clean up.
fn dispositions(program: &Program, ignored: u64) -> Dispositions {
    let pipe = if program.host.is_some() { Signal::Pipe.bit() } else { 0 };
    Dispositions { ignored: (ignored & !UNCATCHABLE) | pipe, ..Dispositions::default() }
}

/// Parses the interpreter of a `#!` line and its one optional argument, as Linux does. A line that does not end within the
/// searched bytes is rejected, because its interpreter may be truncated.
fn parse_shebang(start: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let rest = start.strip_prefix(b"#!")?;
    let end = rest.iter().position(|b| *b == b'\n');
    if end.is_none() && start.len() >= SHEBANG_BYTES {
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
    fn shebang_has_an_interpreter_and_at_most_one_argument() {
        let line = |s: &str| {
            parse_shebang(s.as_bytes()).map(|(i, a)| {
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
