//! Spawning, forking and waiting.

use crate::syscall::{SyscallOutcome, Wait};
use crate::testing::{DATA, Guest, MEMORY_BYTES, OK, OUT, call, done};
use crate::wasi::{preview1, tidebox};
use crate::{Errno, ExitStatus, Pid, Signal};
use tidebox_core::Limits;

struct Request<'a> {
    path: &'a [u8],
    argv: &'a [&'a [u8]],
    env: &'a [&'a [u8]],
    cwd: &'a [u8],
    fds: &'a [(u32, u32)],
    group: u32,
    ignored: u64,
}

const PROG: Request<'static> = Request {
    path: b"/bin/prog",
    argv: &[b"prog", b"arg"],
    env: &[b"A=b"],
    cwd: b"",
    fds: &[(0, 0), (1, 1), (2, 2)],
    group: 0,
    ignored: 0,
};

fn encode(request: &Request<'_>) -> Vec<u8> {
    let mut out = 1u32.to_le_bytes().to_vec();
    let number = |out: &mut Vec<u8>, n: usize| out.extend(u32::try_from(n).expect("small").to_le_bytes());
    let bytes = |out: &mut Vec<u8>, b: &[u8]| {
        number(out, b.len());
        out.extend(b);
    };
    bytes(&mut out, request.path);
    for list in [request.argv, request.env] {
        number(&mut out, list.len());
        list.iter().for_each(|s| bytes(&mut out, s));
    }
    bytes(&mut out, request.cwd);
    number(&mut out, request.fds.len());
    for (theirs, ours) in request.fds {
        out.extend(theirs.to_le_bytes());
        out.extend(ours.to_le_bytes());
    }
    out.extend(request.group.to_le_bytes());
    out.extend(request.ignored.to_le_bytes());
    out
}

fn spawn(g: &mut Guest, request: &Request<'_>) -> Result<Pid, SyscallOutcome> {
    let (at, len) = g.put(&encode(request));
    match call!(g, tidebox::spawn(at, len, OUT)) {
        OK => Ok(Pid(g.out())),
        other => Err(other),
    }
}

fn errno(result: Result<Pid, SyscallOutcome>) -> Errno {
    match result {
        Err(SyscallOutcome::Done(errno)) => errno,
        other => panic!("{other:?}"),
    }
}

fn wait(g: &mut Guest, pid: i32, flags: u32) -> Result<(u32, u32), SyscallOutcome> {
    match call!(g, tidebox::wait(pid, flags, OUT)) {
        OK => Ok((g.u32(OUT), g.u32(OUT + 4))),
        other => Err(other),
    }
}

fn file(g: &mut Guest, path: &[u8], content: &[u8], mode: u32) {
    let fd = g.open(path, "wct").expect("created");
    g.write(fd, content).expect("room");
    g.close(fd);
    let (at, len) = g.put(&[b"/", path].concat());
    assert_eq!(call!(g, tidebox::chmod(at, len, mode)), OK);
}

fn arguments(g: &mut Guest, pid: Pid) -> Vec<String> {
    let process = g.k.processes.get(pid).expect("the process exists");
    process.program.argv.iter().map(|a| String::from_utf8_lossy(a).into_owned()).collect()
}

#[test]
fn a_child_starts_as_the_request_specifies() {
    let mut g = Guest::new();
    let motd = g.open(b"etc/motd", "r").expect("it exists");
    assert_eq!(g.k.take_pending(g.execution).len(), 1, "the root process");
    let request = Request { cwd: b"/tmp", fds: &[(0, motd), (67, motd)], group: 1, ignored: 1 << 13, ..PROG };
    let child = spawn(&mut g, &request).expect("started");
    assert!(g.k.has_pending(g.execution));
    let starts = g.k.take_pending(g.execution);
    assert_eq!((starts.len(), starts[0].pid, starts[0].fork), (1, child, None));
    assert_eq!(arguments(&mut g, child), ["prog", "arg"]);
    let (root, motd_bytes) = (g.pid, b"hello\n".to_vec());
    g.k.set_tidebox_guest(child, true);
    g.as_process(child, |g| {
        assert_eq!(call!(g, tidebox::getids(DATA)), OK);
        let ids: Vec<u32> = (0..5).map(|n| g.u32(DATA + 4 * n)).collect();
        assert_eq!(ids, [child.0, root.0, child.0, 1000, 1000]);
        assert_eq!(call!(g, tidebox::getcwd(DATA, 100, OUT)), OK);
        assert_eq!(g.bytes(DATA, g.out()), b"/tmp");
        assert_eq!(g.read(67, 99), Ok(motd_bytes));
        assert_eq!(g.read(0, 99), Ok(Vec::new()), "both are one open file");
        assert_eq!(g.write(1, b"x"), Err(done(Errno::Badf)), "what was not named is not there");
        assert_eq!(call!(g, tidebox::kill(child.0.cast_signed(), 13)), OK);
    });
}

