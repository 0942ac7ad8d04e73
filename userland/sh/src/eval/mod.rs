//! Evaluation of IR.

mod assign;
mod compound;
mod cond;
mod coprocess;
mod declaration;
mod external;
mod function;
mod here_document;
mod loops;
mod pipeline;
mod redirect;
mod select;
mod simple;
mod subshell;
mod test;
mod text;
mod timing;
pub(crate) mod trace;

use crate::ir::{Chain, Command, Join, Kind, List, Pipeline};
use crate::state::{EvalResult, Shell, Unwind};
use crate::trap;
pub(crate) use declaration::{DeclArg, declared_word};
pub(crate) use external::{death_text, search};
pub(crate) use pipeline::Stage;
pub(crate) use test::{TestFault, binary_test, unary_test};

/// Iterations after which buffered output is flushed, so that a stopped script has shown its progress.
const QUIET_LOOPS: u32 = 256;

impl Shell {
    pub(crate) fn run_list(&mut self, list: &List) -> EvalResult {
        for item in &list.items {
            if self.options.noexec {
                return Ok(());
            }
            if item.background {
                self.run_background(&item.chain)?;
            } else {
                self.run_chain(&item.chain)?;
            }
        }
        Ok(())
    }

    pub(crate) fn run_chain(&mut self, chain: &Chain) -> EvalResult {
        if chain.rest.is_empty() {
            return self.run_pipeline(&chain.first);
        }
        self.as_condition(|shell| shell.run_pipeline(&chain.first))?;
        for (at, (join, pipeline)) in chain.rest.iter().enumerate() {
            if (*join == Join::And) != (self.status == 0) {
                continue;
            }
            if at + 1 == chain.rest.len() {
                self.run_pipeline(pipeline)?;
            } else {
                self.as_condition(|shell| shell.run_pipeline(pipeline))?;
            }
        }
        Ok(())
    }

    fn run_pipeline(&mut self, pipeline: &Pipeline) -> EvalResult {
        if let Some(format) = pipeline.timed {
            self.run_timed(pipeline, format)?;
            if self.status != 0 && self.flow.conditions == 0 && !pipeline.bang && is_checked(pipeline) {
                self.failed(true)?;
            }
            return Ok(());
        }
        self.run_untimed(pipeline)
    }

    fn run_untimed(&mut self, pipeline: &Pipeline) -> EvalResult {
        if pipeline.bang {
            // Only `set -e` that is on before it makes all that is in it a condition.
            let result = if self.options.errexit {
                self.as_condition(|shell| shell.run_stages(pipeline))
            } else {
                self.run_stages(pipeline)
            };
            let ended = matches!(result, Ok(()) | Err(Unwind::Break(_) | Unwind::Continue(_)));
            if ended {
                self.status = u8::from(self.status == 0);
                if is_negated_condition(pipeline) {
                    self.pipe_status.clear();
                    self.pipe_status.push(self.status);
                }
            }
            return result;
        }
        // A trap that the command itself sets is not for its own failure.
        let trapped = self.traps.get(trap::ERR).is_some();
        self.run_stages(pipeline)?;
        if self.status != 0 && self.flow.conditions == 0 && is_checked(pipeline) {
            self.failed(trapped)?;
        }
        Ok(())
    }

    fn run_stages(&mut self, pipeline: &Pipeline) -> EvalResult {
        match pipeline.stages.as_slice() {
            [] => {
                self.status = 0;
                Ok(())
            }
            [only] => {
                self.run_command(only)?;
                // Other compound commands keep `PIPESTATUS` of the last pipeline within them.
                if is_checked(pipeline) && !matches!(only, Command::Function(_)) {
                    self.pipe_status.clear();
                    self.pipe_status.push(self.status);
                }
                Ok(())
            }
            stages => self.run_multi(stages),
        }
    }

    /// Handles a failed command outside of conditions: runs the ERR trap, then applies `set -e`.
    #[inline(never)]
    pub(super) fn failed(&mut self, trapped: bool) -> EvalResult {
        if trapped {
            self.run_error_trap()?;
        }
        if !self.options.errexit {
            return Ok(());
        }
        // The trap sees the redirections and local variables of the command.
        self.run_exit_trap();
        Err(Unwind::Exit)
    }

    fn run_error_trap(&mut self) -> EvalResult {
        if self.traps.get(trap::ERR).is_some() {
            let outer_line = std::mem::replace(&mut self.line, self.traps.ended_line);
            self.run_trap(trap::ERR)?;
            self.line = outer_line;
        }
        Ok(())
    }

    pub(crate) fn run_command(&mut self, command: &Command) -> EvalResult {
        match command {
            Command::Simple(simple) => self.run_simple(simple),
            Command::Compound(compound) => self.deeper(|shell| shell.run_compound(compound)),
            Command::Function(function) => {
                if function.name.iter().any(|b| matches!(b, b'$' | b'\'' | b'"' | b'\\')) {
                    self.reject_name(&function.name);
                    self.status = 1;
                    return Ok(());
                }
                self.define_function(function)
            }
        }
    }

    /// Called at every iteration of a loop: runs traps and flushes old output.
    pub(crate) fn loop_tick(&mut self) -> EvalResult {
        self.flow.unflushed_loops += 1;
        if self.flow.unflushed_loops >= QUIET_LOOPS {
            self.flow.unflushed_loops = 0;
            self.io.flush();
            self.run_pending_traps()?;
        }
        Ok(())
    }
}

/// Returns whether a pipeline is one condition, whose status includes `!`.
fn is_negated_condition(pipeline: &Pipeline) -> bool {
    let [Command::Compound(compound)] = pipeline.stages.as_slice() else { return false };
    matches!(compound.kind, Kind::Cond(_) | Kind::Arith(_))
}

/// Returns whether `set -e` applies to a failing pipeline as a whole. In other compound commands it applies to the part that
/// failed.
fn is_checked(pipeline: &Pipeline) -> bool {
    match pipeline.stages.as_slice() {
        [Command::Compound(compound)] => {
            matches!(compound.kind, Kind::Subshell(_) | Kind::Arith(_) | Kind::Cond(_))
        }
        _ => true,
    }
}
