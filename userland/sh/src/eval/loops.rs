//! `while`, `until` and both kinds of `for`.

use crate::ir::{Arith, Bytes, List, Name, Word};
use crate::state::{EvalResult, Shell, Unwind};
use crate::vars::{self, Key};

impl Shell {
    /// Runs a loop's body once. Returns whether the loop continues.
    pub(super) fn run_body(&mut self, body: &List) -> EvalResult<bool> {
        self.loop_tick()?;
        match self.run_list(body) {
            Ok(()) => Ok(true),
            Err(Unwind::Break(1)) => Ok(false),
            Err(Unwind::Break(n)) => Err(Unwind::Break(n - 1)),
            Err(Unwind::Continue(1)) => Ok(true),
            Err(Unwind::Continue(n)) => Err(Unwind::Continue(n - 1)),
            Err(stop) => Err(stop),
        }
    }

    /// Runs `inner` as a loop, to which `break` applies.
    pub(super) fn as_loop(&mut self, inner: impl FnOnce(&mut Self) -> EvalResult) -> EvalResult {
        self.flow.loops += 1;
        let result = inner(self);
        self.flow.loops -= 1;
        result
    }

    #[inline(never)]
    pub(super) fn run_loop(&mut self, until: bool, condition: &List, body: &List) -> EvalResult {
        self.as_loop(|shell| {
            let mut status = 0;
            loop {
                match shell.as_condition(|shell| shell.run_list(condition)) {
                    Ok(()) => {}
                    Err(Unwind::Break(1)) => break,
                    // The condition of `until` has come true then.
                    Err(Unwind::Continue(1)) if until => break,
                    Err(Unwind::Continue(1)) => {
                        shell.loop_tick()?;
                        continue;
                    }
                    Err(Unwind::Break(n)) => return Err(Unwind::Break(n - 1)),
                    Err(Unwind::Continue(n)) => return Err(Unwind::Continue(n - 1)),
                    Err(stop) => return Err(stop),
                }
                if (shell.status == 0) == until {
                    break;
                }
                let goes_on = shell.run_body(body)?;
                status = shell.status;
                if !goes_on {
                    break;
                }
            }
            shell.status = status;
            Ok(())
        })
    }

    #[inline(never)]
    pub(super) fn loop_words(&mut self, words: Option<&[Word]>) -> EvalResult<Vec<Bytes>> {
        match words {
            Some(words) => self.expand_words(words),
            None => Ok(self.positional.to_vec()),
        }
    }

    #[inline(never)]
    pub(super) fn run_for(&mut self, name: &Name, words: Option<&[Word]>, body: &List) -> EvalResult {
        if crate::parse::token::name_len(name) != name.len() {
            self.reject_name(name);
            self.status = 1;
            return Ok(());
        }
        let values = self.loop_words(words)?;
        let line = self.line;
        if values.is_empty() {
            self.status = 0;
        }
        self.as_loop(|shell| {
            for value in values {
                shell.line = line;
                if shell.options.xtrace {
                    shell.trace_for("for", name, words);
                }
                if shell.traps.reads_commands() {
                    shell.set_command_text(|| super::trace::for_text("for", name, words));
                    if !shell.run_debug_trap()? {
                        continue;
                    }
                }
                // A nameref variable is set to one target after the other.
                let is_reference = shell.vars.get(name).is_some_and(|var| var.has(vars::NAMEREF));
                let assigned = if is_reference {
                    shell.refer(name, value)?
                } else {
                    shell.assign(name, Key::Whole, false, value)?
                };
                if !assigned {
                    shell.status = shell.rejection_status();
                    return if shell.options.posix { Err(shell.fatal()) } else { Ok(()) };
                }
                if !shell.run_body(body)? {
                    break;
                }
            }
            Ok(())
        })
    }

    #[inline(never)]
    pub(super) fn run_for_arith(&mut self, line: u32, [init, condition, step]: [&Arith; 3], body: &List) -> EvalResult {
        // Only the expressions have this line.
        let outer_line = std::mem::replace(&mut self.line, line);
        // The body initially sees the status from before the loop.
        let before = self.status;
        if self.loop_arith(init)?.is_none() {
            self.line = outer_line;
            return Ok(());
        }
        self.status = before;
        self.as_loop(|shell| {
            let mut status = 0;
            loop {
                shell.line = line;
                if !condition.text.raw.trim_ascii().is_empty() {
                    match shell.loop_arith(condition)? {
                        None => return Ok(()),
                        Some(0) => break,
                        Some(_) => {}
                    }
                }
                shell.line = outer_line;
                let goes_on = shell.run_body(body)?;
                status = shell.status;
                if !goes_on {
                    break;
                }
                shell.line = line;
                if shell.loop_arith(step)?.is_none() {
                    return Ok(());
                }
            }
            shell.status = status;
            Ok(())
        })?;
        self.traps.ended_line = line;
        self.line = outer_line;
        Ok(())
    }

    /// Evaluates one of the three expressions of a loop. `set -x` and the DEBUG trap treat each as a command.
    fn loop_arith(&mut self, arith: &Arith) -> EvalResult<Option<i64>> {
        if self.traps.reads_commands() && !arith.text.parts.is_empty() {
            self.set_command_text(|| [b"((", arith.text.raw.trim_ascii(), b"))"].concat());
            self.run_debug_trap()?;
        }
        let shown = self.traced_arith(arith, arith.text.raw.trim_ascii_start())?;
        self.arith_command(shown.as_ref().unwrap_or(arith), "((")
    }
}