#[test]
fn startup_info_returns_all_startup_data() {
    let mut g = Guest::new();
    let motd = g.open(b"etc/motd", "r").expect("it exists");
    let request = Request { cwd: b"/tmp", fds: &[(0, motd), (69, motd)], ignored: 1 << 13, ..PROG };
    let child = spawn(&mut g, &request).expect("started");
    g.k.set_tidebox_guest(child, true);
    g.as_process(child, |g| {
        assert_eq!(call!(g, tidebox::startup_info(DATA, 10, OUT)), done(Errno::Range));
        let len = g.out();
        assert_eq!(call!(g, tidebox::startup_info(DATA, len, OUT)), OK);
        assert_eq!((g.u32(DATA), g.u32(DATA + 4)), (1, 0), "it is not the root process");
        assert_eq!((g.u64(DATA + 16), g.u64(DATA + 24)), (1 << 13, 1 | 1 << 5));
        let strings = g.bytes(DATA + 32, len - 32);
        assert_eq!(strings, b"\x09\0\0\0prog\0arg\0\x04\0\0\0A=b\0\x04\0\0\0/tmp");
        assert_eq!(call!(g, tidebox::startup_info(MEMORY_BYTES as u32 - 1, len, OUT)), done(Errno::Fault));
    });
}

#[test]
fn a_failed_spawn_returns_its_error_and_starts_nothing() {
    let mut g = Guest::new();
    file(&mut g, b"workspace/loop", b"#!/workspace/loop\n", 0o755);
    file(&mut g, b"workspace/nothing", b"#!/bin/none\n", 0o755);
    file(&mut g, b"workspace/bad", b"#!\n", 0o755);
    file(&mut g, b"workspace/empty", b"", 0o755);
    g.k.take_pending(g.execution);
    let long = vec![b'x'; 5000];
    for (path, expected) in [
        (b"/bin/none".as_slice(), Errno::Noent),
        (b"/bin/plain", Errno::Acces),
        (b"/bin", Errno::Acces),
        (b"/dev/null", Errno::Acces),
        (b"/proc/version", Errno::Acces),
        (b"/bin/data", Errno::Noexec),
        (b"/workspace/empty", Errno::Noexec),
        (b"/workspace/bad", Errno::Noexec),
        (b"/workspace/nothing", Errno::Noent),
        (b"/workspace/loop", Errno::Loop),
        (b"", Errno::Noent),
        (&long, Errno::Nametoolong),
    ] {
        let rejected = spawn(&mut g, &Request { path, ..PROG });
        assert_eq!(errno(rejected), expected, "{}", String::from_utf8_lossy(path));
    }
    for (request, expected) in [
        (Request { fds: &[(0, 99)], ..PROG }, Errno::Badf),
        (Request { fds: &[(3, 0)], ..PROG }, Errno::Badf),
        (Request { fds: &[(u32::MAX, 0)], ..PROG }, Errno::Badf),
        (Request { cwd: b"/none", ..PROG }, Errno::Noent),
        (Request { cwd: b"/etc/motd", ..PROG }, Errno::Notdir),
        (Request { group: 4000, ..PROG }, Errno::Perm),
        (Request { argv: &[b"a\0b"], ..PROG }, Errno::Inval),
    ] {
        assert_eq!(errno(spawn(&mut g, &request)), expected);
    }
    assert!(!g.k.has_pending(g.execution));
    assert_eq!(g.k.process_count(), 1);
    assert_eq!(wait(&mut g, -1, 0), Err(done(Errno::Child)));
}

