//! Output as it arrives.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::future::{self, Either};

use super::capabilities::Requirement::{Execute, SeparateStreams, Streaming};
use super::case::{Case, cases};
use super::context::CaseContext;
use super::failure::{CaseFailure, CaseResult, check_eq, text};
use crate::execute::{OutputChunk, OutputStream};
use crate::lock::Mutex;

pub(super) const CASES: &[Case] = cases![
    "execute_streaming: the sink and the response get the same bytes" [Execute, Streaming] same_bytes;
    "execute_streaming: a chunk belongs to one output stream" [Execute, Streaming, SeparateStreams] streams;
    "execute_streaming: output arrives while the command runs" [Execute, Streaming] streams_while_running;
];

async fn same_bytes(context: &CaseContext<'_>) -> CaseResult {
    let mut received = Vec::new();
    let mut sink = |event: OutputChunk| received.extend(event.bytes);
    let request = context.request("seq 1 20000; echo é👋; echo end >&2");
    let response = context.backend.execute_streaming(request, &mut sink).await?;
    check_eq("bytes in the sink and in the response", &received.len(), &response.output.len())?;
    check_eq("the bytes in the sink", &text(&received), &text(&response.output))?;
    check_eq("lines", &text(&received).lines().count(), &20_002)
}

async fn streams(context: &CaseContext<'_>) -> CaseResult {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut sink = |event: OutputChunk| match event.stream {
        OutputStream::Stdout => out.extend(event.bytes),
        OutputStream::Stderr => err.extend(event.bytes),
    };
    context.backend.execute_streaming(context.request("echo out; echo err >&2"), &mut sink).await?;
    check_eq("standard output and standard error", &(text(&out), text(&err)), &("out\n".to_owned(), "err\n".to_owned()))
}

/// The command waits for a file that is created only after its first line was received: without streaming it never ends.
async fn streams_while_running(context: &CaseContext<'_>) -> CaseResult {
    let received = Arc::new(Flag::default());
    let flag = Arc::clone(&received);
    let mut sink = move |_: OutputChunk| flag.set();
    let command = "echo first; while ! [ -e go ]; do sleep 0.1; done; echo second";
    let request = context.request(command).with_timeout(Duration::from_secs(12));
    let running = pin!(context.backend.execute_streaming(request, &mut sink));
    let lets_go = AtomicBool::new(false);
    let react = pin!(async {
        received.wait().await;
        lets_go.store(true, Ordering::Relaxed);
        context.put("go", "").await
    });
    let response = match future::select(running, react).await {
        // The command may end before the response to the operation that unblocks it has arrived.
        Either::Left((ended, _)) if lets_go.load(Ordering::Relaxed) => ended?,
        Either::Left((ended, _)) => {
            let received = format!("the command ended before its first line was received: {:?}", ended?.stopped_by);
            return Err(CaseFailure::new("the first line while the command runs", received));
        }
        Either::Right((put, running)) => {
            put?;
            running.await?
        }
    };
    check_eq(
        "the output, whose second line depends on the receipt of the first",
        &text(&response.output),
        &"first\nsecond\n",
    )
}

/// A one-shot flag with one waiter.
#[derive(Default)]
struct Flag(Mutex<(bool, Option<Waker>)>);

impl Flag {
    fn set(&self) {
        let mut state = self.0.lock();
        state.0 = true;
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    }

    async fn wait(&self) {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
