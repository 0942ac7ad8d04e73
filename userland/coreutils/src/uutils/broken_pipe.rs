//! Failure of `seq` and `yes` when no process reads their output.
//!
//! Normally SIGPIPE ends them. If it is ignored, writing fails, which GNU's tools report and uutils' take for success: `yes`
//! without a message. So the ignored signal is caught instead: writing fails too, and the signal shows it.

use tidebox_gnu::message;
use tidebox_rt::Disposition;

const SIGPIPE: u32 = 13;

/// A tool that runs with SIGPIPE ignored.
#[derive(Debug)]
pub(super) struct IgnoredPipe(&'static str);

/// Prepares to notice the failure, if `tool` needs it.
pub(super) fn watch(tool: &'static str) -> Option<IgnoredPipe> {
    if !matches!(tool, "seq" | "yes") || tidebox_rt::startup_info().ignored >> SIGPIPE & 1 == 0 {
        return None;
    }
    tidebox_rt::sig_set(SIGPIPE, Disposition::Note).ok()?;
    Some(IgnoredPipe(tool))
}

impl IgnoredPipe {
    /// Returns the exit code of the tool, and reports the failure if the tool did not.
    pub(super) fn exit_code(&self, code: i32) -> i32 {
        if code != 0 || tidebox_rt::sig_take().unwrap_or(0) >> SIGPIPE & 1 == 0 {
            return code;
        }
        if self.0 == "yes" {
            message::print_error(self.0, "standard output: Broken pipe");
        }
        1
    }
}
