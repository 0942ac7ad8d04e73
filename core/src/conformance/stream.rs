//! Output as it arrives.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::future::{self, Either};

use super::capabilities::Need::{Execute, SeparateStreams, Streaming};
use super::case::{Case, cases};
use super::fault::{Fault, Verdict, same, text};
use super::ground::Ground;
use crate::execute::{OutputEvent, OutputStream};

pub(super) const CASES: &[Case] = cases![
    "execute_streaming: who watches and who waits see the same bytes" [Execute, Streaming] same_bytes;
    "execute_streaming: a piece belongs to one of the two streams" [Execute, Streaming, SeparateStreams] streams;
    "execute_streaming: output arrives while the command runs" [Execute, Streaming] meanwhile;
];

async fn same_bytes(ground: &Ground<'_>) -> Verdict {
    let mut seen = Vec::new();
    let mut sink = |event: OutputEvent| seen.extend(event.bytes);
    let request = ground.request("seq 1 20000; echo é👋; echo end >&2");
    let response = ground.backend.execute_streaming(request, &mut sink).await?;
    same("bytes seen and bytes in the response", &seen.len(), &response.output.len())?;
    same("what was seen", &text(&seen), &text(&response.output))?;
    same("lines", &text(&seen).lines().count(), &20_002)
}

async fn streams(ground: &Ground<'_>) -> Verdict {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut sink = |event: OutputEvent| match event.stream {
        OutputStream::Stdout => out.extend(event.bytes),
        OutputStream::Stderr => err.extend(event.bytes),
    };
    ground.backend.execute_streaming(ground.request("echo out; echo err >&2"), &mut sink).await?;
    same("standard output and standard error", &(text(&out), text(&err)), &("out\n".to_owned(), "err\n".to_owned()))
}

/// The command waits for a file that is made only when its first line was seen: without streaming it waits in vain.
async fn meanwhile(ground: &Ground<'_>) -> Verdict {
    let seen = Arc::new(Flag::default());
    let theirs = Arc::clone(&seen);
    let mut sink = move |_: OutputEvent| theirs.raise();
    let command = "echo first; while ! [ -e go ]; do sleep 0.1; done; echo second";
    let request = ground.request(command).with_timeout(Duration::from_secs(12));
    let running = pin!(ground.backend.execute_streaming(request, &mut sink));
    let lets_go = AtomicBool::new(false);
    let react = pin!(async {
        seen.raised().await;
        lets_go.store(true, Ordering::Relaxed);
        ground.put("go", "").await
    });
    let response = match future::select(running, react).await {
        // The command may end before the answer to what lets it go on has arrived.
        Either::Left((ended, _)) if lets_go.load(Ordering::Relaxed) => ended?,
        Either::Left((ended, _)) => {
            let seen = format!("the command ended before its first line was seen: {:?}", ended?.stopped_by);
            return Err(Fault::new("the first line while the command runs", seen));
        }
        Either::Right((put, running)) => {
            put?;
            running.await?
        }
    };
    same("the output, whose second line waits for the first to be seen", &text(&response.output), &"first\nsecond\n")
}

/// Raised once, awaited once.
#[derive(Default)]
struct Flag(Mutex<(bool, Option<Waker>)>);

impl Flag {
    fn raise(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = true;
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    }

    async fn raised(&self) {
        poll_fn(|cx| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
