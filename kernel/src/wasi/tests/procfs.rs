//! `/proc` through guest calls.

use crate::procfs::{self, Dir};
use crate::testing::{DATA, Guest, OK, OUT, call, done};
use crate::wasi::{preview1, tidebox};
use crate::{Errno, ExitStatus};
use tidebox_core::Limits;

fn content(g: &mut Guest, path: &str) -> String {
    let fd = g.open(path.as_bytes(), "r").expect("it exists");
    let bytes = g.read(fd, 8192).expect("readable");
    g.close(fd);
    String::from_utf8(bytes).expect("ASCII")
}

fn readlink(g: &mut Guest, path: &str) -> Result<String, Errno> {
    let (at, len) = g.put(path.as_bytes());
    match call!(g, preview1::path_readlink(3, at, len, DATA, 100, OUT)) {
        OK => Ok(String::from_utf8(g.bytes(DATA, g.out())).expect("ASCII")),
        crate::SyscallOutcome::Done(errno) => Err(errno),
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_describe_the_sandbox() {
    let mut limits = Limits::default();
    limits.sandbox_memory_bytes = 64 << 20;
    let mut g = Guest::with(limits, &[]);
    assert!(g.k.grow_memory(g.pid, 0, 1 << 20));
    assert!(g.k.clock.advance_to(2_340_000_000));
    assert_eq!(content(&mut g, "proc/uptime"), "2.34 0.00\n");
    assert_eq!(content(&mut g, "proc/sys/kernel/hostname"), "tidebox\n");
    assert_eq!(content(&mut g, "proc/loadavg"), "0.00 0.00 0.00 1/1 2\n");
    assert!(content(&mut g, "proc/meminfo").starts_with("MemTotal:          65536 kB\nMemFree:           64512 kB\n"));
    assert!(content(&mut g, "proc/cpuinfo").contains("WebAssembly"));
    assert!(content(&mut g, "proc/version").starts_with("Tidebox version "));
    assert!(content(&mut g, "proc/stat").contains("\nbtime 1000\n"));
    assert!(content(&mut g, "proc/mounts").starts_with("tidebox / "));
}

#[test]
fn each_process_has_a_directory() {
    let mut g = Guest::new();
    assert!(g.k.grow_memory(g.pid, 0, 1 << 20));
    assert_eq!(content(&mut g, "proc/self/cmdline"), "prog\0one\0\0");
    assert_eq!(content(&mut g, "proc/2/environ"), "HOME=/workspace\0");
    assert_eq!(content(&mut g, "proc/self/comm"), "prog\n");
    let status = content(&mut g, "proc/self/status");
    for line in ["Name:\tprog", "Pid:\t2", "PPid:\t0", "Uid:\t1000\t1000\t1000\t1000", "VmRSS:\t    1024 kB"] {
        assert!(status.lines().any(|l| l == line), "{line} in {status}");
    }
    let stat = content(&mut g, "proc/self/stat");
    assert_eq!(stat.split_ascii_whitespace().count(), 52);
    assert!(stat.starts_with("2 (prog) S 0 2 "));
}

#[test]
fn links_resolve_to_their_targets() {
    let mut g = Guest::new();
    assert_eq!(readlink(&mut g, "proc/self").as_deref(), Ok("2"));
    assert_eq!(readlink(&mut g, "proc/self/exe").as_deref(), Ok("/bin/prog"));
    assert_eq!(readlink(&mut g, "proc/self/cwd").as_deref(), Ok("/workspace"));
    assert_eq!(readlink(&mut g, "proc/self/root").as_deref(), Ok("/"));
    assert_eq!(readlink(&mut g, "proc/self/fd/3"), Err(Errno::Noent), "Unix descriptor 3 is not the preopened one");
    assert_eq!(readlink(&mut g, "proc/version"), Err(Errno::Inval));
    assert!(g.open(b"proc/self/root/etc/motd", "r").is_ok());
    assert!(g.open(b"proc/self/cwd/new", "r") == Err(done(Errno::Noent)));
    assert!(g.open(b"proc/self/exe", "r").is_ok());
    for path in [b"proc/self/exe/".as_slice(), b"proc/version/", b"dev/stdin/"] {
        assert_eq!(g.open(path, "r"), Err(done(Errno::Notdir)));
    }
    assert_eq!(g.open(b"proc/self/cwd", "rn"), Err(done(Errno::Loop)));
    assert!(g.open(b"proc/self/cwd", "rd").is_ok());
}

#[test]
fn opening_a_descriptor_by_name_shares_it() {
    let mut g = Guest::with(Limits::default(), b"input");
    let input = g.open(b"dev/stdin", "r").expect("followed");
    assert_eq!(g.read(input, 2), Ok(b"in".to_vec()));
    assert_eq!(g.read(0, 9), Ok(b"put".to_vec()), "one offset");
    let output = g.open(b"dev/stdout", "wct").expect("a redirection");
    assert_eq!(g.write(output, b"out"), Ok(3));
    assert_eq!(g.k.take_output(g.execution)[0].bytes, b"out");
    let motd = g.open(b"etc/motd", "r").expect("it exists");
    let copy = g.open(format!("dev/fd/{}", motd - 64).as_bytes(), "r").expect("by its Unix number");
    assert_eq!(g.read(copy, 2), Ok(b"he".to_vec()));
    assert_eq!(g.read(motd, 2), Ok(b"ll".to_vec()));
    assert_eq!(g.open(b"dev/stdin", "w"), Err(done(Errno::Acces)));
    assert_eq!(g.open(b"dev/fd/1", "r"), Err(done(Errno::Acces)));
    assert_eq!(g.open(b"dev/fd/99", "r"), Err(done(Errno::Noent)));
    assert_eq!(g.open(b"dev/fd/00", "r"), Err(done(Errno::Noent)));
    assert_eq!(g.open(b"dev/fd/4294967295", "r"), Err(done(Errno::Noent)));
}

#[test]
fn stat_of_a_descriptor_path_can_follow_it() {
    let mut g = Guest::new();
    let motd = g.open(b"etc/motd", "r").expect("it exists");
    let (at, len) = g.put(format!("/proc/self/fd/{}", motd - 64).as_bytes());
    assert_eq!(call!(&mut g, tidebox::stat(at, len, 1, DATA)), OK);
    assert_eq!((g.u64(DATA + 16), g.u32(DATA + 48)), (6, 0o100_644));
    assert_eq!(call!(&mut g, tidebox::stat(at, len, 0, DATA)), OK);
    assert_eq!(g.u32(DATA + 48), 0o120_777);
}

#[test]
fn missing_and_ended_processes_are_not_found() {
    let mut g = Guest::new();
    let child = g.fork();
    let path = format!("proc/{child}/status");
    assert!(content(&mut g, &path).contains("State:\tS"));
    g.k.process_exited(child, ExitStatus::Exited(0));
    assert!(content(&mut g, &path).contains("State:\tZ (zombie)"));
    assert_eq!(call!(&mut g, tidebox::wait(-1, 0, OUT)), OK);
    for path in [&path, "proc/0", "proc/02", "proc/none", "proc/self/none", "proc/sys/x", "proc/self/fd/x"] {
        assert_eq!(g.open(path.as_bytes(), "r"), Err(done(Errno::Noent)), "{path}");
    }
    assert_eq!(g.open(b"proc/version/x", "r"), Err(done(Errno::Notdir)));
    assert_eq!(g.open(b"proc/self/fd/0/x", "r"), Err(done(Errno::Notdir)));
}

#[test]
fn an_open_file_returns_current_content() {
    let mut g = Guest::new();
    let (child, fd) = (g.fork(), g.open(b"proc/loadavg", "r").expect("it exists"));
    assert_eq!(g.read(fd, 3), Ok(b"0.0".to_vec()));
    assert_eq!(g.read(fd, 99), Ok(b"0 0.00 0.00 2/2 3\n".to_vec()), "read in pieces");
    let status = g.open(format!("proc/{child}/status").as_bytes(), "r").expect("it exists");
    g.k.process_exited(child, ExitStatus::Exited(0));
    assert_eq!(call!(&mut g, tidebox::wait(-1, 0, OUT)), OK);
    assert_eq!(g.read(status, 9), Err(done(Errno::Srch)));
    assert_eq!(call!(&mut g, preview1::fd_seek(fd, 15, 0, OUT)), OK);
    assert_eq!(g.read(fd, 99), Ok(b"1/1 3\n".to_vec()));
    assert_eq!(call!(&mut g, preview1::fd_filestat_get(fd, DATA)), OK);
    assert_eq!((g.bytes(DATA + 16, 1)[0], g.u64(DATA + 32)), (4, 0));
}

#[test]
fn relative_paths_resolve_inside_proc() {
    let mut g = Guest::new();
    let dir = g.open(b"proc/self", "rd").expect("it exists");
    assert!(g.open_at(dir, b"status", "r").is_ok());
    assert!(g.open_at(dir, b"fd/0", "r").is_ok());
    assert_eq!(g.open_at(dir, b"", "r"), Err(done(Errno::Noent)));
    assert_eq!(g.open_at(dir, b"/etc/motd", "r"), Err(done(Errno::Notcapable)));
    assert_eq!(g.open_at(dir, b"new", "wc"), Err(done(Errno::Rofs)));
    let (at, len) = g.put(b"/proc/self");
    assert_eq!(call!(&mut g, tidebox::chdir(at, len)), OK);
    let (at, len) = g.put(b"../version");
    assert_eq!(call!(&mut g, tidebox::stat(at, len, 1, DATA)), OK);
    let (at, len) = g.put(b"../../etc/motd");
    assert_eq!(call!(&mut g, tidebox::stat(at, len, 1, DATA)), OK);
}

#[test]
fn every_entry_has_a_unique_inode_number() {
    let mut g = Guest::new();
    g.fork();
    let mut numbers = Vec::new();
    let dirs = [Dir::Root, Dir::Sys, Dir::SysKernel];
    let processes = g.k.processes.iter().flat_map(|p| [Dir::Process(p.pid), Dir::Descriptors(p.pid)]);
    for dir in dirs.into_iter().chain(processes) {
        numbers.extend(procfs::list(&g.k, dir).into_iter().map(|(_, item)| item.ino()));
    }
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count);
}
