//! One call of the command that guests start for a request.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tidebox_core::lock::Mutex;
use tidebox_core::network::{Body, Exchange, GatewayError, GatewayErrorKind, Network, NetworkError, NetworkRequest};
use tidebox_core::{BrokenPipe, HostCall, HostInput, HostOutput};

use super::frame::{self, DATA, END, FrameError, Frames, HEAD, RequestHead};

/// Exit code of a request that got a response, including an error: the result is in the frames.
const EXIT_OK: u8 = 0;
/// Exit code if the reader closed the pipe: 128 + SIGPIPE.
const EXIT_SIGPIPE: u8 = 141;

/// Handles one request, reading frames from standard input and writing frames to standard output.
pub(super) async fn handle_call(network: Arc<Network>, call: HostCall) -> u8 {
    let HostCall { stdin, mut stdout, .. } = call;
    match handle_request(&network, stdin, &mut stdout).await {
        Ok(()) => EXIT_OK,
        Err(BrokenPipe) => EXIT_SIGPIPE,
    }
}

async fn handle_request(network: &Network, stdin: HostInput, stdout: &mut HostOutput) -> Result<(), BrokenPipe> {
    let mut frames = Frames::new(stdin);
    let head = match read_head(&mut frames).await {
        Ok(head) => head,
        Err(message) => {
            let error = GatewayError::new(GatewayErrorKind::Internal, message);
            return stdout.write(frame::failure(&NetworkError::Failed(error))).await;
        }
    };
    let slot = Arc::new(ChunkSlot::default());
    let body = head.body.map(|length| {
        let body: Box<dyn Body> = Box::new(SlotBody(Arc::clone(&slot)));
        (body, length)
    });
    let has_body = body.is_some();
    let request = NetworkRequest {
        method: head.method,
        url: head.url,
        headers: head.headers,
        body,
        connect_time: head.connect_time,
        request_time: head.request_time,
    };
    // The reply may arrive while the request is still being sent, so both are polled. If the guest closes its input, it
    // has exited.
    let mut reply = pin!(reply(network, request, stdout));
    let mut guest = pin!(async {
        if has_body {
            upload(&mut frames, &slot).await;
        }
        while frames.next().await.is_ok() {}
    });
    poll_fn(|cx| match reply.as_mut().poll(cx) {
        Poll::Pending => guest.as_mut().poll(cx).map(|()| Err(BrokenPipe)),
        ready => ready,
    })
    .await
}

async fn read_head(frames: &mut Frames) -> Result<RequestHead, String> {
    match frames.next().await {
        Ok(frame) if frame.kind == HEAD => RequestHead::parse(&frame.payload),
        Ok(_) => Err("the first frame must be a head".to_owned()),
        Err(FrameError::Eof) => Err("the request ended before its head did".to_owned()),
        Err(FrameError::TooLarge) => Err("the head of the request is too large".to_owned()),
    }
}

async fn reply(network: &Network, request: NetworkRequest, stdout: &mut HostOutput) -> Result<(), BrokenPipe> {
    let mut exchange: Exchange = match network.begin(request).await {
        Ok(exchange) => exchange,
        Err(failure) => return stdout.write(frame::failure(&failure)).await,
    };
    stdout.write(frame::reply_head(&exchange)).await?;
    while let Some(chunk) = exchange.chunk().await {
        match chunk {
            Ok(chunk) => {
                for frame in frame::data(&chunk) {
                    stdout.write(frame).await?;
                }
            }
            Err(failure) => return stdout.write(frame::failure(&failure)).await,
        }
    }
    stdout.write(frame::frame(END, &[])).await
}

/// Moves the body from the guest into the slot, one chunk at a time.
async fn upload(frames: &mut Frames, slot: &ChunkSlot) {
    loop {
        let chunk = match frames.next().await {
            Ok(frame) if frame.kind == DATA && frame.payload.is_empty() => continue,
            Ok(frame) if frame.kind == DATA => Some(Ok(frame.payload)),
            Ok(frame) if frame.kind == END => None,
            // A truncated body must not reach the server as a complete one.
            _ => Some(Err(GatewayError::new(GatewayErrorKind::Send, "the body of the request broke off"))),
        };
        let last = !matches!(chunk, Some(Ok(_)));
        slot.put(chunk).await;
        if last {
            return;
        }
    }
}

type BodyChunk = Option<Result<Vec<u8>, GatewayError>>;

/// Slot for one body chunk between the sandbox's task and the gateway's thread.
#[derive(Default)]
struct ChunkSlot(Mutex<SlotState>);

#[derive(Default)]
struct SlotState {
    /// `None` if the slot is empty; otherwise the value that [`Body::poll_chunk`] returns.
    chunk: Option<BodyChunk>,
    waiting: Option<Waker>,
}

impl ChunkSlot {
    async fn put(&self, chunk: BodyChunk) {
        let mut chunk = Some(chunk);
        poll_fn(|cx| {
            let mut inside = self.0.lock();
            if inside.chunk.is_some() {
                inside.waiting = Some(cx.waker().clone());
                return Poll::Pending;
            }
            inside.chunk = chunk.take();
            if let Some(waiting) = inside.waiting.take() {
                waiting.wake();
            }
            Poll::Ready(())
        })
        .await;
    }
}

/// The gateway's end of the slot, which reads.
struct SlotBody(Arc<ChunkSlot>);

impl Body for SlotBody {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<BodyChunk> {
        let mut inside = self.0.0.lock();
        let Some(chunk) = inside.chunk.take() else {
            inside.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        };
        if let Some(waiting) = inside.waiting.take() {
            waiting.wake();
        }
        Poll::Ready(chunk)
    }
}
