//! Simple commands.

use std::rc::Rc;

use super::declaration::{DeclArg, gather_assignments};
use crate::builtins::{self, Builtin, Call};
use crate::ir::{Arg, Assign, Bytes, Simple};
use crate::state::{Current, Run, Shell, Stop};

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
        let args = self.expand_args(&simple.args)?;
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
                Err(if args_name_special { self.fatal() } else { Stop::Discard })
            }
            Ok(_) => self.run_words(simple, args),
            Err(stop) => Err(stop),
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
            let last = args.last().cloned();
            // A function in a pipeline is a subshell; the words of its call were none.
            self.subshell += u32::from(std::mem::take(&mut self.piped));
            let redirected = u32::from(!simple.redirects.is_empty());
            self.traps.redirected_calls += redirected;
            let result = self.with_redirects(simple, |shell| shell.call_function(&function, args));
            self.traps.redirected_calls -= redirected;
            self.last_arg = last.unwrap_or_default();
            return result.map(drop);
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
            Some(Builtin { call: Call::Declare(run), name, .. }) if simple.declares => {
                // The values are expanded before the redirections are made.
                let list = self.declared_list(name, &simple.args, &args)?;
                let result = self.with_redirects(simple, |shell| {
                    shell.run_declaring(name, *run, &list)?;
                    shell.io.flush();
                    shell.running = name;
                    let status = shell.status;
                    shell.builtin_done(Ok(status))
                });
                self.stop_after_special(name, result)
            }
            Some(builtin) => {
                // What traps write goes where it went before the command.
                let holds = builtin.name == "kill";
                let result = self.with_redirects(simple, |shell| {
                    shell.traps.holds = holds;
                    let called = shell.call_simple(builtin, simple, &args);
                    shell.traps.holds = false;
                    called?;
                    // What the builtin wrote goes where the redirections point, and a failure is its own.
                    shell.io.flush();
                    shell.running = builtin.name;
                    let status = shell.status;
                    shell.builtin_done(Ok(status))
                });
                if holds {
                    self.run_pending_traps()?;
                }
                self.stop_after_special(builtin.name, result)
            }
            None => self.run_external(simple, &args),
        }
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

    /// In posix mode a special builtin whose redirection fails ends the shell.
    fn stop_after_special(&mut self, builtin: &str, result: Run<bool>) -> Run {
        let applied = result?;
        if !applied && builtins::is_special(builtin.as_bytes()) { self.fatal_in_posix() } else { Ok(()) }
    }

    /// A command without a name: its assignments stay, its redirections come and go.
    #[inline(never)]
    fn run_assignments(&mut self, simple: &Simple) -> Run {
        simple.assigns.iter().try_for_each(|assign| {
            if self.run_assign(assign)? {
                return Ok(());
            }
            self.status = self.status_of_refusal();
            Err(if self.options.posix {
                self.fatal()
            } else if self.options.errexit {
                Stop::Exit
            } else {
                Stop::Discard
            })
        })?;
        self.status = self.substituted.unwrap_or(0);
        match self.redirect(&simple.redirects)? {
            Some(undo) => self.undo(undo),
            None => self.status = 1,
        }
        self.last_arg.clear();
        if self.substituted.is_some() { self.run_pending_traps() } else { Ok(()) }
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

    /// Assigns for the time of one command. One that is refused is complained about; says whether all were allowed.
    #[inline(never)]
    pub(crate) fn temporary_assigns(&mut self, assigns: &[Assign]) -> Run<bool> {
        let mut allowed = true;
        for assign in assigns {
            if assign.subscript.is_some() {
                let subscript = assign.subscript.as_ref().map_or(&b""[..], |subscript| &subscript.key.raw);
                self.complain([b"`", &assign.name[..], b"[", subscript, b"]': not a valid identifier"].concat());
                continue;
            }
            let name = self.variable_meant(&assign.name).unwrap_or_else(|| Rc::clone(&assign.name));
            if self.is_constant(&name) {
                // Its value is not even expanded.
                self.complain([&assign.name[..], b": readonly variable"].concat());
                allowed = false;
                continue;
            }
            self.vars.make_temporary(&name);
            if let Some(var) = self.vars.get_mut(&name)
                && !var.has(crate::vars::READONLY)
                && !assign.append
            {
                // Attributes of the variable do not touch what is assigned for a command.
                var.flags &= crate::vars::EXPORT;
                if !matches!(var.value, crate::vars::Value::Text(_)) {
                    var.value = crate::vars::Value::Unset;
                }
            }
            if let crate::ir::AssignValue::Array(elements) = &assign.value {
                // Such a list is only its text, as far as nothing in it is quoted.
                let mut words = Vec::with_capacity(elements.len());
                for element in elements {
                    let value = self.expand_without_tildes(&element.value)?;
                    words.push(match &element.subscript {
                        Some(subscript) => {
                            let key = self.expand_text(&subscript.key)?;
                            let operator: &[u8] = if element.append { b"]+=" } else { b"]=" };
                            [b"[", &key[..], operator, &value].concat()
                        }
                        None => value,
                    });
                }
                let text = [b"(", &words.join(&b' ')[..], b")"].concat();
                self.set_exported(&name, text);
                continue;
            }
            // It is shown with the value that it has then, even when that was appended to.
            self.lends = true;
            let assigned = self.run_assign_shown(assign, false);
            self.lends = false;
            let assigned = assigned?;
            if self.options.xtrace {
                let value = self.lookup(&name).unwrap_or_default();
                let value = if value.is_empty() { value } else { super::trace::quote(&value) };
                self.trace_raw(&[&name[..], b"=", &value].concat());
            }
            if !assigned {
                allowed = false;
            } else if let Some(var) = self.vars.get_mut(&name) {
                var.flags |= crate::vars::EXPORT;
            }
        }
        Ok(allowed)
    }

    #[inline(never)]
    fn call_simple(&mut self, builtin: &'static Builtin, simple: &Simple, args: &[Bytes]) -> Run {
        match builtin.call {
            Call::Declare(run) if simple.declares => self.call_declaring(builtin.name, run, &simple.args, args),
            // `command export name=value`, which in posix mode is a declaration still.
            Call::Plain(_) if simple.declares && builtin.name == "command" => {
                let before = args.iter().take_while(|word| word.as_slice() == b"command").count();
                let (given, words) = (simple.args.get(before..), args.get(before..));
                let (given, words) = (given.unwrap_or_default(), words.unwrap_or_default());
                let Some(builtin) = words.first().and_then(|name| builtins::find(name)) else { return Ok(()) };
                let Call::Declare(run) = builtin.call else { return Ok(()) };
                self.commanded += 1;
                let result = self.call_declaring(builtin.name, run, given, words);
                self.commanded -= 1;
                result
            }
            _ => {
                let outer = self.note_references(builtin, simple, args);
                let called = self.call_builtin(builtin, args);
                if let Some(outer) = outer {
                    self.references = outer;
                }
                called
            }
        }
    }

    /// Notes which arguments of a builtin are written as elements of arrays; answers what was noted before.
    fn note_references(&mut self, builtin: &Builtin, simple: &Simple, args: &[Bytes]) -> Option<Vec<Bytes>> {
        let looks = |word: &Bytes| word.len() > 3 && word.last() == Some(&b']');
        if self.references.is_empty() && !args.iter().any(looks) {
            return None;
        }
        let mut found = Vec::new();
        let once = self.options.assoc_expand_once && matches!(builtin.name, "printf" | "read" | "wait");
        if (once || builtin.name == "unset") && simple.args.len() == args.len() {
            let written = |arg: &Arg| matches!(arg, Arg::Word(word) if crate::expand::names_element(&word.raw));
            found.extend(simple.args.iter().zip(args).filter(|(arg, _)| written(arg)).map(|(_, word)| word.clone()));
        }
        Some(std::mem::replace(&mut self.references, found))
    }

    /// Runs a builtin with plain words; sets the status.
    #[inline(never)]
    pub(crate) fn call_builtin(&mut self, builtin: &'static Builtin, args: &[Bytes]) -> Run {
        let outer = std::mem::replace(&mut self.running, builtin.name);
        let result = match builtin.call {
            Call::Plain(run) => run(self, args),
            Call::Declare(run) => {
                let list: Vec<DeclArg> = args.iter().cloned().map(DeclArg::Word).collect();
                run(self, &list)
            }
        };
        let done = self.builtin_done(result);
        self.running = outer;
        if let Some(last) = args.last() {
            self.last_arg.clone_from(last);
        }
        done
    }

    pub(super) fn builtin_done(&mut self, result: Run<u8>) -> Run {
        let status = match result {
            Ok(status) => status,
            Err(stop) => {
                self.running = "";
                return Err(stop);
            }
        };
        self.status = if std::mem::take(&mut self.unwritten) { status.max(1) } else { status };
        if self.traps.ignores_pipes() {
            // Who wants to know that nobody reads is told at once.
            self.io.flush();
        }
        if let Some(errno) = self.io.take_error()
            && !matches!(self.running, "command" | "help")
        {
            self.complain_builtin(format!("write error: {errno}"));
            self.status = 1;
        }
        let name = std::mem::take(&mut self.running);
        // In posix mode a special builtin that is called the wrong way ends the shell.
        if std::mem::take(&mut self.misused) && builtins::is_special(name.as_bytes()) {
            self.fatal_in_posix()?;
        }
        Ok(())
    }

    /// `exec`: redirections that stay, and a program that takes the shell's place.
    #[inline(never)]
    fn run_exec(&mut self, simple: &Simple, args: &[Bytes]) -> Run {
        let outer = std::mem::replace(&mut self.running, "exec");
        let redirected = self.redirect_for_good(&simple.redirects);
        self.running = outer;
        if !redirected? {
            self.status = 1;
            return self.fatal_in_posix();
        }
        self.running = "exec";
        let result = builtins::exec(self, args);
        self.running = "";
        match result {
            Ok(status) => {
                self.status = status;
                if std::mem::take(&mut self.misused) {
                    self.fatal_in_posix()?;
                }
                self.last_arg = args.last().cloned().unwrap_or_default();
                Ok(())
            }
            Err(stop) => Err(stop),
        }
    }
}

/// Whether the words are `command exec` and no program.
fn is_bare_exec(args: &[Bytes]) -> bool {
    let mut words = args.iter().skip_while(|word| matches!(word.as_slice(), b"command" | b"-p" | b"--"));
    words.next().is_some_and(|word| word == b"exec") && words.next().is_none()
}
