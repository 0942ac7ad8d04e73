//! Inputs of a call and its termination.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::Signal;
use crate::procfs::{self, Text};

/// Sets the flag when it is dropped.
struct DropFlag(Arc<AtomicBool>);

impl Drop for DropFlag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_call_has_the_arguments_environment_and_cwd() {
    let stage = Stage::new(|call: HostCall| async move {
        assert_eq!(call.sandbox, id("sb-1"));
        assert_eq!(call.arguments, [b"ask".to_vec(), b"a b".to_vec(), Vec::new()]);
        assert_eq!(call.variable("A"), Some(b"1".as_slice()));
        assert_eq!(call.cwd.as_bytes(), b"/tmp");
        7
    });
    let start = stage.start(SpawnRequest {
        argv: ["ask", "a b", ""].into_iter().collect(),
        env: ["A=1"].into_iter().collect(),
        cwd: b"/tmp".to_vec(),
        fds: STREAMS.to_vec(),
        ..SpawnRequest::default()
    });
    let mut call = Call::of(&stage, &start);
    assert_eq!(call.status(&stage), None);
    assert_eq!(call.poll(), Poll::Ready(()));
    assert_eq!(call.status(&stage), Some(ExitStatus::Exited(7)), "{}", stage.printed());
    assert_eq!(call.poll(), Poll::Ready(()), "a finished call may be polled again");
}

#[test]
fn a_call_from_a_removed_directory_finds_no_files() {
    let stage = Stage::new(|call: HostCall| async move {
        assert!(call.cwd.as_bytes().starts_with(b"/proc/"), "{}", call.cwd);
        0
    });
    let dir = b"/workspace/gone";
    let user = crate::kernel::USER;
    let root = stage.k().fs.root();
    stage.k().fs.mkdir(&user, root, dir, 0o755, 0).expect("created");
    let start = stage.start(SpawnRequest { cwd: dir.to_vec(), fds: STREAMS.to_vec(), ..SpawnRequest::default() });
    stage.k().fs.rmdir(&user, root, dir, 0).expect("removed");
    let mut call = Call::of(&stage, &start);
    assert_eq!(call.poll(), Poll::Ready(()));
    assert_eq!(call.status(&stage), Some(ExitStatus::Exited(0)), "{}", stage.printed());
}

#[test]
fn a_finished_call_closes_descriptors_and_wakes_its_parent() {
    let stage = Stage::new(|_| async { 0 });
    let (reader, writer) = stage.pipe();
    let mut call = stage.call(&[(1, writer)]);
    stage.close(writer);
    let parent = Arc::new(WakeCounter::default());
    let root = stage.root;
    stage.k().park(root, crate::Wait::default(), &Waker::from(Arc::clone(&parent)));
    assert_eq!(call.poll(), Poll::Ready(()));
    assert_eq!(parent.get(), 1);
    assert_eq!(stage.k().read(root, reader, &mut [0; 1]), Ok(0), "no writer");
}

#[test]
fn a_signal_drops_the_future_and_becomes_the_status() {
    for (signal, when) in [(Signal::Term, "before"), (Signal::Kill, "while")] {
        let dropped = Arc::new(AtomicBool::new(false));
        let reported = Arc::clone(&dropped);
        let stage = Stage::new(move |_| {
            let reported = DropFlag(Arc::clone(&reported));
            async move {
                let _told = reported;
                std::future::pending().await
            }
        });
        let mut call = stage.call(&STREAMS);
        if when == "while" {
            assert_eq!(call.poll(), Poll::Pending);
            assert!(!dropped.load(Ordering::Relaxed));
        }
        stage.k().signal_all(Some(signal), |process| process.pid == call.pid).expect("it exists");
        assert_eq!(call.woken.get(), usize::from(when == "while"), "a waiting call is woken by a fatal signal");
        assert_eq!(call.poll(), Poll::Ready(()));
        assert_eq!(dropped.load(Ordering::Relaxed), when == "while");
        assert_eq!(call.status(&stage), Some(ExitStatus::Killed(signal)));
    }
}

#[test]
fn an_ignored_signal_is_ignored() {
    let stage = Stage::new(|_| std::future::pending());
    let ignored = Signal::Term.bit();
    let mut call = Call::of(&stage, &stage.start(SpawnRequest { ignored, ..SpawnRequest::default() }));
    assert_eq!(call.poll(), Poll::Pending);
    stage.k().signal_all(Some(Signal::Term), |process| process.pid == call.pid).expect("it exists");
    assert_eq!(call.poll(), Poll::Pending);
}

