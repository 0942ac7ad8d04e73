//! One call of the command that guests start for a request.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use tidebox_core::network::{Body, Exchange, Failure, GatewayError, GatewayErrorKind, Network, NetworkRequest};
use tidebox_core::{Disconnected, HostCall, HostInput, HostOutput};

use super::frame::{self, Broken, DATA, END, Frames, HEAD, RequestHead};

/// The exit code of a request that was answered, also with a failure: what happened is in the frames.
const TOLD: u8 = 0;
/// Nobody read the answer: 128 + SIGPIPE.
const UNHEARD: u8 = 141;

/// Answers one request, from the frames on standard input to those on standard output.
pub(super) async fn answer(network: Arc<Network>, call: HostCall) -> u8 {
    let HostCall { stdin, mut stdout, .. } = call;
    match converse(&network, stdin, &mut stdout).await {
        Ok(()) => TOLD,
        Err(Disconnected) => UNHEARD,
    }
}

async fn converse(network: &Network, stdin: HostInput, stdout: &mut HostOutput) -> Result<(), Disconnected> {
    let mut frames = Frames::new(stdin);
    let head = match read_head(&mut frames).await {
        Ok(head) => head,
        Err(message) => {
            let error = GatewayError::new(GatewayErrorKind::Internal, message);
            return stdout.write(frame::failure(&Failure::Failed(error))).await;
        }
    };
    let slot = Arc::new(Slot::default());
    let body = head.body.map(|length| {
        let body: Box<dyn Body> = Box::new(Incoming(Arc::clone(&slot)));
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
    // The reply may come while the request is still being sent, so both move in turns. Who closes the way in has gone.
    let mut reply = pin!(reply(network, request, stdout));
    let mut guest = pin!(async {
        if has_body {
            upload(&mut frames, &slot).await;
        }
        while frames.next().await.is_ok() {}
    });
    poll_fn(|cx| match reply.as_mut().poll(cx) {
        Poll::Pending => guest.as_mut().poll(cx).map(|()| Err(Disconnected)),
        ready => ready,
    })
    .await
}

async fn read_head(frames: &mut Frames) -> Result<RequestHead, String> {
    match frames.next().await {
        Ok(frame) if frame.kind == HEAD => RequestHead::parse(&frame.payload),
        Ok(_) => Err("the first frame must be a head".to_owned()),
        Err(Broken::Ended) => Err("the request ended before its head did".to_owned()),
        Err(Broken::TooLarge) => Err("the head of the request is too large".to_owned()),
    }
}

async fn reply(network: &Network, request: NetworkRequest, stdout: &mut HostOutput) -> Result<(), Disconnected> {
    let mut exchange: Exchange = match network.begin(request).await {
        Ok(exchange) => exchange,
        Err(failure) => return stdout.write(frame::failure(&failure)).await,
    };
    stdout.write(frame::reply_head(&exchange)).await?;
    while let Some(piece) = exchange.chunk().await {
        match piece {
            Ok(piece) => {
                for frame in frame::data(&piece) {
                    stdout.write(frame).await?;
                }
            }
            Err(failure) => return stdout.write(frame::failure(&failure)).await,
        }
    }
    stdout.write(frame::frame(END, &[])).await
}

/// Moves the body from the guest into the slot, one piece at a time.
async fn upload(frames: &mut Frames, slot: &Slot) {
    loop {
        let piece = match frames.next().await {
            Ok(frame) if frame.kind == DATA && frame.payload.is_empty() => continue,
            Ok(frame) if frame.kind == DATA => Some(Ok(frame.payload)),
            Ok(frame) if frame.kind == END => None,
            // A body that was cut must not reach the server as a whole one.
            _ => Some(Err(GatewayError::new(GatewayErrorKind::Send, "the body of the request broke off"))),
        };
        let last = !matches!(piece, Some(Ok(_)));
        slot.put(piece).await;
        if last {
            return;
        }
    }
}

type Piece = Option<Result<Vec<u8>, GatewayError>>;

/// Room for one piece of a body between the sandbox's task and whatever thread the gateway sends from.
#[derive(Default)]
struct Slot(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    /// The outer level says whether there is one; the inner ones are what [`Body::poll_chunk`] answers.
    piece: Option<Piece>,
    waiting: Option<Waker>,
}

impl Slot {
    async fn put(&self, piece: Piece) {
        let mut piece = Some(piece);
        poll_fn(|cx| {
            let mut inside = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if inside.piece.is_some() {
                inside.waiting = Some(cx.waker().clone());
                return Poll::Pending;
            }
            inside.piece = piece.take();
            if let Some(waiting) = inside.waiting.take() {
                waiting.wake();
            }
            Poll::Ready(())
        })
        .await;
    }
}

/// The end of the slot that the gateway reads.
struct Incoming(Arc<Slot>);

impl Body for Incoming {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Piece> {
        let mut inside = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(piece) = inside.piece.take() else {
            inside.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        };
        if let Some(waiting) = inside.waiting.take() {
            waiting.wake();
        }
        Poll::Ready(piece)
    }
}
