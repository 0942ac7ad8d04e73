//! Evaluation of IR.

mod assign;
mod compound;
mod cond;
mod coprocess;
mod declaration;
mod external;
mod function;
mod here_text;
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
use crate::state::{Run, Shell, Stop};
use crate::trap;
pub(crate) use declaration::{DeclArg, declared_word};
pub(crate) use external::{death_text, search};
pub(crate) use pipeline::Stage;
pub(crate) use test::{TestFault, binary_test, unary_test};

/// Loops after which output that waits is written out, so that a script that is stopped has shown what it did.
const QUIET_LOOPS: u32 = 256;

impl Shell {
    pub(crate) fn run_list(&mut self, list: &List) -> Run {
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

    pub(crate) fn run_chain(&mut self, chain: &Chain) -> Run {
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

    fn run_pipeline(&mut self, pipeline: &Pipeline) -> Run {
        if let Some(format) = pipeline.timed {
            self.run_timed(pipeline, format)?;
            if self.status != 0 && self.tested == 0 && !pipeline.bang && is_checked(pipeline) {
                self.failed(true)?;
            }
            return Ok(());
        }
        self.run_untimed(pipeline)
    }

    fn run_untimed(&mut self, pipeline: &Pipeline) -> Run {
        if pipeline.bang {
            self.turned = turned_compound(pipeline);
            // Only `set -e` that is on before it makes all that is in it a condition.
            let result = if self.options.errexit {
                self.as_condition(|shell| shell.run_stages(pipeline))
            } else {
                self.run_stages(pipeline)
            };
            self.turned = None;
            let ended = matches!(result, Ok(()) | Err(Stop::Break(_) | Stop::Continue(_)));
            if ended && !std::mem::take(&mut self.unredirected) {
                self.status = u8::from(self.status == 0);
                if tells(pipeline) {
                    self.pipe_status.clear();
                    self.pipe_status.push(self.status);
                }
            }
            return result;
        }
        // A trap that the command itself sets is not for its own failure.
        let trapped = self.traps.get(trap::ERR).is_some();
        self.run_stages(pipeline)?;
        if self.status != 0 && self.tested == 0 && is_checked(pipeline) {
            if trapped && ends_in_subshell(pipeline) {
                // bash runs it for the subshell, too.
                self.run_error_trap()?;
            }
            self.failed(trapped)?;
        }
        Ok(())
    }

    fn run_stages(&mut self, pipeline: &Pipeline) -> Run {
        match pipeline.stages.as_slice() {
            [] => {
                self.status = 0;
                Ok(())
            }
            [only] => {
                self.run_command(only)?;
                // Other compound commands leave what the last pipeline within them left.
                if is_checked(pipeline) && !matches!(only, Command::Function(_)) {
                    self.pipe_status.clear();
                    self.pipe_status.push(self.status);
                }
                Ok(())
            }
            stages => self.run_multi(stages),
        }
    }

    /// A command failed where nobody tested it: the ERR trap, then `set -e`.
    #[inline(never)]
    pub(super) fn failed(&mut self, trapped: bool) -> Run {
        if trapped {
            self.run_error_trap()?;
        }
        (self.traps.by_errexit, self.traps.left_text) = (self.options.errexit, false);
        if self.options.errexit { Err(Stop::Exit) } else { Ok(()) }
    }

    fn run_error_trap(&mut self) -> Run {
        if self.traps.get(trap::ERR).is_some() {
            let outer_line = std::mem::replace(&mut self.line, self.ended_line);
            self.run_trap(trap::ERR)?;
            self.line = outer_line;
        }
        Ok(())
    }

    pub(crate) fn run_command(&mut self, command: &Command) -> Run {
        match command {
            Command::Simple(simple) => self.run_simple(simple),
            Command::Compound(compound) => self.deeper(|shell| shell.run_compound(compound)),
            Command::Function(function) => {
                if function.name.iter().any(|b| matches!(b, b'$' | b'\'' | b'"' | b'\\')) {
                    self.line = self.jobs.line;
                    self.refuse_name(&function.name);
                    self.status = 1;
                    return Ok(());
                }
                self.define_function(function)
            }
        }
    }

    /// Called at every turn of a loop: traps run, and output that has waited long enough is written out.
    pub(crate) fn turn(&mut self) -> Run {
        self.quiet_loops += 1;
        if self.quiet_loops >= QUIET_LOOPS {
            self.quiet_loops = 0;
            self.io.flush();
            self.run_pending_traps()?;
        }
        Ok(())
    }
}

/// Whether a pipeline is one condition, of which `!` is a part.
fn tells(pipeline: &Pipeline) -> bool {
    let [Command::Compound(compound)] = pipeline.stages.as_slice() else { return false };
    matches!(compound.kind, Kind::Cond(_) | Kind::Arith(_))
}

/// Whether a failing pipeline concerns `set -e` itself; in other compound commands the failing part already did.
fn is_checked(pipeline: &Pipeline) -> bool {
    match pipeline.stages.as_slice() {
        [Command::Compound(compound)] => {
            matches!(compound.kind, Kind::Subshell(_) | Kind::Arith(_) | Kind::Cond(_))
        }
        _ => true,
    }
}

/// Whether the last of several stages is a subshell.
fn ends_in_subshell(pipeline: &Pipeline) -> bool {
    match pipeline.stages.as_slice() {
        [_, .., Command::Compound(last)] => matches!(last.kind, Kind::Subshell(_)),
        _ => false,
    }
}

/// The address of the compound command that an exclamation mark stands before.
fn turned_compound(pipeline: &Pipeline) -> Option<usize> {
    match pipeline.stages.as_slice() {
        [Command::Compound(compound)] => Some(std::rc::Rc::as_ptr(compound).addr()),
        _ => None,
    }
}
