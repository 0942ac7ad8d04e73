//! Asking until something is so.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result};

use crate::transport::{Instant, now, sleep};

/// Pauses that grow, until time is up.
#[derive(Debug)]
pub struct Polling {
    begun: Instant,
    time: Duration,
    pause: Duration,
    what: &'static str,
}

/// The first pause; each later one is a tenth longer, up to a second: sandboxes are mostly ready at once.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Polling {
    /// Asks for at most `time` whether `what` is so.
    pub fn new(what: &'static str, time: Duration) -> Self {
        Self { begun: now(), time, pause: FIRST_PAUSE, what }
    }

    /// Waits before the next question.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`] when time is up.
    pub async fn pause(&mut self) -> Result<()> {
        if self.begun.elapsed() + self.pause > self.time {
            let message =
                format!("it did not happen within {:?}; the provider may be busy, try again later", self.time);
            return Err(Error::new(ErrorKind::Timeout, self.what, message));
        }
        sleep(self.pause).await;
        self.pause = self.pause.mul_f64(1.1).min(LONGEST_PAUSE);
        Ok(())
    }

    /// What is left of the time.
    pub fn left(&self) -> Duration {
        self.time.saturating_sub(self.begun.elapsed())
    }
}
