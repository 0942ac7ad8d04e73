//! Request and response bodies as hyper's `Body`.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tidebox_core::network::{Body, GatewayError, GatewayErrorKind};
use tokio::sync::mpsc;

/// The body of a request.
pub(crate) struct RequestBody {
    body: Option<Box<dyn Body>>,
    left: Option<u64>,
}

impl RequestBody {
    pub(crate) fn new(body: Option<(Box<dyn Body>, Option<u64>)>) -> Self {
        match body {
            Some((body, left)) => Self { body: Some(body), left },
            None => Self { body: None, left: Some(0) },
        }
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = GatewayError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else {
            return Poll::Ready(None);
        };
        body.poll_chunk(cx).map(|chunk| match chunk {
            Some(Ok(chunk)) => {
                this.left = this.left.map(|left| left.saturating_sub(chunk.len() as u64));
                Some(Ok(Frame::data(chunk.into())))
            }
            Some(Err(error)) => {
                this.body = None;
                Some(Err(error))
            }
            None => {
                this.body = None;
                None
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// The body of a response, received from the gateway's thread.
pub(crate) struct ResponseBody<T> {
    /// `None` is the end. If the channel closes without it, the gateway's thread has exited; a truncated body must not be taken
    /// for a complete one.
    pub(crate) chunks: mpsc::Receiver<Option<Result<Vec<u8>, GatewayError>>>,
    /// Ends the connection when the body is dropped.
    pub(crate) _task: T,
}

impl<T: Send> Body for ResponseBody<T> {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>> {
        self.chunks.poll_recv(cx).map(|chunk| match chunk {
            Some(chunk) => chunk,
            None => Some(Err(GatewayError::new(
                GatewayErrorKind::Internal,
                "the gateway ended before the response was complete",
            ))),
        })
    }
}
