//! Saved processes: a process at rest as values, so that it can continue in another sandbox.
//!
//! A process rests when it has returned from its entry function, so that its stack is empty, and waits for the next request
//! ([`RequestChannel`](crate::request_channel::RequestChannel)). Then its memory and what the kernel knows of it are its whole
//! state. The engine saves the memory, this module the rest. Pipes, sockets, terminals and children would need their other ends,
//! so a process that has some cannot be saved.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use tidebox_core::OutputStream;

use crate::errno::Errno;
use crate::execution::ExecutionId;
use crate::fd::Entry;
use crate::fs::{Device, Ino, Kind, Resolved};
use crate::kernel::{Kernel, USER};
use crate::open_file::{FileObject, OpenFile, flag};
use crate::process::Pid;
use crate::resolve::DirRef;
use crate::signal::UNCATCHABLE;

/// Maximum directories searched for the name of an open file.
const MAX_DIRECTORIES: usize = 100_000;

/// A process at rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedProcess {
    /// Its state in the kernel.
    pub state: SavedState,
    /// Its memory.
    pub memory: SavedMemory,
}

/// State of a saved process in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedState {
    /// Absolute path of its working directory.
    pub cwd: Vec<u8>,
    /// Its umask, 9 bits.
    pub umask: u32,
    /// Signals that it ignores; bit *n* is signal *n*.
    pub ignored_signals: u64,
    /// Signals that it catches.
    pub caught_signals: u64,
    /// Its open files.
    pub files: Vec<SavedFile>,
}

/// An open file of a saved process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedFile {
    /// The open object.
    pub object: SavedObject,
    /// Offset in bytes.
    pub offset: u64,
    /// `fdflags` of preview1.
    pub flags: u16,
    /// True if it is open for reading.
    pub read: bool,
    /// True if it is open for writing.
    pub write: bool,
    /// The descriptors that refer to it, in ascending order.
    pub descriptors: Vec<u32>,
}

/// The object that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedObject {
    /// Standard input of the execution, which is empty.
    Stdin,
    /// A captured output stream of the execution.
    Output(OutputStream),
    /// A file, directory or device at this absolute path.
    Path(Vec<u8>),
}

/// Memory of a saved process: the difference to the initial memory of its program.
#[derive(Clone, PartialEq, Eq)]
pub struct SavedMemory {
    /// SHA-256 of the initial memory.
    pub image: [u8; 32],
    /// Size in bytes.
    pub bytes: u64,
    /// Numbers of the pages that differ, in ascending order.
    pub pages: Vec<u32>,
    /// Content of these pages, [`SavedMemory::PAGE`] bytes each.
    pub content: Vec<u8>,
}

impl SavedMemory {
    /// Bytes of a page.
    pub const PAGE: usize = 4096;
}

/// Prints the sizes only: the memory may hold secrets.
impl fmt::Debug for SavedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedMemory")
            .field("bytes", &self.bytes)
            .field("pages", &self.pages.len())
            .finish_non_exhaustive()
    }
}

impl Kernel {
    /// Returns the state of a process at rest, or the reason why it cannot be saved.
    pub(crate) fn save_state(&self, pid: Pid) -> Result<SavedState, String> {
        let process = self.process(pid).map_err(|_| "the process has ended".to_owned())?;
        if !process.children.is_empty() {
            return Err("it has child processes; wait for them, or end them".to_owned());
        }
        let cwd = self.path_of(&process.cwd).ok_or("its working directory was removed; change to another one")?;
        let mut by_file: Vec<(u32, Vec<u32>)> = Vec::new();
        // The engine opens the preopened directory of each process.
        for (fd, entry) in process.fds.iter().filter(|(_, entry)| !entry.preopen) {
            match by_file.iter_mut().find(|(file, _)| *file == entry.file) {
                Some((_, descriptors)) => descriptors.push(fd),
                None => by_file.push((entry.file, vec![fd])),
            }
        }
        let paths = self.paths_of(by_file.iter().filter_map(|(file, _)| self.files.get(*file)?.what.ino()));
        let files = by_file.into_iter().map(|(file, descriptors)| self.save_file(file, descriptors, &paths));
        let (ignored_signals, caught_signals) = (process.signals.ignored, process.signals.caught);
        let files = files.collect::<Result<_, _>>()?;
        Ok(SavedState { cwd, umask: process.umask, ignored_signals, caught_signals, files })
    }

