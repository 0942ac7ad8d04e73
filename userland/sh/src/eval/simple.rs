//! Simple commands.

mod assign;
mod builtin;

use std::rc::Rc;

use crate::builtins::{self, Builtin, Call};
use crate::function::Function;
use crate::ir::{Bytes, Simple};
use crate::state::{Current, EvalResult, Shell, Unwind};
use builtin::is_bare_exec;

impl Shell {
    pub(crate) fn run_simple(&mut self, simple: &Rc<Simple>) -> EvalResult {
        let outer_line = std::mem::replace(&mut self.line, simple.line);
        if !self.traps.in_progress() {
            self.traps.command = Some(Current::Simple(Rc::clone(simple)));
        }
        let debugged = std::mem::take(&mut self.process.debug_trap_ran);
        if !debugged && self.traps.get(crate::trap::DEBUG).is_some() && !self.run_debug_trap()? {
            return Ok(());
        }
        self.expansion.substitution_status = None;
        let from = self.expansion.process_fds.len();
        let result = self.run_expanded(simple);
        if self.expansion.process_fds.len() > from {
            self.drop_process_fds(from);
        }
        self.traps.ended_line = self.line;
        if self.traps.waits_for_children() && result.is_ok() {
            self.run_pending_traps()?;
        }
        self.line = outer_line;
        result
    }

    fn run_expanded(&mut self, simple: &Simple) -> EvalResult {
        let args = self.expand_args(&simple.args)?;
        if args.is_empty() {
            return self.run_assignments(simple);
        }
        if simple.assigns.is_empty() {
            return self.run_words(simple, args);
        }
        let args_name_special = args.first().is_some_and(|name| builtins::is_special(name));
        // Variables for programs do not change the locale of the shell, unless it has set its own.
        let own = args
            .first()
            .is_some_and(|name| builtins::find(name).is_some() || self.functions.by_name.contains_key(name.as_slice()));
        let tells = own || self.vars.get(b"LC_ALL").is_some();
        let quiet = std::mem::replace(&mut self.expansion.quiet_locale, !tells);
        let bytes = crate::character::in_bytes();
        self.vars.push_temporary();
        let assigned = self.temporary_assigns(&simple.assigns);
        self.expansion.quiet_locale = quiet;
        let result = match assigned {
            // In posix mode the command does not run, and without a special builtin the shell does not either.
            Ok(false) if self.options.posix => {
                self.status = if args_name_special { self.rejection_status() } else { 1 };
                let stop = if args_name_special { self.fatal() } else { Unwind::Discard };
                Err(stop)
            }
            Ok(_) => self.run_words(simple, args),
            Err(stop) => Err(stop),
        };
        if self.options.posix && args_name_special {
            // There such assignments stay.
            for assign in &simple.assigns {
                self.vars.keep(&assign.name);
                if !self.vars.is_local(&assign.name) {
                    self.vars.keep_temporary(&assign.name);
                }
            }
        }
        self.vars.pop_scope();
        // Restores the locale from before the command.
        if crate::character::locale_touched() {
            crate::character::set_bytes(bytes);
        }
        // Output captured in memory represents a process that would have exited.
        self.expansion.quiet_locale = !own || self.process.forked || self.io.is_capturing();
        simple.assigns.iter().for_each(|assign| self.variable_changed(&assign.name));
        self.expansion.quiet_locale = quiet;
        result
    }

    /// Runs a command whose words are expanded and whose assignments are in force.
    fn run_words(&mut self, simple: &Simple, args: Vec<Bytes>) -> EvalResult {
        let Some(name) = args.first() else { return Ok(()) };
        if self.options.xtrace && !simple.declares {
            self.trace_words(&args);
        }
        if name.first() == Some(&b'%') && !self.process.is_stage {
            return self.resume_job(simple, &args);
        }
        if !self.functions.by_name.is_empty()
            && let Some(function) = self.functions.by_name.get(name.as_slice()).map(Rc::clone)
            && !(self.options.posix && builtins::is_special(name))
        {
            return self.run_function(simple, &function, args);
        }
        let builtin = match simple.builtin {
            Some(builtin) => Some(builtin),
            None => builtins::find(name),
        };
        match builtin
            .filter(|builtin| self.builtin.disabled.is_empty() || !self.builtin.disabled.contains(builtin.name))
        {
            Some(builtin) if builtin.name == "exec" => self.run_exec(simple, &args),
            Some(builtin) if simple.redirects.is_empty() => self.call_simple(builtin, simple, &args),
            // Redirections of `exec` stay, also in `command exec`.
            Some(builtin) if builtin.name == "command" && is_bare_exec(&args) => {
                if !self.redirect_for_good(&simple.redirects)? {
                    self.status = 1;
                    return Ok(());
                }
                self.call_simple(builtin, simple, &args)
            }
            Some(builtin @ Builtin { call: Call::Declare(_), .. }) if simple.declares => {
                self.run_declaration(builtin, simple, &args)
            }
            Some(builtin) => self.run_builtin(builtin, simple, &args),
            None => self.run_external(simple, &args),
        }
    }

    /// A call of a function, with the redirections of the call.
    fn run_function(&mut self, simple: &Simple, function: &Rc<Function>, args: Vec<Bytes>) -> EvalResult {
        let last = args.last().cloned();
        // A function in a pipeline is a subshell; the expansion of its words was not.
        self.process.subshell += u32::from(std::mem::take(&mut self.process.is_stage));
        let result = self.with_redirects(simple, |shell| shell.call_function(function, args));
        self.computed.last_arg = last.unwrap_or_default();
        result.map(drop)
    }

    /// Resumes the job that the name of the command denotes, as `fg` does.
    #[inline(never)]
    fn resume_job(&mut self, simple: &Simple, args: &[Bytes]) -> EvalResult {
        let name = b"fg";
        let Some(builtin) = builtins::find(name) else { return Ok(()) };
        let words = [&[name.to_vec()], args].concat();
        self.with_redirects(simple, |shell| shell.call_builtin(builtin, &words)).map(drop)
    }

    /// The status of a rejected assignment. In posix mode it ends the shell; a command string has a different status.
    pub(super) fn rejection_status(&self) -> u8 {
        let string =
            self.options.posix && self.options.from_string && !self.options.interactive && !self.process.forked;
        if string { 127 } else { 1 }
    }

    /// Applies the redirections of a command. Assignments before the command do not affect their words.
    pub(super) fn redirect_command(&mut self, simple: &Simple) -> EvalResult<Option<super::redirect::Undo>> {
        if simple.assigns.is_empty() || simple.redirects.is_empty() {
            return self.redirect(&simple.redirects);
        }
        self.vars.swap_newest();
        let undo = self.redirect(&simple.redirects);
        self.vars.swap_newest();
        undo
    }

    /// Runs `inner` in the shell with the redirections applied. Returns whether they could be applied.
    #[inline(never)]
    fn with_redirects(&mut self, simple: &Simple, inner: impl FnOnce(&mut Self) -> EvalResult) -> EvalResult<bool> {
        let Some(undo) = self.redirect_command(simple)? else {
            self.status = 1;
            return Ok(false);
        };
        let result = inner(self);
        self.undo(undo);
        result.map(|()| true)
    }
}
