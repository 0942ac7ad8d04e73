//! The processor time of a background execution, limited by a token bucket.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tidebox_kernel::{ExecutionId, Kernel};
use tokio::time::Sleep;

use crate::ticker;

/// Processor time that may be used without a pause, such as for the start of a server.
const BURST: Duration = Duration::from_secs(10);

/// Processor time that must be available after the burst is used up, so that a process does not wait for each time slice.
const REFILL: Duration = Duration::from_millis(20);

/// Share of one background execution.
#[derive(Debug)]
pub(crate) struct BackgroundShare {
    /// Processor time per second of wall time.
    rate: f64,
    available: Duration,
    counted: Instant,
    /// Set while the execution waits for its share.
    refill: Option<Pin<Box<Sleep>>>,
}

impl BackgroundShare {
    /// Returns the share of an execution; `None` if it does not run in the background.
    pub(crate) fn of(kernel: &Kernel, execution: ExecutionId) -> Option<Self> {
        let rate = f64::from(kernel.limits().background_cpu_percent.max(1)) / 100.0;
        let share = || Self { rate, available: BURST, counted: Instant::now(), refill: None };
        kernel.is_background(execution).then(share)
    }

    /// Waits until the execution may run.
    pub(crate) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        let earned = (now - self.counted).mul_f64(self.rate);
        (self.available, self.counted) = (self.available.saturating_add(earned).min(BURST), now);
        if self.available >= ticker::PERIOD && self.refill.is_none() {
            return Poll::Ready(());
        }
        let time = REFILL.saturating_sub(self.available).div_f64(self.rate);
        let refill = self.refill.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        if refill.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.refill = None;
        Poll::Ready(())
    }

    /// Accounts for a poll that took `used`.
    pub(crate) fn charge(&mut self, used: Duration) {
        self.available = self.available.saturating_sub(used);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn an_execution_waits_when_its_burst_is_used_up() {
        let mut share = BackgroundShare { rate: 0.5, available: BURST, counted: Instant::now(), refill: None };
        poll_fn(|cx| share.poll_ready(cx)).await;
        share.charge(BURST + BURST);
        let started = Instant::now();
        poll_fn(|cx| share.poll_ready(cx)).await;
        assert!(started.elapsed() >= REFILL, "half a core earns 20 ms in 40 ms");
        assert!(share.available > Duration::ZERO);
    }
}
