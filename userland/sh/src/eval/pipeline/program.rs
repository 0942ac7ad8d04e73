//! Stages that are programs, which the shell starts without a subshell.

use tidebox_rt::ExitStatus;

use super::Stage;
use crate::builtins;
use crate::ir::{Bytes, Index, Op, Part, Simple, Target, Word};
use crate::state::{EvalResult, Shell, Unwind};

impl Shell {
    /// Returns whether a command is a program whose words, expanded in the shell, would have the same values as in a
    /// subshell and change nothing.
    pub(crate) fn spawns_directly(&mut self, simple: &Simple) -> bool {
        if !simple.pure_words || simple.args.is_empty() {
            return false;
        }
        if self.options.xtrace || simple.builtin.is_some() || self.traps.get(crate::trap::DEBUG).is_some() {
            return false;
        }
        let bodies = simple.redirects.iter().all(|redirect| crate::parse::simple::has_pure_body(redirect, false));
        let Some(crate::ir::Arg::Word(first)) = simple.args.first() else { return false };
        let literal = first.literal().map(<[u8]>::to_vec);
        let Some(name) = literal.or_else(|| self.name_in_variable(first)) else { return false };
        // A name with a percent sign is that of a job.
        let program = name.first() != Some(&b'%');
        bodies && program && !self.functions.by_name.contains_key(name.as_slice()) && builtins::find(&name).is_none()
    }

    /// The name of the program that `$name` or `"$name"` expands to, if it is only that.
    fn name_in_variable(&mut self, word: &Word) -> Option<Bytes> {
        let (parts, quoted) = match word.parts.as_slice() {
            [Part::Double(inner)] => (inner.as_slice(), true),
            parts => (parts, false),
        };
        let [Part::Param(param)] = parts else { return None };
        let (Target::Var(name), Index::None, false, Op::None) =
            (&param.target, &param.index, param.indirect, &param.op)
        else {
            return None;
        };
        let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/._-+".contains(b);
        self.lookup(name).filter(|text| !text.is_empty() && (quoted || text.iter().all(plain)))
    }

    /// Starts a program as a stage. It was asked before whether this is possible without a subshell.
    pub(super) fn spawn_stage(&mut self, simple: &Simple) -> EvalResult<Stage> {
        let outer_line = std::mem::replace(&mut self.line, simple.line);
        let mut expanded = None;
        self.as_subshell(|shell| {
            let args = shell.expand_args(&simple.args)?;
            expanded = shell.redirect(&simple.redirects)?.map(|undo| (args, undo));
            shell.status = 1;
            Ok(())
        })?;
        let Some((args, undo)) = expanded else {
            self.line = outer_line;
            return Ok(Stage::Done(ExitStatus::Exited(self.status)));
        };
        let quiet = std::mem::replace(&mut self.expansion.quiet_locale, true);
        self.vars.push_temporary();
        let started = match self.temporary_assigns(&simple.assigns) {
            Ok(false) if self.options.posix => Err(Unwind::Discard),
            Ok(_) => self.start_program(&args, false),
            Err(stop) => Err(stop),
        };
        self.vars.pop_scope();
        self.expansion.quiet_locale = quiet;
        self.undo(undo);
        self.line = outer_line;
        Ok(match started {
            Ok(Ok(pid)) => Stage::Process(pid),
            Ok(Err(status)) => Stage::Done(ExitStatus::Exited(status)),
            // An error in one stage does not affect the others.
            Err(Unwind::Discard) => {
                self.status = self.status.max(1);
                Stage::Done(ExitStatus::Exited(self.status))
            }
            Err(stop) => return Err(stop),
        })
    }
}
