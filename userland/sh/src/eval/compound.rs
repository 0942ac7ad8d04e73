//! Compound commands.

use crate::ir::{Arith, Arm, ArmEnd, Bytes, Compound, Kind, List, Word};
use crate::pattern::Pattern;
use crate::state::{EvalResult, Shell};

impl Shell {
    pub(crate) fn run_compound(&mut self, compound: &Compound) -> EvalResult {
        // A subshell applies its own redirections.
        if compound.redirects.is_empty() || matches!(compound.kind, Kind::Subshell(_)) {
            return self.run_at(compound);
        }
        let from = self.expansion.process_fds.len();
        let redirected = self.redirect(&compound.redirects);
        let Some(undo) = redirected? else {
            self.status = 1;
            // The failure of the others counts in `run_pipeline`.
            let counted = matches!(compound.kind, Kind::Arith(_) | Kind::Cond(_));
            let fails = !counted && self.flow.conditions == 0;
            return if fails { self.failed(self.traps.get(crate::trap::ERR).is_some()) } else { Ok(()) };
        };
        let result = self.run_at(compound);
        self.undo(undo);
        self.drop_process_fds(from);
        result
    }

    /// Runs a compound command. One with its own words or expressions sets the line for messages.
    fn run_at(&mut self, compound: &Compound) -> EvalResult {
        match &compound.kind {
            Kind::Group(_) | Kind::If { .. } | Kind::Loop { .. } => return self.run_kind(compound),
            Kind::ForArith { init, condition, step, body } => {
                return self.run_for_arith(compound.line, [init, condition, step], body);
            }
            _ => {}
        }
        let outer_line = std::mem::replace(&mut self.line, compound.line);
        let result = self.run_kind(compound);
        self.traps.ended_line = compound.line;
        self.line = outer_line;
        result
    }

    fn run_kind(&mut self, compound: &Compound) -> EvalResult {
        match &compound.kind {
            Kind::Group(list) => self.run_list(list),
            Kind::Subshell(list) => self.run_subshell(list, &compound.redirects),
            Kind::If { arms, else_body } => self.run_if(arms, else_body.as_ref()),
            Kind::Loop { until, condition, body } => self.run_loop(*until, condition, body),
            Kind::For { name, words, body } => self.run_for(name, words.as_deref(), body),
            Kind::Select { name, words, body } => self.run_select(name, words.as_deref(), body),
            Kind::ForArith { init, condition, step, body } => {
                self.run_for_arith(self.line, [init, condition, step], body)
            }
            Kind::Case { word, arms } => self.run_case(word, arms),
            Kind::Arith(arith) => self.run_arith(arith),
            Kind::Cond(cond) => self.run_cond(cond),
            Kind::Coproc { name, body } => self.run_coprocess(name, body),
        }
    }

    #[inline(never)]
    fn run_if(&mut self, arms: &[(List, List)], else_body: Option<&List>) -> EvalResult {
        for (condition, body) in arms {
            self.as_condition(|shell| shell.run_list(condition))?;
            if self.status == 0 {
                return self.run_list(body);
            }
        }
        match else_body {
            Some(body) => self.run_list(body),
            None => {
                self.status = 0;
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn run_case(&mut self, word: &Word, arms: &[Arm]) -> EvalResult {
        if self.options.xtrace {
            self.trace_raw(&[b"case ", &word.raw[..], b" in"].concat());
        }
        if self.traps.reads_commands() {
            self.set_command_text(|| [b"case ", &word.raw[..], b" in "].concat());
            if !self.run_debug_trap()? {
                return Ok(());
            }
        }
        let subject = self.expand_text(word)?;
        let style = self.pattern_style();
        let (mut fall, mut ran) = (false, false);
        for arm in arms {
            if !fall {
                let mut found = false;
                for pattern in &arm.patterns {
                    found = match pattern.literal() {
                        Some(text) if !style.fold && !text.iter().any(|b| b"*?[\\@!+(".contains(b)) => text == subject,
                        _ => {
                            let text = self.expand_pattern(pattern)?;
                            Pattern::new(&text, style).matches(&subject)
                        }
                    };
                    if found {
                        break;
                    }
                }
                if !found {
                    continue;
                }
            }
            self.run_list(&arm.body)?;
            ran = !arm.body.items.is_empty();
            match arm.end {
                ArmEnd::Leave => break,
                ArmEnd::Fall => fall = true,
                ArmEnd::Test => fall = false,
            }
        }
        if !ran {
            self.status = 0;
        }
        Ok(())
    }

    #[inline(never)]
    fn run_arith(&mut self, arith: &Arith) -> EvalResult {
        if self.traps.reads_commands() {
            self.set_command_text(|| [b"((", &arith.text.raw[..], b"))"].concat());
            if !self.run_debug_trap()? {
                return Ok(());
            }
        }
        let shown = self.traced_arith(arith, &arith.text.raw)?;
        if let Some(value) = self.arith_command(shown.as_ref().unwrap_or(arith), "((")? {
            self.status = u8::from(value == 0);
        }
        Ok(())
    }

    /// The value of an expression that is a command; `None` after an error, which is only the command's failure.
    #[inline(never)]
    pub(crate) fn arith_command(&mut self, arith: &Arith, name: &str) -> EvalResult<Option<i64>> {
        use crate::expand::Fault;
        let outer = std::mem::replace(&mut self.builtin.name, "((");
        let value = self.arith_value(arith);
        self.builtin.name = outer;
        match value {
            Ok(value) => Ok(Some(value)),
            Err(Fault::Stop(stop)) => Err(stop),
            Err(Fault::Reported) => {
                self.status = 1;
                Ok(None)
            }
            Err(Fault::Message(text)) => {
                self.report_error([name.as_bytes(), b": ", &text].concat());
                self.status = 1;
                Ok(None)
            }
        }
    }

    /// Calls a function's body with its own positional parameters; see `function.rs` for scopes.
    pub(crate) fn with_positional(
        &mut self,
        words: Vec<Bytes>,
        inner: impl FnOnce(&mut Self) -> EvalResult,
    ) -> EvalResult {
        let saved = std::mem::replace(&mut self.positional, words.into());
        let result = inner(self);
        self.positional = saved;
        self.positional.chosen = false;
        result
    }
}
