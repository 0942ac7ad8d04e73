//! `/proc`: a small, read-only window on the sandbox's own processes and limits. Nothing in it tells of the host.

#[cfg(test)]
mod tests;
mod text;

use crate::errno::Errno;
use crate::fd;
use crate::fs::Ino;
use crate::kernel::Kernel;
use crate::open_file::What;
use crate::process::{Pid, Process};
use crate::resolve::Place;

pub(crate) use text::text;

/// Something in `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
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
    Sys,
    SysKernel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    Cpuinfo,
    Loadavg,
    Meminfo,
    Mounts,
    Stat,
    Uptime,
    Version,
    Hostname,
    ProcessCmdline(Pid),
    ProcessComm(Pid),
    ProcessEnviron(Pid),
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

/// Where a walk has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    At(Item),
    /// Out of `/proc`: the walk goes on there with the rest of the path.
    Leave(Place, Vec<u8>),
}

const ROOT_NAMES: [(&[u8], Item); 8] = [
    (b"cpuinfo", Item::Text(Text::Cpuinfo)),
    (b"loadavg", Item::Text(Text::Loadavg)),
    (b"meminfo", Item::Text(Text::Meminfo)),
    (b"mounts", Item::Text(Text::Mounts)),
    (b"stat", Item::Text(Text::Stat)),
    (b"sys", Item::Dir(Dir::Sys)),
    (b"uptime", Item::Text(Text::Uptime)),
    (b"version", Item::Text(Text::Version)),
];

fn process_names(pid: Pid) -> [(&'static [u8], Item); 9] {
    [
        (b"cmdline", Item::Text(Text::ProcessCmdline(pid))),
        (b"comm", Item::Text(Text::ProcessComm(pid))),
        (b"cwd", Item::Link(Link::Cwd(pid))),
        (b"environ", Item::Text(Text::ProcessEnviron(pid))),
        (b"exe", Item::Link(Link::Exe(pid))),
        (b"fd", Item::Dir(Dir::Descriptors(pid))),
        (b"root", Item::Link(Link::Root(pid))),
        (b"stat", Item::Text(Text::ProcessStat(pid))),
        (b"status", Item::Text(Text::ProcessStatus(pid))),
    ]
}

/// Decimal without sign or leading zero, as the kernel prints numbers.
fn decimal(name: &[u8]) -> Option<u32> {
    let canonical = name == b"0" || name.first().is_some_and(|b| (b'1'..=b'9').contains(b));
    if !canonical || name.len() > 10 || !name.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(name).ok()?.parse().ok()
}

fn child(k: &Kernel, caller: Pid, dir: Dir, name: &[u8]) -> Result<Item, Errno> {
    let listed = |names: &[(&[u8], Item)]| names.iter().find(|(n, _)| *n == name).map(|(_, item)| *item);
    let found = match dir {
        Dir::Root if name == b"self" => Some(Item::Link(Link::Caller(caller))),
        Dir::Root => match decimal(name) {
            Some(pid) => k.processes.get(Pid(pid)).map(|p| Item::Dir(Dir::Process(p.pid))),
            None => listed(&ROOT_NAMES),
        },
        Dir::Process(pid) => listed(&process_names(pid)),
        Dir::Descriptors(pid) => descriptor(k, pid, name),
        Dir::Sys => (name == b"kernel").then_some(Item::Dir(Dir::SysKernel)),
        Dir::SysKernel => (name == b"hostname").then_some(Item::Text(Text::Hostname)),
    };
    found.ok_or(Errno::Noent)
}

fn descriptor(k: &Kernel, pid: Pid, name: &[u8]) -> Option<Item> {
    let number = fd::from_unix(decimal(name)?)?;
    k.processes.get(pid)?.fds.get(number)?;
    Some(Item::Descriptor(pid, number))
}

/// Walks `below`, a path below `/proc`, for process `caller`.
pub(crate) fn walk(k: &Kernel, caller: Pid, below: &[u8], follow: bool) -> Result<Step, Errno> {
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
                return Ok(Step::Leave(Place::Node(k.fs.root()), or_dot(rest)));
            }
            b".." => {
                trail.pop();
            }
            name => match child(k, caller, dir, name)? {
                Item::Dir(dir) => trail.push(dir),
                item if last && !must_be_dir && (!follow || !leads_on(k, item)) => {
                    return Ok(Step::At(item));
                }
                Item::Link(Link::Caller(pid)) => {
                    k.process(pid)?;
                    trail.push(Dir::Process(pid));
                }
                item => return leave(k, item, or_dot(rest), must_be_dir),
            },
        }
        if last {
            return Ok(Step::At(Item::Dir(*trail.last().unwrap_or(&Dir::Root))));
        }
    }
}

fn or_dot(rest: &[u8]) -> Vec<u8> {
    let start = rest.iter().position(|b| *b != b'/');
    start.and_then(|at| rest.get(at..)).unwrap_or(b".").to_vec()
}

/// Whether the walk can go on behind an item at the end of a path.
fn leads_on(k: &Kernel, item: Item) -> bool {
    match item {
        Item::Link(_) => true,
        Item::Descriptor(pid, number) => open_dir(k, pid, number).is_some(),
        Item::Dir(_) | Item::Text(_) => false,
    }
}

