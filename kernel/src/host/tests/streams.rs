//! Standard input and output of a call.

use std::sync::Mutex;

use tidebox_core::{BrokenPipe, HostInput, HostOutput};

use super::*;
use crate::OpenOptions;
use crate::testing::WakeCounter;

/// Results of a test's calls.
type Results<T> = Arc<Mutex<Vec<T>>>;

fn push<T>(found: &Results<T>, value: T) {
    found.lock().expect("one thread").push(value);
}

async fn copy(mut call: HostCall) -> u8 {
    loop {
        let bytes = call.stdin.read(1000).await;
        if bytes.is_empty() {
            return 0;
        }
        if call.stdout.write(&bytes).await.is_err() {
            return 141;
        }
    }
}

#[test]
fn input_is_copied_to_output_with_backpressure() {
    let stage = Stage::new(copy);
    let (input_reader, input) = stage.pipe();
    let (output, output_writer) = stage.pipe();
    let mut call = stage.call(&[(0, input_reader), (1, output_writer), (2, 2)]);
    stage.close(input_reader);
    stage.close(output_writer);
    let root = stage.root;
    assert_eq!(call.run(), Poll::Pending, "nothing to read yet");
    let text: Vec<u8> = (0..50_000u32).map(|n| n.to_le_bytes()[1]).collect();
    let (mut sent, mut got) = (0, Vec::new());
    while got.len() < text.len() {
        sent += stage.k().write(root, input, &text[sent..]).unwrap_or(0);
        assert_eq!(call.run(), Poll::Pending);
        let mut buffer = [0; 4096];
        let n = stage.k().read(root, output, &mut buffer).unwrap_or(0);
        got.extend_from_slice(&buffer[..n]);
    }
    assert!(got == text);
    stage.close(input);
    assert_eq!(call.run(), Poll::Ready(()));
    assert_eq!(call.status(&stage), Some(ExitStatus::Exited(0)));
}

#[test]
fn a_full_pipe_blocks_and_a_closed_pipe_fails() {
    let written: Results<usize> = Arc::default();
    let counting = Arc::clone(&written);
    let stage = Stage::new(move |mut call: HostCall| {
        let written = Arc::clone(&counting);
        async move {
            while call.stdout.write([b'y'; 1024]).await.is_ok() {
                push(&written, 1024);
            }
            141
        }
    });
    let (reader, writer) = stage.pipe();
    let mut call = stage.call(&[(1, writer), (2, 2)]);
    stage.close(writer);
    assert_eq!(call.run(), Poll::Pending);
    assert_eq!(written.lock().expect("one thread").len(), 4, "the pipe holds no more");
    let before = call.woken.get();
    stage.close(reader);
    assert!(call.woken.get() > before);
    assert_eq!(call.poll(), Poll::Ready(()));
    assert_eq!(call.status(&stage), Some(ExitStatus::Exited(141)));
    assert_eq!(stage.printed(), "", "no message, as for a guest");
}

#[test]
fn input_is_the_standard_input_of_the_execution() {
    let found: Results<Vec<u8>> = Arc::default();
    let seen = Arc::clone(&found);
    let stage = Stage::new(move |mut call: HostCall| {
        let seen = Arc::clone(&seen);
        async move {
            assert_eq!(call.stdin.read(0).await, b"");
            while let Some(bytes) = Some(call.stdin.read(3).await).filter(|bytes| !bytes.is_empty()) {
                push(&seen, bytes);
            }
            0
        }
    });
    assert_eq!(stage.call(&STREAMS).run(), Poll::Ready(()));
    assert_eq!(*found.lock().expect("one thread"), [b"typ".to_vec(), b"ed".to_vec()]);
}

#[test]
fn stream_errors_are_reported_on_standard_error_once() {
    let stage = Stage::new(|mut call: HostCall| async move {
        assert_eq!(call.stdin.read(10).await, b"");
        assert_eq!(call.stdin.read(10).await, b"");
        assert_eq!(call.stdout.write("a").await, Err(BrokenPipe));
        assert_eq!(call.stdout.write("a").await, Err(BrokenPipe));
        1
    });
    let full = open(&stage, b"/dev/full");
    let mut call = stage.call(&[(0, full), (1, full), (2, 2)]);
    assert_eq!(call.run(), Poll::Ready(()));
    assert_eq!(
        stage.printed(),
        "ask: standard input: Bad file descriptor\nask: standard output: No space left on device\n"
    );
    let mut closed = stage.call(&[(2, 2)]);
    assert_eq!(closed.run(), Poll::Ready(()));
    assert!(stage.printed().ends_with("standard output: Bad file descriptor\n"));
}