    fn save_file(&self, file: u32, descriptors: Vec<u32>, paths: &BTreeMap<Ino, Vec<u8>>) -> Result<SavedFile, String> {
        let fd = descriptors.first().and_then(|fd| crate::fd::to_unix(*fd)).unwrap_or_default();
        let open = self.files.get(file).ok_or_else(|| format!("its descriptor {fd} is closed"))?;
        let other = |what: &str| Err(format!("its descriptor {fd} is {what}; close it"));
        let object = match &open.what {
            FileObject::Stdin(_) => SavedObject::Stdin,
            FileObject::Output(_, stream) => SavedObject::Output(*stream),
            FileObject::Dir(dir) | FileObject::WorkDir(dir) => match self.path_of(dir) {
                Some(path) => SavedObject::Path(path),
                None => return other("a directory that was removed"),
            },
            FileObject::File(ino) | FileObject::Device(_, ino) => match paths.get(ino) {
                Some(path) => SavedObject::Path(path.clone()),
                None => return other("a file that was deleted"),
            },
            FileObject::Reader(_) | FileObject::Writer(_) | FileObject::Both(_) => return other("a pipe"),
            FileObject::Socket(_) => return other("a socket"),
            FileObject::Terminal(_) => return other("a terminal"),
            FileObject::Text(_) => return other("a file of /proc"),
        };
        let OpenFile { offset, flags, read, write, .. } = *open;
        Ok(SavedFile { object, offset, flags, read, write, descriptors })
    }

    /// Searches a path of each file, in one walk. An inode does not know its names, because it may have several.
    fn paths_of(&self, files: impl Iterator<Item = Ino>) -> BTreeMap<Ino, Vec<u8>> {
        let mut missing: BTreeSet<Ino> = files.collect();
        let mut paths = BTreeMap::new();
        let mut dirs = vec![self.fs.root()];
        let mut searched = 0;
        while let Some(dir) = dirs.pop().filter(|_| !missing.is_empty() && searched < MAX_DIRECTORIES) {
            searched += 1;
            for (name, child, kind) in self.fs.read_dir(dir, None) {
                if kind == Kind::Dir {
                    dirs.push(child);
                } else if missing.remove(&child)
                    && let Some(path) = self.fs.path_of(dir)
                {
                    let path = path.strip_suffix(b"/").unwrap_or(&path);
                    paths.insert(child, [path, b"/", &name].concat());
                }
            }
        }
        paths
    }

    /// Makes the root process of a new execution continue a saved process instead of starting its program. The process may be
    /// forged: it gets files with the rights of a program.
    ///
    /// # Errors
    /// A file that cannot be opened again. Finish the execution then.
    pub fn resume_saved(&mut self, execution: ExecutionId, saved: &Arc<SavedProcess>) -> Result<(), SavedStateError> {
        let Some(found) = self.executions.get_mut(&execution) else { return Ok(()) };
        let root = found.root;
        found
            .starts
            .iter_mut()
            .filter(|start| start.pid == root)
            .for_each(|start| start.resume = Some(Arc::clone(saved)));
        if let Some(channel) = &mut found.interactive {
            channel.rest.restored = true;
        }
        self.restore_state(root, &saved.state)
    }

    fn restore_state(&mut self, pid: Pid, state: &SavedState) -> Result<(), SavedStateError> {
        for file in &state.files {
            let wrong = |errno| SavedStateError { errno, object: file.object.clone() };
            self.restore_file(pid, file).map_err(wrong)?;
        }
        if let Some(process) = self.processes.get_mut(pid) {
            process.umask = state.umask & 0o777;
            process.signals.ignored = state.ignored_signals & !UNCATCHABLE;
            process.signals.caught = state.caught_signals & !UNCATCHABLE;
        }
        Ok(())
    }

    fn restore_file(&mut self, pid: Pid, saved: &SavedFile) -> Result<(), Errno> {
        let execution = self.process(pid)?.execution;
        let what = match &saved.object {
            SavedObject::Stdin => FileObject::Stdin([].into()),
            SavedObject::Output(stream) => FileObject::Output(execution, *stream),
            SavedObject::Path(path) => self.reopen(path, saved)?,
        };
        let (read, write) = match &saved.object {
            SavedObject::Stdin => (true, false),
            SavedObject::Output(_) => (false, true),
            SavedObject::Path(_) => (saved.read, saved.write),
        };
        let limit = self.limits.descriptors;
        let file = self.insert_file(OpenFile::new(what, read, write, saved.flags & flag::ALL));
        self.ref_file(file);
        if let Some(open) = self.files.get_mut(file) {
            open.offset = saved.offset.min(i64::MAX as u64);
        }
        let mut outcome = Ok(());
        for &fd in &saved.descriptors {
            let stored = crate::fd::to_unix(fd)
                .ok_or(Errno::Badf)
                .and_then(|_| self.process_mut(pid)?.fds.put(fd, Entry::new(file), limit));
            match stored {
                Ok(old) => {
                    self.ref_file(file);
                    old.into_iter().for_each(|old| self.unref_file(old.file));
                }
                Err(errno) => outcome = Err(errno),
            }
        }
        // Only its descriptors refer to it.
        self.unref_file(file);
        outcome
    }

