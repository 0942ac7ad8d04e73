//! Simple commands.

use std::rc::Rc;

use crate::builtins::{self, Builtin, Call};
use crate::ir::{Arg, Assign, Bytes, Simple};
use crate::state::{Current, Run, Shell, Stop};

/// An argument of a declaration builtin.
#[derive(Debug)]
pub(crate) enum DeclArg<'a> {
    Word(Bytes),
    Assign(&'a Assign),
}

impl Shell {
    pub(crate) fn run_simple(&mut self, simple: &Rc<Simple>) -> Run {
        self.line = simple.line;
        if self.traps.names_commands() {
            self.current = Some(Current::Simple(Rc::clone(simple)));
        }
        if self.traps.get(crate::trap::DEBUG).is_some() {
            self.run_trap(crate::trap::DEBUG)?;
        }
        self.substituted = None;
        let from = self.process_fds.len();
        let result = self.run_expanded(simple);
        if self.process_fds.len() > from {
            self.drop_process_fds(from);
        }
        result
    }

    fn run_expanded(&mut self, simple: &Simple) -> Run {
        let args = self.expand_args(&simple.args)?;
        let Some(name) = args.first() else { return self.run_assignments(simple) };
        if self.options.xtrace {
            self.trace_simple(simple, &args)?;
        }
        if !self.functions.is_empty()
            && let Some(function) = self.functions.get(name.as_slice()).map(Rc::clone)
        {
            return self.with_surroundings(simple, |shell| shell.call_function(&function, args));
        }
        let builtin = match simple.builtin {
            Some(builtin) => Some(builtin),
            None => builtins::find(name),
        };
        match builtin {
            Some(builtin) if builtin.name == "exec" => self.run_exec(simple, &args),
            Some(builtin) if simple.assigns.is_empty() && simple.redirects.is_empty() => {
                self.call_simple(builtin, simple, &args)
            }
            Some(builtin) => self.with_surroundings(simple, |shell| shell.call_simple(builtin, simple, &args)),
            None => self.run_external(simple, &args),
        }
    }

    /// A command without a name: its assignments stay, its redirections come and go.
    #[inline(never)]
    fn run_assignments(&mut self, simple: &Simple) -> Run {
        simple.assigns.iter().try_for_each(|assign| {
            if self.options.xtrace {
                self.trace_assign(assign)?;
            }
            if self.run_assign(assign)? {
                return Ok(());
            }
            self.status = 1;
            Err(Stop::Discard)
        })?;
        self.status = self.substituted.unwrap_or(0);
        match self.redirect(&simple.redirects)? {
            Some(undo) => self.undo(undo),
            None => self.status = 1,
        }
        self.last_arg.clear();
        Ok(())
    }

    /// Runs something in the shell itself, with the redirections and the assignments before it in place.
    #[inline(never)]
    fn with_surroundings(&mut self, simple: &Simple, inner: impl FnOnce(&mut Self) -> Run) -> Run {
        let Some(undo) = self.redirect(&simple.redirects)? else {
            self.status = 1;
            return Ok(());
        };
        let result = if simple.assigns.is_empty() {
            inner(self)
        } else {
            self.vars.push_scope();
            let result = match self.temporary_assigns(&simple.assigns) {
                Ok(()) => inner(self),
                Err(stop) => Err(stop),
            };
            self.vars.pop_scope();
            result
        };
        self.undo(undo);
        result
    }

    /// Assigns for the time of one command. One that is refused is complained about, and the command runs all the same.
    #[inline(never)]
    pub(crate) fn temporary_assigns(&mut self, assigns: &[Assign]) -> Run {
        for assign in assigns {
            let old = self.vars.get(&assign.name).cloned();
            let was_local = self.vars.make_local(&assign.name);
            if !was_local && let Some(old) = old {
                self.vars.insert(Rc::clone(&assign.name), old);
            }
            if self.run_assign(assign)?
                && let Some(var) = self.vars.get_mut(&assign.name)
            {
                var.flags |= crate::vars::EXPORT;
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn call_simple(&mut self, builtin: &'static Builtin, simple: &Simple, args: &[Bytes]) -> Run {
        match builtin.call {
            Call::Declare(run) if simple.declares => {
                let mut words = args.iter();
                let mut list = Vec::with_capacity(simple.args.len());
                // Words may have become several or none; assignments stay in place among what the words before them became.
                for arg in &simple.args {
                    match arg {
                        Arg::Assign(assign) => list.push(DeclArg::Assign(assign)),
                        Arg::Word(word) => {
                            let mut fields = Vec::new();
                            if word.literal().is_some() {
                                fields.extend(words.next().cloned());
                            } else {
                                self.expand_fields(word, &mut fields)?;
                                words.by_ref().take(fields.len()).for_each(drop);
                            }
                            list.extend(fields.into_iter().map(DeclArg::Word));
                        }
                    }
                }
                self.running = builtin.name;
                let result = run(self, &list);
                self.builtin_done(result)
            }
            _ => self.call_builtin(builtin, args),
        }
    }

    /// Runs a builtin with plain words; sets the status.
    #[inline(never)]
    pub(crate) fn call_builtin(&mut self, builtin: &'static Builtin, args: &[Bytes]) -> Run {
        let outer = std::mem::replace(&mut self.running, builtin.name);
        let result = match builtin.call {
            Call::Plain(run) => run(self, args),
            Call::Declare(run) => {
                let list: Vec<DeclArg<'_>> = args.iter().cloned().map(DeclArg::Word).collect();
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

    fn builtin_done(&mut self, result: Run<u8>) -> Run {
        let status = result?;
        self.status = status;
        if let Some(errno) = self.io.take_error() {
            self.complain_builtin(format!("write error: {errno}"));
            self.status = 1;
        }
        self.running = "";
        Ok(())
    }

    /// `exec`: redirections that stay, and a program that takes the shell's place.
    #[inline(never)]
    fn run_exec(&mut self, simple: &Simple, args: &[Bytes]) -> Run {
        if !self.temporary_assigns_if(simple)? {
            return Ok(());
        }
        if !self.redirect_for_good(&simple.redirects)? {
            self.status = 1;
            // bash ends a non-interactive shell here.
            return Err(Stop::Exit);
        }
        self.status = 0;
        let mut rest = args.get(1..).unwrap_or_default();
        let mut name = None;
        while let Some(option) = rest.first().filter(|arg| arg.len() > 1 && arg.first() == Some(&b'-')) {
            let taken = match option.as_slice() {
                b"-a" => {
                    name = rest.get(1).cloned();
                    2
                }
                _ => 1,
            };
            let ends = option == b"--";
            rest = rest.get(taken..).unwrap_or_default();
            if ends {
                break;
            }
        }
        if rest.is_empty() { Ok(()) } else { self.exec_program(rest, name) }
    }

    fn temporary_assigns_if(&mut self, simple: &Simple) -> Run<bool> {
        for assign in &simple.assigns {
            if !self.run_assign(assign)? {
                self.status = 1;
                return Ok(false);
            }
            if let Some(var) = self.vars.get_mut(&assign.name) {
                var.flags |= crate::vars::EXPORT;
            }
        }
        Ok(true)
    }
}
