//! Limits on the nesting of commands.

use tidebox_rt as rt;

use super::{EvalResult, Shell};

/// Maximum levels of evaluation (commands within commands, substitutions, calls). Endless recursion of `eval`,
/// `source` or calls within compound commands reaches this limit within the engine's 3 MiB of native stack.
const MAX_LEVELS: u32 = 1600;
/// Levels that every engine has room for. Where functions may nest less deep than 1,000, levels are fewer, too.
const MIN_LEVELS: u32 = 200;
/// Levels for `eval`, `source` and traps.
pub(crate) const TEXT_LEVELS: u32 = 2;

impl Shell {
    /// Runs `inner` one level deeper, or ends the shell when it is too deep for the stack.
    pub(crate) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> EvalResult<T>) -> EvalResult<T> {
        self.descend(1, inner)
    }

    /// Runs `inner` this many levels deeper.
    pub(crate) fn descend<T>(&mut self, levels: u32, inner: impl FnOnce(&mut Self) -> EvalResult<T>) -> EvalResult<T> {
        let deep = self.flow.depth + levels;
        if deep > MIN_LEVELS && deep > self.most_levels() {
            rt::nesting_reached();
            return self.abort(1, "evaluation is nested too deeply");
        }
        self.flow.depth += levels;
        let result = inner(self);
        self.flow.depth -= levels;
        result
    }

    fn most_levels(&mut self) -> u32 {
        (self.sandbox_nesting() / 5).saturating_mul(8).clamp(MIN_LEVELS, MAX_LEVELS)
    }

    /// The maximum nesting of functions in the sandbox.
    pub(crate) fn sandbox_nesting(&mut self) -> u32 {
        *self.flow.max_calls.get_or_insert_with(|| rt::limits().map_or(1000, |limits| limits.nesting))
    }
}
