//! Retry policy: which requests are sent again, and after which pause.

use std::time::Duration;

use super::{Idempotency, Request, Response, SendError};

/// The provider's own statement about a retry, which precedes the general rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryHint {
    /// None; the status decides.
    None,
    /// Retry, after this pause if given.
    Retry(Option<Duration>),
    /// Do not retry.
    Final,
}

/// Number of attempts and length of pauses.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Attempts in total. 1 disables retries.
    pub attempts: u32,
    /// First pause; doubled after each attempt.
    pub first_pause: Duration,
    /// Maximum pause, unless the server requests a longer one.
    pub longest_pause: Duration,
    /// Maximum pause requested by the server; a longer request returns its response instead.
    pub max_retry_after: Duration,
    /// Reads the provider's own headers.
    pub hint: fn(&Response) -> RetryHint,
}

impl Default for RetryPolicy {
    /// Four attempts within some seconds, with requested pauses of up to a minute.
    fn default() -> Self {
        Self {
            attempts: 4,
            first_pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(10),
            max_retry_after: Duration::from_secs(60),
            hint: |_| RetryHint::None,
        }
    }
}

impl RetryPolicy {
    /// Returns the pause before another attempt, `None` if this response is final. `attempt` counts from 1.
    pub(super) fn after_reply(&self, request: &Request, reply: &Response, attempt: u32) -> Option<Duration> {
        if attempt >= self.attempts || reply.is_success() {
            return None;
        }
        let response = match (self.hint)(reply) {
            RetryHint::Final => return None,
            RetryHint::Retry(response) => response,
            // 429 means that the request was rejected; the others may have executed it.
            RetryHint::None if reply.status == 429 => None,
            RetryHint::None if matches!(reply.status, 502..=504) && request.repeat == Idempotency::Idempotent => None,
            RetryHint::None => return None,
        };
        match response.or_else(|| retry_after(reply)) {
            Some(response) if response > self.max_retry_after => None,
            Some(response) => Some(response),
            None => Some(self.pause(attempt)),
        }
    }

    /// Like [`after_reply`](Self::after_reply), for a failure without a response.
    pub(super) fn after_failure(&self, request: &Request, unsent: &SendError, attempt: u32) -> Option<Duration> {
        let again = unsent.not_sent || (request.repeat == Idempotency::Idempotent && unsent.error.retryable());
        (again && attempt < self.attempts).then(|| self.pause(attempt))
    }

    /// Returns 50 to 100% of the doubled pause, so that clients do not retry simultaneously.
    pub(crate) fn pause(&self, attempt: u32) -> Duration {
        let doubled = self.first_pause.saturating_mul(1 << attempt.saturating_sub(1).min(16));
        doubled.min(self.longest_pause).mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

/// Reads `retry-after` in seconds. The date format is ignored.
fn retry_after(reply: &Response) -> Option<Duration> {
    let seconds: f64 = reply.header("retry-after")?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::replay::body;
    use crate::transport::{Method, Request};
    use tidebox_core::{Error, ErrorKind};

    fn reply(status: u16, headers: &[(&str, &str)]) -> Response {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Response::new(status, headers, body(b""))
    }

    #[test]
    fn possibly_executed_requests_are_not_retried() {
        let policy = RetryPolicy::default();
        let post = Request::new(Method::Post, "http://x");
        assert_eq!(policy.after_reply(&post, &reply(502, &[]), 1), None);
        assert!(policy.after_reply(&post.clone().idempotent(), &reply(502, &[]), 1).is_some());
        assert!(policy.after_reply(&post, &reply(429, &[]), 1).is_some(), "a refusal did nothing");
        let broken = SendError { error: Error::new(ErrorKind::Unavailable, "send", "broken"), not_sent: false };
        assert_eq!(policy.after_failure(&post, &broken, 1), None);
        let unseen = SendError { not_sent: true, ..broken };
        assert!(policy.after_failure(&post, &unseen, 1).is_some());
        assert_eq!(policy.after_failure(&post, &unseen, 4), None, "four attempts are all");
    }

    #[test]
    fn retry_after_is_respected_up_to_the_maximum() {
        let policy = RetryPolicy::default();
        let get = Request::new(Method::Get, "http://x");
        let after = |seconds| policy.after_reply(&get, &reply(429, &[("retry-after", seconds)]), 1);
        assert_eq!(after("2"), Some(Duration::from_secs(2)));
        assert_eq!(after("0.25"), Some(Duration::from_millis(250)));
        assert_eq!(after("3600"), None);
        assert!(after("Wed, 21 Oct 2015 07:28:00 GMT").is_some_and(|pause| pause <= Duration::from_millis(200)));
    }

    #[test]
    fn pauses_double_with_jitter() {
        let policy = RetryPolicy::default();
        for attempt in 1..=12 {
            let whole = Duration::from_millis(200 << (attempt - 1)).min(Duration::from_secs(10));
            let pause = policy.pause(attempt);
            assert!(pause >= whole / 2 && pause <= whole, "{attempt}: {pause:?}");
        }
    }

    #[test]
    fn a_provider_may_overrule_the_status() {
        let policy = RetryPolicy { hint: |_| RetryHint::Final, ..RetryPolicy::default() };
        let get = Request::new(Method::Get, "http://x");
        assert_eq!(policy.after_reply(&get, &reply(503, &[]), 1), None);
        let policy = RetryPolicy { hint: |_| RetryHint::Retry(None), ..RetryPolicy::default() };
        assert!(policy.after_reply(&get, &reply(500, &[]), 1).is_some());
    }
}
