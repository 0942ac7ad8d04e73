//! Compound commands.

use crate::expand::lossy;
use crate::ir::{Arith, Arm, ArmEnd, Bytes, Compound, Kind, List, Name, Word};
use crate::pattern::Pattern;
use crate::state::{Run, Shell, Stop};
use crate::vars::{self, Key};

impl Shell {
    pub(crate) fn run_compound(&mut self, compound: &Compound) -> Run {
        if compound.redirects.is_empty() {
            return self.run_at(compound);
        }
        let from = self.process_fds.len();
        let outer = (self.line, self.text_line);
        match compound.kind {
            Kind::Subshell(_) => self.line = compound.line,
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
            return Ok(());
        };
        let result = self.run_at(compound);
        // A failure that ends the shell does so here, with these redirections.
        if result == Err(Stop::Exit) && self.traps.by_errexit && !matches!(compound.kind, Kind::Subshell(_)) {
            self.run_exit_trap();
        }
        self.undo(undo);
        self.drop_process_fds(from);
        result
    }

    /// Runs a compound command; those with words or expressions of their own are on a line for messages.
    fn run_at(&mut self, compound: &Compound) -> Run {
        match &compound.kind {
            Kind::Group(_) | Kind::If { .. } | Kind::Loop { .. } => return self.run_kind(&compound.kind),
            Kind::ForArith { init, condition, step, body } => {
                return self.run_for_arith(compound.line, [init, condition, step], body);
            }
            _ => {}
        }
        let outer_line = std::mem::replace(&mut self.line, compound.line);
        let result = self.run_kind(&compound.kind);
        self.ended_line = compound.line;
        if !matches!(result, Err(Stop::Discard | Stop::Abandon)) {
            self.line = outer_line;
        }
        result
    }

