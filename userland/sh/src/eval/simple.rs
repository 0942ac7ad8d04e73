//! Simple commands.

mod assign;
mod builtin;

use std::rc::Rc;

use super::declaration::gather_assignments;
use crate::builtins::{self, Builtin, Call};
use crate::function::Function;
use crate::ir::{Bytes, Simple};
use crate::state::{Current, Run, Shell, Stop};
use builtin::is_bare_exec;

impl Shell {
    pub(crate) fn run_simple(&mut self, simple: &Rc<Simple>) -> Run {
        let mut line = simple.line;
        if self.options.interactive && self.function_start > 0 && self.sourcing == 0 {
            line = line.saturating_sub(self.function_start).saturating_add(1);
        }
        let outer_line = std::mem::replace(&mut self.line, line);
        if let Some(frame) = self.frames.last_mut() {
            frame.commands = frame.commands.saturating_add(1);
        }
        if !self.traps.in_progress() {
            self.current = Some(Current::Simple(Rc::clone(simple)));
        }
        let debugged = std::mem::take(&mut self.debugged);
        if !debugged && self.traps.get(crate::trap::DEBUG).is_some() && !self.run_debug_trap()? {
            return Ok(());
        }
        self.substituted = None;
        let from = self.process_fds.len();
        let result = self.run_expanded(simple);
        if self.process_fds.len() > from {
            self.drop_process_fds(from);
        }
        self.ended_line = self.line;
        if self.traps.waits_for_children() && result.is_ok() {
            self.run_pending_traps()?;
        }
        // After an error that gives the command up, lines are counted on from here.
        if !matches!(result, Err(Stop::Discard | Stop::Abandon)) {
            self.line = outer_line;
        }
        result
    }

    fn run_expanded(&mut self, simple: &Simple) -> Run {
        if self.options.keyword
            && let Some(simple) = gather_assignments(simple)
        {
            return self.run_gathered(&simple);
        }
        self.run_gathered(simple)
    }

    fn run_gathered(&mut self, simple: &Simple) -> Run {
        let args = match self.expand_args(&simple.args) {
            Ok(args) => args,
            Err(stop) => return self.words_failed(simple, stop),
        };
        if args.is_empty() {
            return self.run_assignments(simple);
        }
        if simple.assigns.is_empty() {
            return self.run_words(simple, args);
        }
        let args_name_special = args.first().is_some_and(|name| builtins::is_special(name));
        // What programs are given is nothing to the shell, unless it has a locale of its own.
        let own = args
            .first()
            .is_some_and(|name| builtins::find(name).is_some() || self.functions.contains_key(name.as_slice()));
        let tells = own || self.vars.get(b"LC_ALL").is_some();
        let quiet = std::mem::replace(&mut self.quiet_locale, !tells);
        let bytes = crate::character::in_bytes();
        self.vars.push_temporary();
        let assigned = self.temporary_assigns(&simple.assigns);
        self.quiet_locale = quiet;
        let result = match assigned {
            // In posix mode the command does not run, and without a special builtin the shell does not either.
            Ok(false) if self.options.posix => {
                self.status = if args_name_special { self.status_of_refusal() } else { 1 };
                let stop = if args_name_special { self.fatal() } else { Stop::Discard };
                self.words_failed(simple, stop)
            }
            Ok(_) => self.run_words(simple, args),
            Err(stop) => self.words_failed(simple, stop),
        };
        if self.options.posix && args_name_special {
            // There such assignments stay.
            for assign in &simple.assigns {
                self.vars.keep(&assign.name);
                if !self.vars.is_local(&assign.name) {
                    self.vars.keep_lent(&assign.name);
                }
            }
        }
        self.vars.pop_scope();
        // What was assigned for the command alone has its old meaning again.
        if crate::character::locale_touched() {
            crate::character::set_bytes(bytes);
        }
        // Output that is taken in memory stands for a process that would have ended.
        self.quiet_locale = !own || self.forked || self.io.is_capturing();
        simple.assigns.iter().for_each(|assign| self.note_changed(&assign.name));
        self.quiet_locale = quiet;
        result
    }

    /// Runs a command whose words are expanded and whose assignments are in force.
    fn run_words(&mut self, simple: &Simple, args: Vec<Bytes>) -> Run {
        let Some(name) = args.first() else { return Ok(()) };
        let background = std::mem::replace(&mut self.expands_alone, false);
        if self.options.xtrace && !simple.declares {
            self.trace_words(&args);
        }
        if name.first() == Some(&b'%') && !self.piped {
            return self.resume_job(simple, &args, background);
        }
        if !self.functions.is_empty()
            && let Some(function) = self.functions.get(name.as_slice()).map(Rc::clone)
            && !(self.options.posix && builtins::is_special(name))
        {
            self.piped &= !background;
            return self.run_function(simple, &function, args);
        }
        let builtin = match simple.builtin {
            Some(builtin) => Some(builtin),
            None => builtins::find(name),
        };
        match builtin.filter(|builtin| self.disabled.is_empty() || !self.disabled.contains(builtin.name)) {
            Some(builtin) if builtin.name == "exec" => self.run_exec(simple, &args),
            Some(builtin) if simple.redirects.is_empty() => self.call_simple(builtin, simple, &args),
            // Redirections of `exec` stay, also where it is called by `command`.
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
    fn run_function(&mut self, simple: &Simple, function: &Rc<Function>, args: Vec<Bytes>) -> Run {
        let last = args.last().cloned();
        // A function in a pipeline is a subshell; the words of its call were none.
        self.subshell += u32::from(std::mem::take(&mut self.piped));
        let redirected = u32::from(!simple.redirects.is_empty());
        self.traps.redirected_calls += redirected;
        let result = self.with_redirects(simple, |shell| shell.call_function(function, args));
        self.traps.redirected_calls -= redirected;
        self.last_arg = last.unwrap_or_default();
        result.map(drop)
    }

    /// A command whose name is that of a job resumes it, as `fg` does, or `bg` where `&` follows.
    #[inline(never)]
    fn resume_job(&mut self, simple: &Simple, args: &[Bytes], background: bool) -> Run {
        let name: &[u8] = if background { b"bg" } else { b"fg" };
        let Some(builtin) = builtins::find(name) else { return Ok(()) };
        let words = [&[name.to_vec()], args].concat();
        self.with_redirects(simple, |shell| shell.call_builtin(builtin, &words)).map(drop)
    }

    /// The status of an assignment that is refused. In posix mode it ends the shell, a command string with one of its own.
    pub(super) fn status_of_refusal(&self) -> u8 {
        let string = self.options.posix && self.options.from_string && !self.options.interactive && !self.forked;
        if string { 127 } else { 1 }
    }

    /// Makes the redirections of a command. Their words do not see what is assigned for the command alone.
    pub(super) fn redirect_command(&mut self, simple: &Simple) -> Run<Option<super::redirect::Undo>> {
        if simple.assigns.is_empty() || simple.redirects.is_empty() {
            return self.redirect(&simple.redirects);
        }
        self.vars.swap_newest();
        let undo = self.redirect(&simple.redirects);
        self.vars.swap_newest();
        undo
    }

    /// Runs something in the shell itself with the redirections in place; says whether they could be made.
    #[inline(never)]
    fn with_redirects(&mut self, simple: &Simple, inner: impl FnOnce(&mut Self) -> Run) -> Run<bool> {
        let Some(undo) = self.redirect_command(simple)? else {
            self.status = 1;
            return Ok(false);
        };
        let result = inner(self);
        self.undo(undo);
        result.map(|()| true)
    }
}
