//! The action at the output limit of a command.

use std::fmt;
use std::str::FromStr;

/// Action when the output of a command exceeds [`Limits::output_bytes`](crate::Limits::output_bytes). The response is marked as
/// `truncated` in any case, and a message on its standard error says what was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OutputOverflow {
    /// Keeps the first bytes and drops the rest. The command continues, and its exit code does not change.
    #[default]
    KeepHead,
    /// Keeps the last bytes. The command continues. A streaming caller receives all output, the response has the last bytes.
    KeepTail,
    /// Keeps the first bytes and kills the command: exit code 137 and
    /// [`StopReason::Output`](crate::StopReason::Output).
    Stop,
}

impl OutputOverflow {
    /// All values.
    pub const ALL: [Self; 3] = [Self::KeepHead, Self::KeepTail, Self::Stop];

    /// Returns a stable name for other languages: `head`, `tail` or `stop`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::KeepHead => "head",
            Self::KeepTail => "tail",
            Self::Stop => "stop",
        }
    }
}

impl fmt::Display for OutputOverflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for OutputOverflow {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|value| value.as_str() == name)
            .ok_or_else(|| format!("unknown action {name:?} at the output limit; expected head, tail or stop"))
    }
}
