//! `/proc`: a small, read-only view of the sandbox's own processes and limits. It contains no host data.

mod text;

use crate::errno::Errno;
use crate::fd;
use crate::fs::Ino;
use crate::kernel::Kernel;
use crate::open_file::FileObject;
use crate::process::{Pid, Process};
use crate::resolve::DirRef;

pub(crate) use text::text;

/// An entry of `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcEntry {
    Dir(Dir),
    Text(Text),
    Link(Link),
    /// `/proc/<pid>/fd/<n>`: opening it shares the open file.
    Descriptor(Pid, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dir {
    Root,
    Process(Pid),
    Descriptors(Pid),
    Net,
    Sys,
    SysKernel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    Cpuinfo,
    Loadavg,
    Meminfo,
    Mounts,
    NetTcp,
    NetTcp6,
    Stat,
    Uptime,
    Version,
    Hostname,
    ProcessCmdline(Pid),
    ProcessComm(Pid),
    ProcessEnviron(Pid),
    ProcessLimits(Pid),
    ProcessMaps(Pid),
    ProcessStat(Pid),
    ProcessStatus(Pid),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// `/proc/self`.
    Caller(Pid),
    Cwd(Pid),
    Exe(Pid),
    Root(Pid),
}

/// Result of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WalkStep {
    At(ProcEntry),
    /// The walk leaves `/proc` and continues in this directory with the rest of the path.
    Leave(DirRef, Vec<u8>),
}

const ROOT_NAMES: [(&[u8], ProcEntry); 9] = [
    (b"cpuinfo", ProcEntry::Text(Text::Cpuinfo)),
    (b"loadavg", ProcEntry::Text(Text::Loadavg)),
    (b"meminfo", ProcEntry::Text(Text::Meminfo)),
    (b"mounts", ProcEntry::Text(Text::Mounts)),
    (b"net", ProcEntry::Dir(Dir::Net)),
    (b"stat", ProcEntry::Text(Text::Stat)),
    (b"sys", ProcEntry::Dir(Dir::Sys)),
    (b"uptime", ProcEntry::Text(Text::Uptime)),
    (b"version", ProcEntry::Text(Text::Version)),
];

const NET_NAMES: [(&[u8], ProcEntry); 2] =
    [(b"tcp", ProcEntry::Text(Text::NetTcp)), (b"tcp6", ProcEntry::Text(Text::NetTcp6))];

/// The process that Linux calls init. It exists only in `/proc`: programs expect it there.
pub(crate) const INIT: Pid = Pid(1);