    fn run_kind(&mut self, kind: &Kind) -> Run {
        match kind {
            Kind::Group(list) => self.run_list(list),
            Kind::Subshell(list) => self.run_subshell(list),
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
            self.as_condition(|shell| shell.run_list(condition))?;
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

    /// Runs a loop's body once; false when the loop ends here.
    fn run_body(&mut self, body: &List) -> Run<bool> {
        self.turn()?;
        match self.run_list(body) {
            Ok(()) => Ok(true),
            Err(Stop::Break(1)) => Ok(false),
            Err(Stop::Break(n)) => Err(Stop::Break(n - 1)),
            Err(Stop::Continue(1)) => Ok(true),
            Err(Stop::Continue(n)) => Err(Stop::Continue(n - 1)),
            Err(stop) => Err(stop),
        }
    }

    /// Runs `inner` as a loop, so that `break` knows of it.
    fn as_loop(&mut self, inner: impl FnOnce(&mut Self) -> Run) -> Run {
        self.loops += 1;
        let result = inner(self);
        self.loops -= 1;
        result
    }

    #[inline(never)]
    fn run_loop(&mut self, until: bool, condition: &List, body: &List) -> Run {
        self.as_loop(|shell| {
            let mut status = 0;
            loop {
                match shell.as_condition(|shell| shell.run_list(condition)) {
                    Ok(()) => {}
                    Err(Stop::Break(1)) => break,
                    // The condition of `until` has come true then.
                    Err(Stop::Continue(1)) if until => break,
                    Err(Stop::Continue(1)) => {
                        shell.turn()?;
                        continue;
                    }
                    Err(Stop::Break(n)) => return Err(Stop::Break(n - 1)),
                    Err(Stop::Continue(n)) => return Err(Stop::Continue(n - 1)),
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
    fn loop_words(&mut self, words: Option<&[Word]>) -> Run<Vec<Bytes>> {
        match words {
            Some(words) => self.expand_words(words),
            None => Ok(self.positional.to_vec()),
        }
    }

    #[inline(never)]
    fn run_for(&mut self, name: &Name, words: Option<&[Word]>, body: &List) -> Run {
        if crate::parse::token::name_len(name) != name.len() {
            self.refuse_name(name);
            self.status = 1;
            return Ok(());
        }
        let values = self.loop_words(words).inspect_err(|stop| {
            // bash counts the loop before it expands the words, and on from there when they are given up.
            self.loops += u32::from(*stop == Stop::Discard);
        })?;
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
                if shell.traps.names_commands() {
                    shell.names_command(|| super::trace::for_text("for", name, words));
                    if !shell.run_debug_trap()? {
                        continue;
                    }
                }
                // A reference is made to refer to one word after the other.
                let is_reference = shell.vars.get(name).is_some_and(|var| var.has(vars::NAMEREF));
                let assigned = if is_reference {
                    shell.refer(name, value)
                } else {
                    shell.assign(name, Key::Whole, false, value)?
                };
                if !assigned {
                    shell.status = shell.status_of_refusal();
                    return if shell.options.posix {
                        Err(shell.fatal())
                    } else if shell.options.errexit && shell.tested == 0 {
                        Err(Stop::Exit)
                    } else {
                        Ok(())
                    };
                }
                if !shell.run_body(body)? {
                    break;
                }
            }
            Ok(())
        })
    }

    #[inline(never)]
    fn run_for_arith(&mut self, line: u32, [init, condition, step]: [&Arith; 3], body: &List) -> Run {
        // Only the expressions are on a line of their own.
        let outer_line = std::mem::replace(&mut self.line, line);
        // What the body sees first is the status from before the loop.
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
        self.ended_line = line;
        self.line = outer_line;
        Ok(())
    }

    /// One of the three expressions of a loop, each of which is a command to `set -x` and the DEBUG trap.
    fn loop_arith(&mut self, arith: &Arith) -> Run<Option<i64>> {
        if self.traps.names_commands() && !arith.text.parts.is_empty() {
            self.names_command(|| [b"((", arith.text.raw.trim_ascii(), b"))"].concat());
            self.run_debug_trap()?;
        }
        let shown = self.traced_arith(arith, arith.text.raw.trim_ascii_start())?;
        self.arith_command(shown.as_ref().unwrap_or(arith), "((")
    }

    #[inline(never)]
    fn run_select(&mut self, name: &Name, words: Option<&[Word]>, body: &List) -> Run {
        if self.options.xtrace {
            self.trace_for("select", name, words);
        }
        let values = self.loop_words(words)?;
        if values.is_empty() {
            self.status = 0;
            return Ok(());
        }
        self.names_command(|| super::trace::for_text("select", name, words));
        if !self.run_debug_trap()? {
            return Ok(());
        }
        self.as_loop(|shell| {
            let mut show = true;
            loop {
                if show {
                    shell.show_menu(&values);
                }
                let prompt = shell.lookup(b"PS3").unwrap_or_else(|| b"#? ".to_vec());
                // Where standard error is closed there is nobody to prompt.
                let _ = shell.io.write(2, &prompt);
                let Some(line) = shell.read_line(0)? else {
                    let _ = shell.io.write(1, b"\n");
                    shell.status = 1;
                    return Ok(());
                };
                shell.assign(&Name::from(&b"REPLY"[..]), Key::Whole, false, line.clone())?;
                show = line.is_empty();
                if show {
                    continue;
                }
                let chosen = crate::parse::plain_number(line.trim_ascii())
                    .and_then(|n| usize::try_from(n).ok()?.checked_sub(1))
                    .and_then(|at| values.get(at).cloned());
                if !shell.assign(name, Key::Whole, false, chosen.unwrap_or_default())? {
                    shell.status = 1;
                    return Ok(());
                }
                if !shell.run_body(body)? {
                    return Ok(());
                }
            }
        })
    }

    /// The numbered choices of `select`, in columns as bash lays them out: with tabs, and the first column no wider than
    /// its own numbers need.
    #[inline(never)]
    fn show_menu(&mut self, values: &[Bytes]) {
        let screen = self.lookup(b"COLUMNS").and_then(|text| crate::parse::plain_number(&text));
        let screen = screen.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).unwrap_or(80);
        let digits = values.len().to_string().len();
        let widest = values.iter().map(|v| lossy(v).chars().count()).max().unwrap_or(0);
        let width = widest + digits + 2 + 2;
        let columns = (screen / width.max(1)).max(1);
        let mut rows = values.len().div_ceil(columns).max(1);
        if rows == 1 {
            rows = values.len();
        }
        let first_digits = rows.to_string().len();
        let mut text = String::new();
        for row in 0..rows {
            let mut at = 0;
            for index in (row..values.len()).step_by(rows) {
                let digits = if index < rows { first_digits } else { digits };
                let Some(value) = values.get(index) else { break };
                let entry = format!("{:digits$}) {}", index + 1, lossy(value));
                text.push_str(&entry);
                let column = (index / rows) * width;
                at = at.max(column) + entry.chars().count();
                if index + rows < values.len() {
                    blanks(&mut text, at, column + width);
                    at = column + width;
                }
            }
            text.push('\n');
        }
        let _ = self.io.write(2, text.as_bytes());
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
            self.names_command(|| [b"((", &arith.text.raw[..], b"))"].concat());
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
        result
    }
}

/// Goes from one column of the screen to another with as many tabs as possible.
fn blanks(text: &mut String, from: usize, to: usize) {
    let mut at = from;
    while at < to {
        if to / 8 > at / 8 {
            text.push('\t');
            at += 8 - at % 8;
        } else {
            text.push(' ');
            at += 1;
        }
    }
}
