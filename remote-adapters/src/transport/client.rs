//! A transport with a retry policy.

use std::sync::Arc;

use tidebox_core::Result;

use super::socket::UpgradeResult;
use super::{Request, Response, RetryPolicy, Transport, sleep};

/// Sends requests, with retries that are safe and may succeed.
#[derive(Clone, Debug)]
pub struct Client {
    transport: Arc<dyn Transport>,
    retry: RetryPolicy,
}

impl Client {
    /// Creates a client of this transport.
    pub fn new(transport: Arc<dyn Transport>, retry: RetryPolicy) -> Self {
        Self { transport, retry }
    }

    /// Sends a request. An error status is a response.
    ///
    /// # Errors
    /// Those of the transport, after the last attempt.
    pub async fn send(&self, request: &Request) -> Result<Response> {
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

    /// Opens a WebSocket, with retries of rejections that allow it.
    ///
    /// # Errors
    /// Those of the transport, after the last attempt.
    pub async fn open(&self, request: &Request) -> Result<UpgradeResult> {
        let mut attempt = 1;
        loop {
            let pause = match self.transport.open(request).await {
                Ok(UpgradeResult::Rejected(reply)) => match self.retry.after_reply(request, &reply, attempt) {
                    Some(pause) => pause,
                    None => return Ok(UpgradeResult::Rejected(reply)),
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