/// Opens for writing as the root process.
fn open(stage: &Stage, path: &[u8]) -> u32 {
    let options = OpenOptions { write: true, follow: true, ..OpenOptions::default() };
    stage.k().open_at(stage.root, 3, &path[1..], options).expect("the file exists")
}

#[test]
fn a_call_that_never_waits_yields() {
    let stage = Stage::new(|mut call: HostCall| async move {
        loop {
            if call.stdout.write([0; 4096]).await.is_err() {
                return 1;
            }
        }
    });
    let mut call = stage.call(&STREAMS);
    assert_eq!(call.poll(), Poll::Pending, "captured output never blocks");
    assert_eq!(call.woken.get(), 1, "it yields and wakes itself");
    assert!(!stage.k().advance_clock(stage.execution), "and is busy");
}

#[test]
fn two_waiting_streams_both_wake_their_futures() {
    /// Polls two futures with separate wakers, each only after its waker was called.
    struct Both {
        call: HostCall,
        wakers: [Arc<WakeCounter>; 2],
        polled: [Option<usize>; 2],
        found: Results<&'static str>,
    }
    impl Future for Both {
        type Output = u8;
        fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u8> {
            let this = &mut *self;
            for at in 0..2 {
                let woken = this.wakers[at].get();
                if this.polled[at] == Some(woken) {
                    continue;
                }
                this.polled[at] = Some(woken);
                let waker = Waker::from(Arc::clone(&this.wakers[at]));
                let cx = &mut Context::from_waker(&waker);
                let call = &mut this.call;
                if at == 0 {
                    let mut read = std::pin::pin!(call.stdin.read(10));
                    if let Poll::Ready(bytes) = read.as_mut().poll(cx) {
                        push(&this.found, if bytes == b"in" { "read" } else { "end" });
                    }
                } else {
                    let mut write = std::pin::pin!(call.stdout.write([b'x'; 4096]));
                    if write.as_mut().poll(cx).is_ready() {
                        push(&this.found, "written");
                    }
                }
            }
            Poll::Pending
        }
    }
    let found: Results<&'static str> = Arc::default();
    let seen = Arc::clone(&found);
    let stage = Stage::new(move |call| Both {
        call,
        wakers: Default::default(),
        polled: [None, None],
        found: Arc::clone(&seen),
    });
    let (input_reader, input) = stage.pipe();
    let (output, output_writer) = stage.pipe();
    let root = stage.root;
    assert_eq!(stage.k().write(root, output_writer, b"full"), Ok(4));
    let mut call = stage.call(&[(0, input_reader), (1, output_writer)]);
    assert_eq!(call.poll(), Poll::Pending);
    assert_eq!(*found.lock().expect("one thread"), [""; 0]);
    assert_eq!(stage.k().write(root, input, b"in"), Ok(2));
    assert_eq!(call.woken.get(), 1);
    assert_eq!(call.poll(), Poll::Pending);
    assert_eq!(*found.lock().expect("one thread"), ["read"]);
    assert_eq!(stage.k().read(root, output, &mut [0; 4]), Ok(4));
    assert_eq!(call.woken.get(), 2, "the write waits and is woken even if another task polled last");
    assert_eq!(call.poll(), Poll::Pending);
    assert_eq!(*found.lock().expect("one thread"), ["read", "written"]);
}

#[test]
fn a_stream_that_outlives_its_call_is_closed() {
    let kept: Results<(HostInput, HostOutput)> = Arc::default();
    let keeping = Arc::clone(&kept);
    let stage = Stage::new(move |call: HostCall| {
        push(&keeping, (call.stdin, call.stdout));
        async { 0 }
    });
    assert_eq!(stage.call(&STREAMS).run(), Poll::Ready(()));
    let (mut input, mut output) = kept.lock().expect("one thread").pop().expect("kept");
    let cx = &mut Context::from_waker(Waker::noop());
    assert_eq!(std::pin::pin!(input.read(10)).poll(cx), Poll::Ready(Vec::new()));
    assert_eq!(std::pin::pin!(output.write("x")).poll(cx), Poll::Ready(Err(BrokenPipe)));
    assert_eq!(Arc::strong_count(&stage.shared), 1, "the stream does not keep the sandbox alive");
    assert_eq!(stage.printed(), "");
}