    fn reopen(&self, path: &[u8], saved: &SavedFile) -> Result<FileObject, Errno> {
        let Resolved::Node(ino) = self.fs.walk(&USER, self.fs.root(), path, true)? else { return Err(Errno::Noent) };
        let kind = self.fs.stat(ino)?.kind;
        let access = if saved.read { 4 } else { 0 } | if saved.write { 2 } else { 0 };
        self.fs.access(&USER, ino, access)?;
        match kind {
            Kind::File => Ok(FileObject::File(ino)),
            Kind::Dir if !saved.write => Ok(FileObject::Dir(DirRef::Node(ino))),
            Kind::Device(device) if device != Device::Tty => Ok(FileObject::Device(device, ino)),
            _ => Err(Errno::Inval),
        }
    }
}

/// A file of a saved process that cannot be opened again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedStateError {
    /// Reason.
    pub errno: Errno,
    /// The file.
    pub object: SavedObject,
}

impl fmt::Display for SavedStateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { errno, object } = self;
        match object {
            SavedObject::Path(path) => write!(f, "cannot open {} again: {errno}", String::from_utf8_lossy(path)),
            SavedObject::Stdin | SavedObject::Output(_) => write!(f, "cannot open a stream again: {errno}"),
        }
    }
}

/// The next action of a process at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestEvent {
    /// A request has arrived: call the entry function.
    Request,
    /// The caller wants to save it: pass its memory to [`Kernel::finish_save`].
    Save,
}

/// State of a process that can rest.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// True if the engine supports it.
    pub(crate) supported: bool,
    /// The process will rest when its entry function returns.
    pub(crate) intended: bool,
    /// It rests now.
    pub(crate) resting: bool,
    /// It was restored from a saved process and has not asked yet.
    pub(crate) restored: bool,
    pub(crate) save: SaveRequest,
}

/// A request to save a process.
#[derive(Debug, Default)]
pub(crate) enum SaveRequest {
    #[default]
    None,
    Requested,
    Done(Result<SavedProcess, String>),
}

impl Kernel {
    /// Returns whether a process may rest between requests.
    pub fn can_rest(&mut self, pid: Pid) -> bool {
        self.request_channel(pid).is_ok_and(|channel| channel.rest.supported)
    }

    /// Returns whether a process whose entry function has returned rests instead of exiting.
    pub fn begin_rest(&mut self, pid: Pid) -> bool {
        let Ok(channel) = self.request_channel(pid) else { return false };
        std::mem::take(&mut channel.rest.intended)
    }

    /// Returns the next event of a process at rest. Without one, the process must be parked under the same lock.
    pub fn rest_event(&mut self, pid: Pid) -> Option<RestEvent> {
        // A process that was removed must not wait: its next call ends it.
        let Ok(channel) = self.request_channel(pid) else { return Some(RestEvent::Request) };
        if matches!(channel.rest.save, SaveRequest::Requested) {
            return Some(RestEvent::Save);
        }
        channel.rest.resting = channel.request.is_none();
        if channel.rest.resting { None } else { Some(RestEvent::Request) }
    }

    /// Stores the state of a process at rest for [`take_saved`](Self::take_saved). An error of the engine is the reason why the
    /// memory could not be saved.
    pub fn finish_save(&mut self, pid: Pid, memory: Result<SavedMemory, String>) {
        let saved = memory.and_then(|memory| Ok(SavedProcess { state: self.save_state(pid)?, memory }));
        if let Ok(channel) = self.request_channel(pid) {
            channel.rest.save = SaveRequest::Done(saved);
        }
    }

    /// Requests the state of the root process of an interactive execution, which the engine saves when the process rests.
    /// Returns `false` for other executions and after the process has ended.
    pub fn request_save(&mut self, execution: ExecutionId) -> bool {
        let Some(found) = self.executions.get_mut(&execution).filter(|found| found.root_status.is_none()) else {
            return false;
        };
        let Some(channel) = &mut found.interactive else { return false };
        channel.rest.save = SaveRequest::Requested;
        let root = found.root;
        if let Some(process) = self.processes.get_mut(root) {
            process.wake();
        }
        true
    }

    /// Takes the result of [`request_save`](Self::request_save): the process, or the reason why it cannot be saved. `None` while
    /// the process runs.
    pub fn take_saved(&mut self, execution: ExecutionId) -> Option<Result<SavedProcess, String>> {
        let channel = self.executions.get_mut(&execution)?.interactive.as_mut()?;
        if channel.is_listening && matches!(channel.rest.save, SaveRequest::Requested) {
            channel.rest.save = SaveRequest::None;
            return Some(Err("the program does not give up its stack between requests".to_owned()));
        }
        match std::mem::take(&mut channel.rest.save) {
            SaveRequest::Done(saved) => Some(saved),
            other => {
                channel.rest.save = other;
                None
            }
        }
    }

    /// Returns whether the root process of an interactive execution rests.
    pub fn is_resting(&self, execution: ExecutionId) -> bool {
        let found = self.executions.get(&execution).and_then(|found| found.interactive.as_ref());
        found.is_some_and(|channel| channel.rest.resting)
    }
}
