//! Advancing the clock in deterministic mode.

use std::sync::Mutex;

use super::*;
use crate::syscall::Wait;

/// Parks the root process for a second.
fn sleep(stage: &Stage) -> Arc<WakeCounter> {
    let count = Arc::new(WakeCounter::default());
    let wait = Wait { deadline: Some(1_000_000_000) };
    stage.k().park(stage.root, wait, &Waker::from(Arc::clone(&count)));
    count
}

#[test]
fn the_clock_advances_while_a_call_waits_internally() {
    let stage = Stage::new(|mut call: HostCall| async move { call.stdin.read(1).await.len().to_le_bytes()[0] });
    let (reader, _writer) = stage.pipe();
    let mut call = stage.call(&[(0, reader)]);
    let sleeper = sleep(&stage);
    assert!(!stage.k().advance_clock(stage.execution), "the call has not been polled yet");
    assert_eq!(call.run(), Poll::Pending);
    assert!(stage.k().advance_clock(stage.execution));
    assert_eq!((sleeper.get(), stage.k().monotonic()), (1, 1_000_000_000));
}

#[test]
fn the_clock_stands_still_while_a_call_waits_externally() {
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
    assert!(!stage.k().advance_clock(stage.execution));
    assert_eq!((sleeper.get(), stage.k().monotonic()), (0, 0));
    answered.lock().expect("one thread").as_ref().expect("it waits").wake_by_ref();
    assert_eq!(call.woken.get(), 1);
    assert_eq!(call.poll(), Poll::Pending, "now it reads");
    assert!(stage.k().advance_clock(stage.execution));
}

#[test]
fn a_dropped_stream_future_does_not_advance_the_clock() {
    let stage = Stage::new(|mut call: HostCall| async move {
        let mut polls = 0;
        std::future::poll_fn(move |cx| {
            polls += 1;
            if polls == 1 {
                // Dropped immediately, as a select does with the slower of two.
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
    assert!(!stage.k().advance_clock(stage.execution));
}