fn open_dir(k: &Kernel, pid: Pid, number: u32) -> Option<Place> {
    let entry = k.processes.get(pid)?.fds.get(number)?;
    match &k.files.get(entry.file)?.what {
        What::Dir(place) | What::WorkDir(place) => Some(place.clone()),
        _ => None,
    }
}

/// Follows a link out of `/proc`.
fn leave(k: &Kernel, item: Item, rest: Vec<u8>, must_be_dir: bool) -> Result<Step, Errno> {
    let root = Place::Node(k.fs.root());
    let place = match item {
        Item::Link(Link::Cwd(pid)) => k.process(pid)?.cwd.clone(),
        Item::Link(Link::Root(_)) => root,
        Item::Link(Link::Exe(pid)) => {
            let mut path = k.process(pid)?.program.path.to_vec();
            if rest != b"." || must_be_dir {
                path.push(b'/');
                path.extend_from_slice(&rest);
            }
            return Ok(Step::Leave(root, path));
        }
        Item::Descriptor(pid, number) => open_dir(k, pid, number).ok_or(Errno::Notdir)?,
        Item::Link(Link::Caller(_)) | Item::Dir(_) | Item::Text(_) => return Err(Errno::Notdir),
    };
    Ok(Step::Leave(place, rest))
}

/// What `readlink` answers. `INVAL` for what is no link.
pub(crate) fn target(k: &Kernel, item: Item) -> Result<Vec<u8>, Errno> {
    Ok(match item {
        Item::Link(Link::Caller(pid)) => pid.to_string().into_bytes(),
        Item::Link(Link::Cwd(pid)) => k.path_of(&k.process(pid)?.cwd).ok_or(Errno::Noent)?,
        Item::Link(Link::Exe(pid)) => k.process(pid)?.program.path.to_vec(),
        Item::Link(Link::Root(_)) => b"/".to_vec(),
        Item::Descriptor(pid, number) => {
            let entry = k.process(pid)?.fds.get(number).ok_or(Errno::Noent)?;
            match &k.files.get(entry.file).ok_or(Errno::Noent)?.what {
                What::Dir(place) | What::WorkDir(place) => k.path_of(place).ok_or(Errno::Noent)?,
                What::Reader(pipe) | What::Writer(pipe) | What::Both(pipe) => {
                    match k.pipes.get(*pipe).and_then(|found| found.ino) {
                        Some(ino) => format!("fifo:[{}]", ino.0).into_bytes(),
                        None => format!("pipe:[{pipe}]").into_bytes(),
                    }
                }
                What::File(ino) => format!("file:[{}]", ino.0).into_bytes(),
                What::Device(device, _) => format!("/dev/{device:?}").to_ascii_lowercase().into_bytes(),
                What::Stdin(_) => b"stream:[stdin]".to_vec(),
                What::Output(_, stream) => format!("stream:[{stream:?}]").to_ascii_lowercase().into_bytes(),
                What::Text(_) => b"proc:[text]".to_vec(),
            }
        }
        Item::Dir(_) | Item::Text(_) => return Err(Errno::Inval),
    })
}

/// Names in a directory, sorted by bytes, without `.` and `..`.
pub(crate) fn list(k: &Kernel, dir: Dir) -> Vec<(Vec<u8>, Item)> {
    let named = |names: &[(&[u8], Item)]| names.iter().map(|(n, item)| (n.to_vec(), *item)).collect::<Vec<_>>();
    let mut all = match dir {
        Dir::Root => {
            let mut all = named(&ROOT_NAMES);
            let pids = k.processes.iter().map(|p| (p.pid.to_string().into_bytes(), Item::Dir(Dir::Process(p.pid))));
            all.extend(pids);
            // The number behind `self` depends on who looks; a listing needs only the kind.
            all.push((b"self".to_vec(), Item::Link(Link::Caller(Pid(0)))));
            all
        }
        Dir::Process(pid) => named(&process_names(pid)),
        Dir::Descriptors(pid) => k.processes.get(pid).map(descriptors).unwrap_or_default(),
        Dir::Sys => vec![(b"kernel".to_vec(), Item::Dir(Dir::SysKernel))],
        Dir::SysKernel => vec![(b"hostname".to_vec(), Item::Text(Text::Hostname))],
    };
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn descriptors(process: &Process) -> Vec<(Vec<u8>, Item)> {
    let numbers = process.fds.iter().filter_map(|(number, _)| Some((number, fd::to_unix(number)?)));
    numbers.map(|(number, unix)| (unix.to_string().into_bytes(), Item::Descriptor(process.pid, number))).collect()
}

impl Item {
    /// The path below `/proc`, for directories.
    pub(crate) fn dir(self) -> Option<Vec<u8>> {
        match self {
            Self::Dir(dir) => Some(dir.path()),
            _ => None,
        }
    }

    /// The program's file behind `/proc/self/fd/<n>`.
    pub(crate) fn executable(self, k: &Kernel) -> Option<Ino> {
        let Self::Descriptor(pid, number) = self else {
            return None;
        };
        let entry = k.processes.get(pid)?.fds.get(number)?;
        match k.files.get(entry.file)?.what {
            What::File(ino) => Some(ino),
            _ => None,
        }
    }

    /// A number that differs between any two items and from every inode of the store.
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
            Self::Sys => b"sys".to_vec(),
            Self::SysKernel => b"sys/kernel".to_vec(),
        }
    }
}