#[test]
fn a_signal_during_a_poll_is_not_lost() {
    let shared: Arc<Mutex<Option<SharedKernel>>> = Arc::default();
    let inside = Arc::clone(&shared);
    let stage = Stage::new(move |_| {
        let kernel = inside.lock().expect("one thread").clone().expect("set");
        async move {
            kernel.lock().signal_all(Some(Signal::Term), |process| process.program.host.is_some()).expect("itself");
            std::future::pending().await
        }
    });
    *shared.lock().expect("one thread") = Some(Arc::clone(&stage.shared));
    let mut call = stage.call(&STREAMS);
    assert_eq!(call.run(), Poll::Ready(()));
    assert_eq!(call.status(&stage), Some(ExitStatus::Killed(Signal::Term)));
}

#[test]
fn a_panic_aborts_the_process_without_leaking_its_message() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("password swordfish");
        }
    }
    fn bang() -> u8 {
        panic!("password swordfish")
    }
    let at_once = Stage::new(|_| {
        bang();
        async { 0 }
    });
    let polled = Stage::new(|_| async { bang() });
    let dropped = Stage::new(|_| {
        let bomb = Bomb;
        async move {
            let _bomb = bomb;
            0
        }
    });
    for stage in [at_once, polled, dropped] {
        let mut call = stage.call(&STREAMS);
        assert_eq!(call.poll(), Poll::Ready(()));
        assert_eq!(call.status(&stage), Some(ExitStatus::Killed(Signal::Abrt)));
        let printed = stage.printed();
        assert!(printed.starts_with("ask: the application panicked"), "{printed}");
        assert!(!printed.contains("swordfish"), "{printed}");
    }
    let killed = Stage::new(|_| {
        let bomb = Bomb;
        async move {
            let _bomb = bomb;
            std::future::pending().await
        }
    });
    let mut call = killed.call(&STREAMS);
    assert_eq!(call.poll(), Poll::Pending);
    drop(call);
}

#[test]
fn a_host_program_can_be_the_root_process() {
    let stage = Stage::new(|_| std::future::pending());
    let (execution, pid) =
        stage.k().start_execution(crate::ExecutionSpec { program: ASK.to_vec(), ..spec(b"") }).expect("started");
    let start = stage.k().take_pending(execution).pop().expect("started");
    let mut call = Call::of(&stage, &start);
    assert_eq!(call.poll(), Poll::Pending);
    assert_eq!(stage.k().finish_execution(execution).status, None);
    assert_eq!(call.poll(), Poll::Ready(()), "process {pid} does not exist");
}

#[test]
fn calls_count_as_processes() {
    let stage = Stage::new(|_| std::future::pending());
    let most = stage.k().limits().processes as usize;
    let calls: Vec<Call> = (1..most).map(|_| stage.call(&[])).collect();
    let request = || SpawnRequest { path: ASK.to_vec(), ..SpawnRequest::default() };
    assert_eq!(stage.k().spawn(stage.root, request()), Err(crate::Errno::Again));
    assert_eq!(calls.len(), most - 1);
}

#[test]
fn proc_lists_a_host_process_without_secrets() {
    let secret = "swordfish".to_owned();
    let stage = Stage::new(move |_| {
        let secret = secret.clone();
        async move {
            std::future::pending::<()>().await;
            secret.len().to_le_bytes()[0]
        }
    });
    let mut call = stage.call(&STREAMS);
    assert_eq!(call.poll(), Poll::Pending);
    let mut k = stage.k();
    let path = format!("proc/{}/exe", call.pid);
    assert_eq!(k.read_link_at(stage.root, 3, path.as_bytes()), Ok(ASK.to_vec()));
    for text in [Text::ProcessCmdline, Text::ProcessComm, Text::ProcessEnviron, Text::ProcessStat, Text::ProcessStatus]
    {
        let text = procfs::text(&k, text(call.pid)).expect("the process exists");
        assert!(!String::from_utf8_lossy(&text).contains("swordfish"));
    }
    assert_eq!(&*procfs::text(&k, Text::ProcessComm(call.pid)).expect("the process exists"), b"ask\n");
}
