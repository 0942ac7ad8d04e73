//! Checkpoints: messages or dots after a number of records.

use crate::message::warn;

/// Default number of records between two checkpoints.
const DEFAULT_INTERVAL: u64 = 10;

/// The interval in records, and the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoints {
    interval: u64,
    /// A checkpoint prints a dot and no message.
    dots: bool,
    /// Number of the last checkpoint.
    last: u64,
}

impl Checkpoints {
    /// Returns the checkpoints of the options, created on first use.
    pub(crate) fn of(slot: &mut Option<Self>) -> &mut Self {
        slot.get_or_insert_with(|| Self { interval: DEFAULT_INTERVAL, dots: false, last: 0 })
    }

    /// Applies `--checkpoint=N`; `.N` prints dots.
    pub(crate) fn every(&mut self, text: &str) -> Result<(), Vec<u8>> {
        let digits = text.strip_prefix('.').unwrap_or(text);
        self.dots |= digits.len() < text.len();
        if !digits.is_empty() {
            let number = digits.parse().ok().filter(|number| *number > 0);
            self.interval = number.ok_or_else(|| b"--checkpoint value is not an integer".to_vec())?;
        }
        Ok(())
    }

    /// Applies `--checkpoint-action=ACTION`.
    pub(crate) fn action(&mut self, text: &str) -> Result<(), Vec<u8>> {
        match text {
            "." | "dot" => self.dots = true,
            "echo" => self.dots = false,
            _ => return Err(format!("the checkpoint action '{text}' is not supported").into_bytes()),
        }
        Ok(())
    }

    /// Updates the number of records read or written.
    pub(crate) fn update(&mut self, records: u64, writes: bool) {
        let number = records - records % self.interval;
        while self.last < number {
            self.last += self.interval;
            if self.dots {
                // Ignore errors: the descriptor may be closed.
                let _ = tidebox_rt::write_all(1, b".");
            } else {
                let verb = if writes { "Write" } else { "Read" };
                warn(&[format!("{verb} checkpoint {}", self.last).as_bytes()]);
            }
        }
    }
}