#[test]
fn truncated_spawn_requests_are_rejected() {
    let mut g = Guest::new();
    let whole = encode(&PROG);
    for len in 0..whole.len() {
        let (at, len) = g.put(&whole[..len]);
        assert_eq!(call!(&mut g, tidebox::spawn(at, len, OUT)), done(Errno::Inval), "{len}");
    }
    let (at, len) = g.put(&[&whole[..], b"x"].concat());
    assert_eq!(call!(&mut g, tidebox::spawn(at, len, OUT)), done(Errno::Inval));
    for position in (0..whole.len() - 12).step_by(4) {
        let mut wrong = whole.clone();
        wrong[position..position + 4].fill(0xff);
        let (at, len) = g.put(&wrong);
        let sys = call!(&mut g, tidebox::spawn(at, len, OUT));
        assert!(matches!(sys, SyscallOutcome::Done(_)), "{position}: {sys:?}");
    }
    assert_eq!(call!(&mut g, tidebox::spawn(0, u32::MAX, OUT)), done(Errno::TooBig));
    assert_eq!(call!(&mut g, tidebox::spawn(u32::MAX - 9, 100, OUT)), done(Errno::Fault));
    let before = g.k.process_count();
    let (at, len) = g.put(&whole);
    assert_eq!(call!(&mut g, tidebox::spawn(at, len, u32::MAX)), done(Errno::Fault));
    assert_eq!(g.k.process_count(), before, "no child starts if its pid cannot be written");
}

#[test]
fn a_script_runs_its_interpreter_with_one_argument() {
    let mut g = Guest::new();
    file(&mut g, b"workspace/inner", b"#!/bin/prog\n", 0o755);
    file(&mut g, b"workspace/outer", b"#! ./inner -x  y \nrest", 0o755);
    let request = Request { path: b"./outer", argv: &[b"name", b"one"], ..PROG };
    let child = spawn(&mut g, &request).expect("started");
    assert_eq!(arguments(&mut g, child), ["/bin/prog", "./inner", "-x  y", "./outer", "one"]);
}

#[test]
fn arguments_and_environment_share_a_limit() {
    let mut limits = Limits::default();
    limits.argument_bytes = 10_000;
    let mut g = Guest::with(limits, &[]);
    let half = vec![b'x'; 4990];
    let env: [&[u8]; 1] = [&half];
    assert!(spawn(&mut g, &Request { argv: &[&half], env: &env, ..PROG }).is_ok());
    let rejected = spawn(&mut g, &Request { argv: &[&half, b"more than that"], env: &env, ..PROG });
    assert_eq!(errno(rejected), Errno::TooBig);
    let many: Vec<&[u8]> = vec![b""; 2500];
    let rejected = spawn(&mut g, &Request { argv: &many, ..PROG });
    assert_eq!(errno(rejected), Errno::TooBig, "empty arguments cost too");
}

#[test]
fn the_arguments_of_all_processes_are_limited() {
    let mut limits = Limits::default();
    limits.argument_bytes = 10_000;
    let mut g = Guest::with(limits, &[]);
    let long = vec![b'x'; 9000];
    let request = Request { argv: &[&long], env: &[], ..PROG };
    let children: Vec<Pid> = (0..17).map_while(|_| spawn(&mut g, &request).ok()).collect();
    assert_eq!(children.len(), 17);
    assert_eq!(errno(spawn(&mut g, &request)), Errno::Again);
    let copy = g.as_process(children[0], |g| call!(g, tidebox::fork(0, OUT)));
    assert_eq!(copy, done(Errno::Again), "a copy may outlive the original");
    g.k.process_exited(children[0], ExitStatus::Exited(0));
    assert_eq!(errno(spawn(&mut g, &request)), Errno::Again, "a zombie still shows its arguments");
    assert!(wait(&mut g, -1, 0).is_ok());
    assert!(spawn(&mut g, &request).is_ok());
    g.k.finish_execution(g.execution);
    assert_eq!(g.k.string_bytes, 0);
}

