//! When time may be skipped in deterministic mode.

use std::sync::Mutex;

use super::*;
use crate::wasi::Wait;

/// Parks the root process for a second.
fn sleep(stage: &Stage) -> Arc<Count> {
    let count = Arc::new(Count::default());
    let wait = Wait { deadline: Some(1_000_000_000) };
    stage.k().park(stage.root, wait, &Waker::from(Arc::clone(&count)));
    count
}

#[test]
fn time_passes_while_a_call_waits_for_the_sandbox() {
    let stage = Stage::new(|mut call: HostCall| async move { call.stdin.read(1).await.len().to_le_bytes()[0] });
    let (reader, _writer) = stage.pipe();
    let mut call = stage.call(&[(0, reader)]);
    let sleeper = sleep(&stage);
    assert!(!stage.k().skip_waiting(stage.session), "the call has not been polled yet");
    assert_eq!(call.run(), Poll::Pending);
    assert!(stage.k().skip_waiting(stage.session));
    assert_eq!((sleeper.get(), stage.k().monotonic()), (1, 1_000_000_000));
}

#[test]
fn time_stands_still_while_a_call_waits_for_the_outside_world() {
    let answered: Arc<Mutex<Option<Waker>>> = Arc::default();
    let outside = Arc::clone(&answered);
    let stage = Stage::new(move |mut call: HostCall| {
        let outside = Arc::clone(&outside);
        async move {
            std::future::poll_fn(|cx| {
                let first = outside.lock().expect("one thread").replace(cx.waker().clone()).is_none();
                if first { Poll::Pending } else { Poll::Ready(()) }
            })
            .await;
            call.stdin.read(1).await;
            0
        }
    });
    let (reader, _writer) = stage.pipe();
    let mut call = stage.call(&[(0, reader)]);
    let sleeper = sleep(&stage);
    assert_eq!(call.poll(), Poll::Pending);
    assert!(!stage.k().skip_waiting(stage.session));
    assert_eq!((sleeper.get(), stage.k().monotonic()), (0, 0));
    answered.lock().expect("one thread").as_ref().expect("it waits").wake_by_ref();
    assert_eq!(call.woken.get(), 1);
    assert_eq!(call.poll(), Poll::Pending, "now it reads");
    assert!(stage.k().skip_waiting(stage.session));
}

#[test]
fn a_stream_that_is_no_longer_waited_for_does_not_let_time_pass() {
    let stage = Stage::new(|mut call: HostCall| async move {
        let mut polls = 0;
        std::future::poll_fn(move |cx| {
            polls += 1;
            if polls == 1 {
                // Given up at once, as a select does with the slower of two.
                assert_eq!(std::pin::pin!(call.stdin.read(1)).poll(cx), Poll::Pending);
                cx.waker().wake_by_ref();
            }
            Poll::<u8>::Pending
        })
        .await
    });
    let (reader, _writer) = stage.pipe();
    let mut call = stage.call(&[(0, reader)]);
    sleep(&stage);
    assert_eq!(call.run(), Poll::Pending);
    assert!(!stage.k().skip_waiting(stage.session));
}
