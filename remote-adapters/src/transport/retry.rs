//! When a request is sent again, and how long after.

use std::time::Duration;

use super::{Repeat, Reply, Request, Unsent};

/// What a provider's own reply says about another attempt, before the general rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The provider says nothing; the status decides.
    None,
    /// Another attempt, after this time if it names one.
    Again(Option<Duration>),
    /// No other attempt.
    Final,
}

/// How often a request is sent, and how long the pauses are.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Attempts in all. 1 sends once.
    pub attempts: u32,
    /// The first pause; each later one is twice as long.
    pub first_pause: Duration,
    /// No pause is longer, unless the server asks for one.
    pub longest_pause: Duration,
    /// What the server asks for is kept up to this; a longer pause ends with its refusal instead.
    pub most_patience: Duration,
    /// Reads the provider's own headers.
    pub hint: fn(&Reply) -> Hint,
}

impl Default for RetryPolicy {
    /// Four attempts within some seconds, and up to a minute when the server asks for it.
    fn default() -> Self {
        Self {
            attempts: 4,
            first_pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(10),
            most_patience: Duration::from_secs(60),
            hint: |_| Hint::None,
        }
    }
}

impl RetryPolicy {
    /// The pause before another attempt, `None` when this reply is the answer. `attempt` counts from 1.
    pub(super) fn after_reply(&self, request: &Request, reply: &Reply, attempt: u32) -> Option<Duration> {
        if attempt >= self.attempts || reply.is_success() {
            return None;
        }
        let asked = match (self.hint)(reply) {
            Hint::Final => return None,
            Hint::Again(asked) => asked,
            // 429 and 503 with a time are refusals; the others may have done the work.
            Hint::None if reply.status == 429 => None,
            Hint::None if matches!(reply.status, 502..=504) && request.repeat == Repeat::Safe => None,
            Hint::None => return None,
        };
        match asked.or_else(|| retry_after(reply)) {
            Some(asked) if asked > self.most_patience => None,
            Some(asked) => Some(asked),
            None => Some(self.pause(attempt)),
        }
    }

    /// The same when there was no reply.
    pub(super) fn after_failure(&self, request: &Request, unsent: &Unsent, attempt: u32) -> Option<Duration> {
        let again = unsent.unseen || (request.repeat == Repeat::Safe && unsent.error.retryable());
        (again && attempt < self.attempts).then(|| self.pause(attempt))
    }

    /// Half to the whole of a pause that doubles, so that many clients do not come back at once.
    pub(crate) fn pause(&self, attempt: u32) -> Duration {
        let doubled = self.first_pause.saturating_mul(1 << attempt.saturating_sub(1).min(16));
        doubled.min(self.longest_pause).mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

/// The header `retry-after` in seconds. As a date it is not heeded.
fn retry_after(reply: &Reply) -> Option<Duration> {
    let seconds: f64 = reply.header("retry-after")?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::replay::body;
    use crate::transport::{Method, Request};
    use tidebox_core::{Error, ErrorKind};

    fn reply(status: u16, headers: &[(&str, &str)]) -> Reply {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Reply::new(status, headers, body(b""))
    }

    #[test]
    fn what_may_have_been_done_is_not_asked_for_again() {
        let policy = RetryPolicy::default();
        let post = Request::new(Method::Post, "http://x");
        assert_eq!(policy.after_reply(&post, &reply(502, &[]), 1), None);
        assert!(policy.after_reply(&post.clone().repeatable(), &reply(502, &[]), 1).is_some());
        assert!(policy.after_reply(&post, &reply(429, &[]), 1).is_some(), "a refusal did nothing");
        let broken = Unsent { error: Error::new(ErrorKind::Unavailable, "send", "broken"), unseen: false };
        assert_eq!(policy.after_failure(&post, &broken, 1), None);
        let unseen = Unsent { unseen: true, ..broken };
        assert!(policy.after_failure(&post, &unseen, 1).is_some());
        assert_eq!(policy.after_failure(&post, &unseen, 4), None, "four attempts are all");
    }

    #[test]
    fn the_server_says_how_long_unless_that_is_too_long() {
        let policy = RetryPolicy::default();
        let get = Request::new(Method::Get, "http://x");
        let after = |seconds| policy.after_reply(&get, &reply(429, &[("retry-after", seconds)]), 1);
        assert_eq!(after("2"), Some(Duration::from_secs(2)));
        assert_eq!(after("0.25"), Some(Duration::from_millis(250)));
        assert_eq!(after("3600"), None);
        assert!(after("Wed, 21 Oct 2015 07:28:00 GMT").is_some_and(|pause| pause <= Duration::from_millis(200)));
    }

    #[test]
    fn pauses_double_and_differ_from_client_to_client() {
        let policy = RetryPolicy::default();
        for attempt in 1..=12 {
            let whole = Duration::from_millis(200 << (attempt - 1)).min(Duration::from_secs(10));
            let pause = policy.pause(attempt);
            assert!(pause >= whole / 2 && pause <= whole, "{attempt}: {pause:?}");
        }
    }

    #[test]
    fn a_provider_may_overrule_the_status() {
        let policy = RetryPolicy { hint: |_| Hint::Final, ..RetryPolicy::default() };
        let get = Request::new(Method::Get, "http://x");
        assert_eq!(policy.after_reply(&get, &reply(503, &[]), 1), None);
        let policy = RetryPolicy { hint: |_| Hint::Again(None), ..RetryPolicy::default() };
        assert!(policy.after_reply(&get, &reply(500, &[]), 1).is_some());
    }
}