#[test]
fn the_module_size_limit_applies_only_to_guest_files() {
    let mut limits = Limits::default();
    limits.module_bytes = 6;
    let mut g = Guest::with(limits, &[]);
    file(&mut g, b"workspace/tool", b"\0asm\x01\0\0\0", 0o755);
    assert_eq!(errno(spawn(&mut g, &Request { path: b"tool", ..PROG })), Errno::TooBig);
    assert!(spawn(&mut g, &PROG).is_ok());
}

#[test]
fn processes_are_limited_and_zombies_count() {
    let mut limits = Limits::default();
    limits.processes = 3;
    let mut g = Guest::with(limits, &[]);
    let first = spawn(&mut g, &PROG).expect("room");
    let second = g.fork();
    assert_eq!(errno(spawn(&mut g, &PROG)), Errno::Again);
    assert_eq!(call!(&mut g, tidebox::fork(0, OUT)), done(Errno::Again));
    g.k.process_exited(first, ExitStatus::Exited(0));
    assert_eq!(errno(spawn(&mut g, &PROG)), Errno::Again, "a zombie still has its number");
    assert_eq!(wait(&mut g, first.0.cast_signed(), 0), Ok((first.0, 0)));
    assert!(spawn(&mut g, &PROG).is_ok());
    g.k.process_exited(second, ExitStatus::Exited(0));
}

#[test]
fn nesting_is_limited() {
    let mut limits = Limits::default();
    limits.nesting = 2;
    let mut g = Guest::with(limits, &[]);
    let child = g.fork();
    let grandchild = g.as_process(child, |g| spawn(g, &PROG)).expect("two levels");
    let rejected = g.as_process(grandchild, |g| spawn(g, &PROG));
    assert_eq!(errno(rejected), Errno::Again);
    assert_eq!(g.as_process(grandchild, |g| call!(g, tidebox::fork(0, OUT))), done(Errno::Again));
}

#[test]
fn a_fork_has_a_copy_of_the_descriptor_table() {
    let mut g = Guest::new();
    let fd = g.open(b"etc/motd", "r").expect("it exists");
    g.k.take_pending(g.execution);
    assert_eq!(call!(&mut g, tidebox::fork(-7, OUT)), OK);
    let child = Pid(g.out());
    let start = g.k.take_fork(g.pid).expect("the copy");
    assert_eq!(start.fork.map(|f| (f.parent, f.arg)), Some((g.pid, -7)));
    assert_eq!((start.pid, g.k.has_pending(g.execution)), (child, false));
    assert!(g.k.take_fork(g.pid).is_none());
    assert_eq!(g.read(fd, 2), Ok(b"he".to_vec()));
    g.as_process(child, |g| {
        assert_eq!(g.read(fd, 2), Ok(b"ll".to_vec()));
        g.close(fd);
        assert_eq!(call!(g, preview1::fd_prestat_get(3, DATA)), OK);
    });
    assert_eq!(g.read(fd, 2), Ok(b"o\n".to_vec()));
    assert_eq!(call!(&mut g, tidebox::fork(0, u32::MAX)), done(Errno::Fault));
    assert_eq!(g.k.process_count(), 2);
}

#[test]
fn a_cancelled_spawn_leaves_no_trace() {
    let mut g = Guest::new();
    let files = g.k.files.count();
    let child = g.fork();
    g.k.cancel_spawn(child);
    assert_eq!((g.k.process_count(), g.k.files.count()), (1, files));
    assert_eq!(wait(&mut g, -1, 0), Err(done(Errno::Child)));
    assert!(g.k.take_fork(g.pid).is_none());
    g.k.cancel_spawn(child);
}

#[test]
fn waiting_returns_each_status_once() {
    let mut g = Guest::new();
    let (a, b) = (g.fork(), g.fork());
    assert_eq!(wait(&mut g, -1, 1), Ok((0, 0)), "no child has exited");
    assert_eq!(wait(&mut g, -1, 0), Err(SyscallOutcome::Block(Wait::default())));
    let parked = g.park(g.pid);
    g.k.process_exited(b, ExitStatus::Killed(Signal::Term));
    assert_eq!(parked.get(), 1);
    assert_eq!(call!(&mut g, tidebox::wait(-1, 0, u32::MAX)), done(Errno::Fault));
    assert_eq!(wait(&mut g, a.0.cast_signed(), 1), Ok((0, 0)));
    assert_eq!(wait(&mut g, -1, 0), Ok((b.0, 256 + 15)), "a bad address lost nothing");
    g.k.process_exited(a, ExitStatus::Exited(3));
    g.k.process_exited(a, ExitStatus::Exited(4));
    assert_eq!(wait(&mut g, a.0.cast_signed(), 0), Ok((a.0, 3)), "the first report counts");
    assert_eq!(wait(&mut g, -1, 0), Err(done(Errno::Child)));
    assert_eq!(wait(&mut g, a.0.cast_signed(), 1), Err(done(Errno::Child)));
    assert_eq!(wait(&mut g, i32::MIN, 0), Err(done(Errno::Child)));
}

