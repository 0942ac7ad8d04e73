//! Polling with growing pauses.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result};

use crate::transport::{Instant, now, sleep};

/// Growing pauses up to a deadline.
#[derive(Debug)]
pub struct PollTimer {
    start: Instant,
    time: Duration,
    pause: Duration,
    what: &'static str,
}

/// First pause; each later one is 10% longer, up to 1 s: most sandboxes are ready immediately.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(1);

impl PollTimer {
    /// Polls for at most `time`; `what` names the awaited condition in the error.
    pub fn new(what: &'static str, time: Duration) -> Self {
        Self { start: now(), time, pause: FIRST_PAUSE, what }
    }

    /// Waits before the next poll.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`] after the deadline.
    pub async fn pause(&mut self) -> Result<()> {
        if self.start.elapsed() + self.pause > self.time {
            let message = format!("timed out after {:?}; the provider may be busy, try again later", self.time);
            return Err(Error::new(ErrorKind::Timeout, self.what, message));
        }
        sleep(self.pause).await;
        self.pause = self.pause.mul_f64(1.1).min(MAX_PAUSE);
        Ok(())
    }

    /// Returns the remaining time.
    pub fn remaining(&self) -> Duration {
        self.time.saturating_sub(self.start.elapsed())
    }
}
