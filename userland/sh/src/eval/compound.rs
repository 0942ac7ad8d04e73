//! Compound commands.

use crate::ir::{Arith, Arm, ArmEnd, Bytes, Compound, Kind, List, Word};
use crate::pattern::Pattern;
use crate::state::{Run, Shell, Stop};

impl Shell {
    pub(crate) fn run_compound(&mut self, compound: &Compound) -> Run {
        // Those of a subshell are its own.
        if compound.redirects.is_empty() || matches!(compound.kind, Kind::Subshell(_)) {
            return self.run_at(compound);
        }
        let from = self.process_fds.len();
        let outer = (self.line, self.text_line);
        match compound.kind {
            Kind::ForArith { .. } | Kind::Arith(_) | Kind::Cond(_) => {
                self.text_line = Some(self.line);
                self.line = compound.line;
            }
            _ => {}
        }
        let redirected = self.redirect(&compound.redirects);
        if !matches!(redirected, Err(Stop::Discard | Stop::Abandon)) {
            self.line = outer.0;
        }
        self.text_line = outer.1;
        let Some(undo) = redirected? else {
            self.status = 1;
            return self.compound_failed(compound);
        };
        let result = self.run_at(compound);
        // A failure that ends the shell does so here, with these redirections.
        if result == Err(Stop::Exit) && self.traps.by_errexit && self.ends_here() {
            self.run_exit_trap();
        }
        self.undo(undo);
        self.drop_process_fds(from);
        result
    }

    /// Redirections of a compound command could not be made. Where its own failure counts for nothing, this one does.
    #[cold]
    fn compound_failed(&mut self, compound: &Compound) -> Run {
        if self.turned == Some(std::ptr::from_ref(compound).addr()) {
            // An exclamation mark before it turns no status then, nor is the failure one for the ERR trap.
            self.unredirected = true;
            return Ok(());
        }
        let counts = matches!(compound.kind, Kind::Subshell(_) | Kind::Arith(_) | Kind::Cond(_));
        if counts || self.tested > 0 {
            return Ok(());
        }
        self.failed(self.traps.get(crate::trap::ERR).is_some())
    }

    /// Runs a compound command; those with words or expressions of their own are on a line for messages.
    fn run_at(&mut self, compound: &Compound) -> Run {
        match &compound.kind {
            Kind::Group(_) | Kind::If { .. } | Kind::Loop { .. } => return self.run_kind(compound),
            Kind::ForArith { init, condition, step, body } => {
                return self.run_for_arith(compound.line, [init, condition, step], body);
            }
            _ => {}
        }
        let outer_line = std::mem::replace(&mut self.line, compound.line);
        let told_line = self.jobs.line;
        if matches!(compound.kind, Kind::For { .. } | Kind::Select { .. } | Kind::Case { .. }) {
            self.jobs.line = compound.line;
        }
        let result = self.run_kind(compound);
        self.jobs.line = told_line;
        self.ended_line = compound.line;
        if !matches!(result, Err(Stop::Discard | Stop::Abandon)) {
            self.line = outer_line;
        }
        result
    }

    fn run_kind(&mut self, compound: &Compound) -> Run {
        match &compound.kind {
            Kind::Group(list) => self.run_list(list),
            Kind::Subshell(list) => self.run_subshell(list, &compound.redirects),
            Kind::If { arms, otherwise } => self.run_if(arms, otherwise.as_ref()),
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
    fn run_if(&mut self, arms: &[(List, List)], otherwise: Option<&List>) -> Run {
        for (condition, body) in arms {
            let (line, recounts) = (self.line, self.recounts);
            self.as_condition(|shell| shell.run_list(condition))?;
            if self.recounts {
                // From a condition bash comes back to its line, whatever ran there.
                (self.line, self.recounts) = (line, recounts);
            }
            if self.status == 0 {
                return self.run_list(body);
            }
        }
        match otherwise {
            Some(body) => self.run_list(body),
            None => {
                self.status = 0;
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn run_case(&mut self, word: &Word, arms: &[Arm]) -> Run {
        if self.options.xtrace {
            self.trace_raw(&[b"case ", &super::trace::written(&word.raw)[..], b" in"].concat());
        }
        if self.traps.names_commands() {
            self.names_command(|| [b"case ", &super::trace::written(&word.raw)[..], b" in "].concat());
            if !self.run_debug_trap()? {
                return Ok(());
            }
        }
        let subject = self.expand_subject(word)?;
        let style = self.pattern_style();
        let (mut fall, mut ran) = (false, false);
        for arm in arms {
            if !fall {
                let mut found = false;
                for pattern in &arm.patterns {
                    found = match pattern.literal() {
                        Some(text) if !style.fold && !text.iter().any(|b| b"*?[\\@!+(".contains(b)) => text == subject,
                        _ => {
                            let text = self.expand_arm(pattern)?;
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
    fn run_arith(&mut self, arith: &Arith) -> Run {
        if self.traps.names_commands() {
            self.names_command(|| [b"((", &crate::print::word(&arith.text.raw)[..], b"))"].concat());
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
    pub(crate) fn arith_command(&mut self, arith: &Arith, name: &str) -> Run<Option<i64>> {
        use crate::expand::Fault;
        let outer = std::mem::replace(&mut self.running, "((");
        let value = self.arith_value(arith);
        self.running = outer;
        match value {
            Ok(value) => Ok(Some(value)),
            Err(Fault::Stop(stop)) => Err(stop),
            Err(Fault::Reported) => {
                self.status = 1;
                Ok(None)
            }
            Err(Fault::Message(text)) => {
                self.complain([name.as_bytes(), b": ", &text].concat());
                self.status = 1;
                Ok(None)
            }
            Err(Fault::Zero(_) | Fault::Exponent(_)) => {
                self.complain([name.as_bytes(), b": division by 0"].concat());
                self.status = 1;
                Ok(None)
            }
        }
    }

    /// Calls a function's body with its own positional parameters; see `function.rs` for scopes.
    pub(crate) fn with_positional(&mut self, words: Vec<Bytes>, inner: impl FnOnce(&mut Self) -> Run) -> Run {
        let saved = std::mem::replace(&mut self.positional, words.into());
        let result = inner(self);
        self.positional = saved;
        self.positional.chosen = false;
        result
    }
}