#[test]
fn waiting_for_a_group_selects_only_its_members() {
    let mut g = Guest::new();
    let (a, b) = (g.fork(), g.fork());
    assert_eq!(call!(&mut g, tidebox::setpgid(b.0.cast_signed(), 0)), OK);
    for pid in [a, b] {
        g.k.process_exited(pid, ExitStatus::Exited(1));
    }
    assert_eq!(wait(&mut g, -b.0.cast_signed(), 0), Ok((b.0, 1)));
    assert_eq!(wait(&mut g, -b.0.cast_signed(), 0), Err(done(Errno::Child)));
    assert_eq!(wait(&mut g, 0, 0), Ok((a.0, 1)), "0 is the caller's group");
}

#[test]
fn a_caught_signal_ends_a_wait() {
    let mut g = Guest::new();
    let child = g.fork();
    assert_eq!(call!(&mut g, tidebox::sig_set(17, 2)), OK);
    assert_eq!(wait(&mut g, child.0.cast_signed(), 0), Err(SyscallOutcome::Block(Wait::default())));
    let other = g.fork();
    g.k.process_exited(other, ExitStatus::Exited(0));
    assert_eq!(wait(&mut g, child.0.cast_signed(), 0), Err(done(Errno::Intr)));
    assert_eq!(call!(&mut g, tidebox::sig_take(OUT)), OK);
    assert_eq!(g.u64(OUT), 1 << 17);
}

#[test]
fn ignoring_sigchld_leaves_no_zombies() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, tidebox::sig_set(17, 1)), OK);
    let child = g.fork();
    assert_eq!(wait(&mut g, -1, 0), Err(SyscallOutcome::Block(Wait::default())));
    let parked = g.park(g.pid);
    g.k.process_exited(child, ExitStatus::Exited(0));
    assert_eq!(parked.get(), 1);
    assert_eq!(wait(&mut g, -1, 0), Err(done(Errno::Child)));
    assert_eq!(g.k.process_count(), 1);
}

#[test]
fn orphans_continue_and_leave_no_zombies() {
    let mut g = Guest::new();
    let child = g.fork();
    let (live, dead) = g.as_process(child, |g| (g.fork(), g.fork()));
    g.k.process_exited(dead, ExitStatus::Exited(0));
    assert_eq!(g.k.process_count(), 4);
    g.k.process_exited(child, ExitStatus::Exited(0));
    assert_eq!(g.k.process_count(), 3, "the zombie of an ended parent is reaped");
    g.as_process(live, |g| {
        assert_eq!(call!(g, tidebox::getids(DATA)), OK);
        assert_eq!(g.u32(DATA + 4), 0);
    });
    g.k.process_exited(live, ExitStatus::Exited(0));
    assert_eq!(g.k.process_count(), 2, "only the zombie child of the root process");
}

#[test]
fn resources_of_a_process_are_released_at_exit() {
    let mut g = Guest::new();
    let (files, pipes) = (g.k.files.count(), g.k.pipes.count());
    let child = g.fork();
    g.as_process(child, |g| {
        g.pipe();
        g.open(b"etc/motd", "r").expect("it exists");
    });
    assert!(g.k.grow_memory(child, 0, 1 << 20));
    g.k.process_exited(child, ExitStatus::Exited(0));
    assert_eq!((g.k.files.count(), g.k.pipes.count(), g.k.memory_bytes), (files, pipes, 0));
    assert!(!g.k.grow_memory(child, 0, 1), "a zombie gets no memory");
}
