//! Terminals of processes.

use crate::error::{Error, ErrorKind, Result};

/// Size of a terminal in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TerminalSize {
    /// Number of rows, 1 to [`TerminalSize::MAX`].
    pub rows: u16,
    /// Number of columns, 1 to [`TerminalSize::MAX`].
    pub columns: u16,
}

impl TerminalSize {
    /// Maximum of both numbers: more than any screen has, and an upper bound for programs that allocate a screen.
    pub const MAX: u16 = 1000;

    /// Creates a size.
    pub const fn new(rows: u16, columns: u16) -> Self {
        Self { rows, columns }
    }

    /// Checks the bounds.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if a number is 0 or larger than [`TerminalSize::MAX`].
    pub fn check(self, operation: &'static str) -> Result<Self> {
        let Self { rows, columns } = self;
        let allowed = 1..=Self::MAX;
        if allowed.contains(&rows) && allowed.contains(&columns) {
            return Ok(self);
        }
        let message =
            format!("a terminal cannot have {rows} rows and {columns} columns; pass numbers from 1 to {}", Self::MAX);
        Err(Error::new(ErrorKind::InvalidRequest, operation, message))
    }
}

impl Default for TerminalSize {
    /// 24 rows and 80 columns.
    fn default() -> Self {
        Self::new(24, 80)
    }
}

/// Returns the error of a backend without terminals. `reason` completes "this backend ...".
pub fn unsupported_terminal(operation: &'static str, reason: &str) -> Error {
    let message = format!("this backend {reason}; spawn the process without a terminal");
    Error::new(ErrorKind::Unsupported, operation, message)
}

/// Returns the error for a process that was spawned without a terminal.
pub fn missing_terminal(operation: &'static str, id: &super::ProcessId) -> Error {
    let message = format!("process {id} has no terminal; spawn it with one");
    Error::new(ErrorKind::InvalidRequest, operation, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_the_bounds_are_rejected() {
        for (rows, columns) in [(0, 80), (24, 0), (1001, 80), (24, u16::MAX)] {
            let error = TerminalSize::new(rows, columns).check("spawn").expect_err("it is out of bounds");
            assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        }
        assert_eq!(TerminalSize::new(1, 1000).check("spawn").ok(), Some(TerminalSize { rows: 1, columns: 1000 }));
    }
}