fn process_names(pid: Pid) -> [(&'static [u8], ProcEntry); 11] {
    [
        (b"cmdline", ProcEntry::Text(Text::ProcessCmdline(pid))),
        (b"comm", ProcEntry::Text(Text::ProcessComm(pid))),
        (b"cwd", ProcEntry::Link(Link::Cwd(pid))),
        (b"environ", ProcEntry::Text(Text::ProcessEnviron(pid))),
        (b"exe", ProcEntry::Link(Link::Exe(pid))),
        (b"fd", ProcEntry::Dir(Dir::Descriptors(pid))),
        (b"limits", ProcEntry::Text(Text::ProcessLimits(pid))),
        (b"maps", ProcEntry::Text(Text::ProcessMaps(pid))),
        (b"root", ProcEntry::Link(Link::Root(pid))),
        (b"stat", ProcEntry::Text(Text::ProcessStat(pid))),
        (b"status", ProcEntry::Text(Text::ProcessStatus(pid))),
    ]
}

/// Parses a decimal number without sign or leading zero, as the kernel prints them.
fn decimal(name: &[u8]) -> Option<u32> {
    let canonical = name == b"0" || name.first().is_some_and(|b| (b'1'..=b'9').contains(b));
    if !canonical || name.len() > 10 || !name.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(name).ok()?.parse().ok()
}

fn child(k: &Kernel, caller: Pid, dir: Dir, name: &[u8]) -> Result<ProcEntry, Errno> {
    let listed = |names: &[(&[u8], ProcEntry)]| names.iter().find(|(n, _)| *n == name).map(|(_, item)| *item);
    let found = match dir {
        Dir::Root if name == b"self" => Some(ProcEntry::Link(Link::Caller(caller))),
        Dir::Root => match decimal(name) {
            Some(1) => Some(ProcEntry::Dir(Dir::Process(INIT))),
            Some(pid) => k.processes.get(Pid(pid)).map(|p| ProcEntry::Dir(Dir::Process(p.pid))),
            None => listed(&ROOT_NAMES),
        },
        Dir::Process(pid) => listed(&process_names(pid)),
        Dir::Descriptors(pid) => descriptor(k, pid, name),
        Dir::Net => listed(&NET_NAMES),
        Dir::Sys => (name == b"kernel").then_some(ProcEntry::Dir(Dir::SysKernel)),
        Dir::SysKernel => (name == b"hostname").then_some(ProcEntry::Text(Text::Hostname)),
    };
    found.ok_or(Errno::Noent)
}

fn descriptor(k: &Kernel, pid: Pid, name: &[u8]) -> Option<ProcEntry> {
    let number = fd::from_unix(decimal(name)?)?;
    k.processes.get(pid)?.fds.get(number)?;
    Some(ProcEntry::Descriptor(pid, number))
}

/// Walks `below`, a path below `/proc`, for process `caller`.
pub(crate) fn walk(k: &Kernel, caller: Pid, below: &[u8], follow: bool) -> Result<WalkStep, Errno> {
    let must_be_dir = below.ends_with(b"/");
    let mut trail = vec![Dir::Root];
    let mut rest = below;
    loop {
        let dir = *trail.last().unwrap_or(&Dir::Root);
        let (name, after) = match rest.iter().position(|b| *b == b'/') {
            Some(at) => rest.split_at(at),
            None => (rest, [].as_slice()),
        };
        rest = after.strip_prefix(b"/").unwrap_or(after);
        let last = rest.iter().all(|b| *b == b'/');
        match name {
            b"" | b"." => {}
            b".." if trail.len() == 1 => {
                return Ok(WalkStep::Leave(DirRef::Node(k.fs.root()), non_empty(rest)));
            }
            b".." => {
                trail.pop();
            }
            name => match child(k, caller, dir, name)? {
                ProcEntry::Dir(dir) => trail.push(dir),
                item if last && !must_be_dir && (!follow || !is_walkable(k, item)) => {
                    return Ok(WalkStep::At(item));
                }
                ProcEntry::Link(Link::Caller(pid)) => {
                    k.process(pid)?;
                    trail.push(Dir::Process(pid));
                }
                item => return follow_out(k, item, non_empty(rest), must_be_dir),
            },
        }
        if last {
            return Ok(WalkStep::At(ProcEntry::Dir(*trail.last().unwrap_or(&Dir::Root))));
        }
    }
}

fn non_empty(rest: &[u8]) -> Vec<u8> {
    let start = rest.iter().position(|b| *b != b'/');
    start.and_then(|at| rest.get(at..)).unwrap_or(b".").to_vec()
}

/// Returns whether an entry can be followed by further components.
fn is_walkable(k: &Kernel, item: ProcEntry) -> bool {
    match item {
        ProcEntry::Link(_) => true,
        ProcEntry::Descriptor(pid, number) => open_dir(k, pid, number).is_some(),
        ProcEntry::Dir(_) | ProcEntry::Text(_) => false,
    }
}

fn open_dir(k: &Kernel, pid: Pid, number: u32) -> Option<DirRef> {
    let entry = k.processes.get(pid)?.fds.get(number)?;
    match &k.files.get(entry.file)?.what {
        FileObject::Dir(dir_ref) | FileObject::WorkDir(dir_ref) => Some(dir_ref.clone()),
        _ => None,
    }
}

/// Follows a link out of `/proc`.
fn follow_out(k: &Kernel, item: ProcEntry, rest: Vec<u8>, must_be_dir: bool) -> Result<WalkStep, Errno> {
    let root = DirRef::Node(k.fs.root());
    let dir_ref = match item {
        // As on Linux for a process of another user.
        ProcEntry::Link(Link::Cwd(INIT) | Link::Exe(INIT) | Link::Root(INIT)) => return Err(Errno::Acces),
        ProcEntry::Link(Link::Cwd(pid)) => k.process(pid)?.cwd.clone(),
        ProcEntry::Link(Link::Root(_)) => root,
        ProcEntry::Link(Link::Exe(pid)) => {
            let mut path = k.process(pid)?.program.path.to_vec();
            if rest != b"." || must_be_dir {
                path.push(b'/');
                path.extend_from_slice(&rest);
            }
            return Ok(WalkStep::Leave(root, path));
        }
        ProcEntry::Descriptor(pid, number) => open_dir(k, pid, number).ok_or(Errno::Notdir)?,
        ProcEntry::Link(Link::Caller(_)) | ProcEntry::Dir(_) | ProcEntry::Text(_) => return Err(Errno::Notdir),
    };
    Ok(WalkStep::Leave(dir_ref, rest))
}

/// Returns the result of `readlink`. `INVAL` for a non-link.
pub(crate) fn target(k: &Kernel, item: ProcEntry) -> Result<Vec<u8>, Errno> {
    Ok(match item {
        ProcEntry::Link(Link::Caller(pid)) => pid.to_string().into_bytes(),
        ProcEntry::Link(Link::Cwd(INIT) | Link::Exe(INIT) | Link::Root(INIT)) => return Err(Errno::Acces),
        ProcEntry::Link(Link::Cwd(pid)) => k.path_of(&k.process(pid)?.cwd).ok_or(Errno::Noent)?,
        ProcEntry::Link(Link::Exe(pid)) => k.process(pid)?.program.path.to_vec(),
        ProcEntry::Link(Link::Root(_)) => b"/".to_vec(),
        ProcEntry::Descriptor(pid, number) => {
            let entry = k.process(pid)?.fds.get(number).ok_or(Errno::Noent)?;
            match &k.files.get(entry.file).ok_or(Errno::Noent)?.what {
                FileObject::Dir(dir_ref) | FileObject::WorkDir(dir_ref) => k.path_of(dir_ref).ok_or(Errno::Noent)?,
                FileObject::Reader(pipe) | FileObject::Writer(pipe) | FileObject::Both(pipe) => {
                    match k.pipes.get(*pipe).and_then(|found| found.ino) {
                        Some(ino) => format!("fifo:[{}]", ino.0).into_bytes(),
                        None => format!("pipe:[{pipe}]").into_bytes(),
                    }
                }
                FileObject::File(ino) => format!("file:[{}]", ino.0).into_bytes(),
                FileObject::Device(device, _) => format!("/dev/{device:?}").to_ascii_lowercase().into_bytes(),
                FileObject::Stdin(_) => b"stream:[stdin]".to_vec(),
                FileObject::Output(_, stream) => format!("stream:[{stream:?}]").to_ascii_lowercase().into_bytes(),
                FileObject::Terminal(_) => b"/dev/tty".to_vec(),
                FileObject::Socket(socket) => format!("socket:[{socket}]").into_bytes(),
                FileObject::Text(_) => b"proc:[text]".to_vec(),
            }
        }
        ProcEntry::Dir(_) | ProcEntry::Text(_) => return Err(Errno::Inval),
    })
}

/// Returns the names in a directory, sorted by bytes, without `.` and `..`.
pub(crate) fn list(k: &Kernel, dir: Dir) -> Vec<(Vec<u8>, ProcEntry)> {
    let named = |names: &[(&[u8], ProcEntry)]| names.iter().map(|(n, item)| (n.to_vec(), *item)).collect::<Vec<_>>();
    let mut all = match dir {
        Dir::Root => {
            let mut all = named(&ROOT_NAMES);
            let pids =
                k.processes.iter().map(|p| (p.pid.to_string().into_bytes(), ProcEntry::Dir(Dir::Process(p.pid))));
            all.extend(pids);
            all.push((b"1".to_vec(), ProcEntry::Dir(Dir::Process(INIT))));
            // The target of `self` depends on the caller; a listing needs only the kind.
            all.push((b"self".to_vec(), ProcEntry::Link(Link::Caller(Pid(0)))));
            all
        }
        Dir::Process(pid) => named(&process_names(pid)),
        Dir::Descriptors(pid) => k.processes.get(pid).map(descriptors).unwrap_or_default(),
        Dir::Net => named(&NET_NAMES),
        Dir::Sys => vec![(b"kernel".to_vec(), ProcEntry::Dir(Dir::SysKernel))],
        Dir::SysKernel => vec![(b"hostname".to_vec(), ProcEntry::Text(Text::Hostname))],
    };
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn descriptors(process: &Process) -> Vec<(Vec<u8>, ProcEntry)> {
    let numbers = process.fds.iter().filter_map(|(number, _)| Some((number, fd::to_unix(number)?)));
    numbers.map(|(number, unix)| (unix.to_string().into_bytes(), ProcEntry::Descriptor(process.pid, number))).collect()
}

impl ProcEntry {
    /// Returns the path below `/proc`, for directories.
    pub(crate) fn dir(self) -> Option<Vec<u8>> {
        match self {
            Self::Dir(dir) => Some(dir.path()),
            _ => None,
        }
    }

    /// Returns the open regular file of `/proc/<pid>/fd/<n>`, to execute it.
    pub(crate) fn executable(self, k: &Kernel) -> Option<Ino> {
        let Self::Descriptor(pid, number) = self else {
            return None;
        };
        let entry = k.processes.get(pid)?.fds.get(number)?;
        match k.files.get(entry.file)?.what {
            FileObject::File(ino) => Some(ino),
            _ => None,
        }
    }

    /// Returns a number that is unique among all entries and inodes.
    pub(crate) fn ino(self) -> u64 {
        let (pid, kind) = match self {
            Self::Dir(Dir::Root) => (0, 1),
            Self::Dir(Dir::Sys) => (0, 2),
            Self::Dir(Dir::SysKernel) => (0, 3),
            Self::Text(Text::Cpuinfo) => (0, 4),
            Self::Text(Text::Loadavg) => (0, 5),
            Self::Text(Text::Meminfo) => (0, 6),
            Self::Text(Text::Mounts) => (0, 7),
            Self::Text(Text::Stat) => (0, 8),
            Self::Text(Text::Uptime) => (0, 9),
            Self::Text(Text::Version) => (0, 10),
            Self::Text(Text::Hostname) => (0, 11),
            Self::Link(Link::Caller(_)) => (0, 12),
            Self::Dir(Dir::Net) => (0, 13),
            Self::Text(Text::NetTcp) => (0, 14),
            Self::Text(Text::NetTcp6) => (0, 15),
            Self::Dir(Dir::Process(pid)) => (pid.0, 1),
            Self::Dir(Dir::Descriptors(pid)) => (pid.0, 2),
            Self::Text(Text::ProcessCmdline(pid)) => (pid.0, 3),
            Self::Text(Text::ProcessComm(pid)) => (pid.0, 4),
            Self::Text(Text::ProcessEnviron(pid)) => (pid.0, 5),
            Self::Text(Text::ProcessStat(pid)) => (pid.0, 6),
            Self::Text(Text::ProcessStatus(pid)) => (pid.0, 7),
            Self::Link(Link::Cwd(pid)) => (pid.0, 8),
            Self::Link(Link::Exe(pid)) => (pid.0, 9),
            Self::Link(Link::Root(pid)) => (pid.0, 10),
            Self::Text(Text::ProcessLimits(pid)) => (pid.0, 11),
            Self::Text(Text::ProcessMaps(pid)) => (pid.0, 12),
            Self::Descriptor(pid, number) => (pid.0, 16 + u64::from(number)),
        };
        (1 << 63) | (u64::from(pid) << 33) | kind
    }
}

impl Dir {
    pub(crate) fn path(self) -> Vec<u8> {
        match self {
            Self::Root => Vec::new(),
            Self::Process(pid) => pid.to_string().into_bytes(),
            Self::Descriptors(pid) => format!("{pid}/fd").into_bytes(),
            Self::Net => b"net".to_vec(),
            Self::Sys => b"sys".to_vec(),
            Self::SysKernel => b"sys/kernel".to_vec(),
        }
    }
}
