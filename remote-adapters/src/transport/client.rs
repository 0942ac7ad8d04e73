//! A transport with a policy.

use std::sync::Arc;

use tidebox_core::Result;

use super::socket::Opening;
use super::{Reply, Request, RetryPolicy, Transport, sleep};

/// Sends requests, again where that may help and cannot harm.
#[derive(Clone, Debug)]
pub struct Client {
    transport: Arc<dyn Transport>,
    retry: RetryPolicy,
}

impl Client {
    /// A client of this transport.
    pub fn new(transport: Arc<dyn Transport>, retry: RetryPolicy) -> Self {
        Self { transport, retry }
    }

    /// Sends a request. A status that tells of an error is a reply.
    ///
    /// # Errors
    /// Those of the transport, after the last attempt.
    pub async fn send(&self, request: &Request) -> Result<Reply> {
        let mut attempt = 1;
        loop {
            let pause = match self.transport.send(request).await {
                Ok(reply) => match self.retry.after_reply(request, &reply, attempt) {
                    Some(pause) => pause,
                    None => return Ok(reply),
                },
                Err(unsent) => match self.retry.after_failure(request, &unsent, attempt) {
                    Some(pause) => pause,
                    None => return Err(unsent.error.with_context("attempts", attempt.to_string())),
                },
            };
            sleep(pause).await;
            attempt += 1;
        }
    }

    /// Asks for a WebSocket, again after refusals that say so.
    ///
    /// # Errors
    /// Those of the transport, after the last attempt.
    pub async fn open(&self, request: &Request) -> Result<Opening> {
        let mut attempt = 1;
        loop {
            let pause = match self.transport.open(request).await {
                Ok(Opening::Refused(reply)) => match self.retry.after_reply(request, &reply, attempt) {
                    Some(pause) => pause,
                    None => return Ok(Opening::Refused(reply)),
                },
                Ok(open) => return Ok(open),
                Err(unsent) => match self.retry.after_failure(request, &unsent, attempt) {
                    Some(pause) => pause,
                    None => return Err(unsent.error.with_context("attempts", attempt.to_string())),
                },
            };
            sleep(pause).await;
            attempt += 1;
        }
    }
}
