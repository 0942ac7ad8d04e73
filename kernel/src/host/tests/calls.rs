//! What a call is given, and how it ends.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::Signal;
use crate::procfs::{self, Text};
use crate::wasi::p1;

/// Tells when it is dropped.
struct Told(Arc<AtomicBool>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_call_has_the_arguments_the_environment_and_the_directory_of_its_process() {
    let stage = Stage::new(|call: HostCall| async move {
        assert_eq!(call.sandbox, id("sb-1"));
        assert_eq!(call.arguments, [b"ask".to_vec(), b"a b".to_vec(), Vec::new()]);
        assert_eq!(call.variable("A"), Some(b"1".as_slice()));
        assert_eq!(call.cwd.as_bytes(), b"/tmp");
        7
    });
    let start = stage.start(SpawnRequest {
        argv: vec![b"ask".to_vec(), b"a b".to_vec(), Vec::new()],
        env: vec![b"A=1".to_vec()],
        cwd: b"/tmp".to_vec(),
        fds: STREAMS.to_vec(),
        ..SpawnRequest::default()
    });
    let mut call = Call::of(&stage, &start);
    assert_eq!(call.status(&stage), None);
    assert_eq!(call.poll(), Poll::Ready(()));
    assert_eq!(call.status(&stage), Some(Status::Exited(7)), "{}", stage.printed());
    assert_eq!(call.poll(), Poll::Ready(()), "a finished call may be polled again");
}

#[test]
fn a_call_from_a_directory_that_was_removed_finds_none() {
    let stage = Stage::new(|call: HostCall| async move {
        assert!(call.cwd.as_bytes().starts_with(b"/proc/"), "{}", call.cwd);
        0
    });
    let dir = b"/workspace/gone";
    let user = crate::kernel::USER;
    let root = stage.k().fs.root();
    stage.k().fs.mkdir(&user, root, dir, 0o755, 0).expect("made");
    let start = stage.start(SpawnRequest { cwd: dir.to_vec(), fds: STREAMS.to_vec(), ..SpawnRequest::default() });
    stage.k().fs.rmdir(&user, root, dir, 0).expect("removed");
    let mut call = Call::of(&stage, &start);
    assert_eq!(call.poll(), Poll::Ready(()));
    assert_eq!(call.status(&stage), Some(Status::Exited(0)), "{}", stage.printed());
}

#[test]
fn the_end_of_a_call_closes_its_descriptors_and_wakes_its_parent() {
    let stage = Stage::new(|_| async { 0 });
    let (reader, writer) = stage.pipe();
    let mut call = stage.call(&[(1, writer)]);
    stage.close(writer);
    let parent = Arc::new(Count::default());
    let root = stage.root;
    stage.k().park(root, crate::wasi::Wait::default(), &Waker::from(Arc::clone(&parent)));
    assert_eq!(call.poll(), Poll::Ready(()));
    assert_eq!(parent.get(), 1);
    assert_eq!(stage.k().read(root, reader, &mut [0; 1]), Ok(0), "nobody writes any more");
}

#[test]
fn a_signal_drops_what_the_application_does_and_is_how_the_process_died() {
    for (signal, when) in [(Signal::Term, "before"), (Signal::Kill, "while")] {
        let dropped = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&dropped);
        let stage = Stage::new(move |_| {
            let told = Told(Arc::clone(&told));
            async move {
                let _told = told;
                std::future::pending().await
            }
        });
        let mut call = stage.call(&STREAMS);
        if when == "while" {
            assert_eq!(call.poll(), Poll::Pending);
            assert!(!dropped.load(Ordering::Relaxed));
        }
        stage.k().signal_all(Some(signal), |process| process.pid == call.pid).expect("it is there");
        assert_eq!(call.woken.get(), usize::from(when == "while"), "a call that waits is woken to die");
        assert_eq!(call.poll(), Poll::Ready(()));
        assert_eq!(dropped.load(Ordering::Relaxed), when == "while");
        assert_eq!(call.status(&stage), Some(Status::Killed(signal)));
    }
}

#[test]
fn an_ignored_signal_is_ignored() {
    let stage = Stage::new(|_| std::future::pending());
    let ignored = Signal::Term.bit();
    let mut call = Call::of(&stage, &stage.start(SpawnRequest { ignored, ..SpawnRequest::default() }));
    assert_eq!(call.poll(), Poll::Pending);
    stage.k().signal_all(Some(Signal::Term), |process| process.pid == call.pid).expect("it is there");
    assert_eq!(call.poll(), Poll::Pending);
}

#[test]
fn a_signal_that_comes_while_the_call_is_polled_is_not_lost() {
    let shared: Arc<Mutex<Option<SharedKernel>>> = Arc::default();
    let inside = Arc::clone(&shared);
    let stage = Stage::new(move |_| {
        let kernel = inside.lock().expect("one thread").clone().expect("set");
        async move {
            lock(&kernel).signal_all(Some(Signal::Term), |process| process.program.host.is_some()).expect("itself");
            std::future::pending().await
        }
    });
    *shared.lock().expect("one thread") = Some(Arc::clone(&stage.shared));
    let mut call = stage.call(&STREAMS);
    assert_eq!(call.run(), Poll::Ready(()));
    assert_eq!(call.status(&stage), Some(Status::Killed(Signal::Term)));
}

#[test]
fn a_panic_is_an_abort_of_the_process_that_keeps_its_words_to_the_host() {
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
        assert_eq!(call.status(&stage), Some(Status::Killed(Signal::Abrt)));
        let printed = stage.printed();
        assert!(printed.starts_with("ask: the application failed"), "{printed}");
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
fn a_session_may_begin_with_such_a_program_and_ends_while_it_runs() {
    let stage = Stage::new(|_| std::future::pending());
    let (session, pid) = stage.k().begin(crate::SessionSpec { program: ASK.to_vec(), ..spec(b"") }).expect("begun");
    let start = stage.k().take_starts(session).pop().expect("started");
    let mut call = Call::of(&stage, &start);
    assert_eq!(call.poll(), Poll::Pending);
    assert_eq!(stage.k().end(session).status, None);
    assert_eq!(call.poll(), Poll::Ready(()), "the process {pid} is gone");
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
fn proc_shows_a_process_like_every_other() {
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
    let mut memory = crate::testing::Memory { bytes: vec![0; 4096], lends: true };
    let path = format!("/proc/{}/exe", call.pid);
    memory.bytes[..path.len()].copy_from_slice(path.as_bytes());
    let len = u32::try_from(path.len()).expect("short");
    assert_eq!(p1::path_readlink(&mut k, stage.root, &mut memory, 3, 1, len - 1, 100, 100, 200), crate::testing::OK);
    assert_eq!(&memory.bytes[100..100 + ASK.len()], ASK);
    for text in [Text::ProcessCmdline, Text::ProcessComm, Text::ProcessEnviron, Text::ProcessStat, Text::ProcessStatus]
    {
        let text = procfs::text(&k, text(call.pid)).expect("it lives");
        assert!(!String::from_utf8_lossy(&text).contains("swordfish"));
    }
    assert_eq!(&*procfs::text(&k, Text::ProcessComm(call.pid)).expect("it lives"), b"ask\n");
}
