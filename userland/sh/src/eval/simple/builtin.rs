//! Calls of builtins.

use crate::builtins::{self, Builtin, Call};
use crate::eval::declaration::DeclArg;
use crate::ir::{Arg, Bytes, Simple};
use crate::state::{Run, Shell};

impl Shell {
    /// Runs a builtin with redirections.
    pub(super) fn run_builtin(&mut self, builtin: &'static Builtin, simple: &Simple, args: &[Bytes]) -> Run {
        // What traps write goes where it went before the command.
        let holds = builtin.name == "kill";
        let result = self.with_redirects(simple, |shell| {
            shell.traps.holds = holds;
            let called = shell.call_simple(builtin, simple, args);
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

    /// Runs a declaration some of whose arguments are assignments, with redirections.
    pub(super) fn run_declaration(&mut self, builtin: &'static Builtin, simple: &Simple, args: &[Bytes]) -> Run {
        let Call::Declare(run) = builtin.call else { return self.run_builtin(builtin, simple, args) };
        // The values are expanded before the redirections are made.
        let list = match self.declared_list(builtin.name, &simple.args, args) {
            Ok(list) => list,
            Err(stop) => return self.words_failed(simple, stop),
        };
        let result = self.with_redirects(simple, |shell| {
            shell.run_declaring(builtin.name, run, &list)?;
            shell.io.flush();
            shell.running = builtin.name;
            let status = shell.status;
            shell.builtin_done(Ok(status))
        });
        self.stop_after_special(builtin.name, result)
    }

    /// In posix mode a special builtin whose redirection fails ends the shell.
    pub(super) fn stop_after_special(&mut self, builtin: &str, result: Run<bool>) -> Run {
        let applied = result?;
        if !applied && builtins::is_special(builtin.as_bytes()) { self.fatal_in_posix() } else { Ok(()) }
    }

    #[inline(never)]
    pub(super) fn call_simple(&mut self, builtin: &'static Builtin, simple: &Simple, args: &[Bytes]) -> Run {
        match builtin.call {
            Call::Declare(run) if simple.declares => match self.declared_list(builtin.name, &simple.args, args) {
                Ok(list) => self.run_declaring(builtin.name, run, &list),
                Err(stop) => self.words_failed(simple, stop),
            },
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
            _ if builtins::wants_help(builtin, args.get(1)) => Ok(builtins::help_of(self)),
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

    pub(in crate::eval) fn builtin_done(&mut self, result: Run<u8>) -> Run {
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
    pub(super) fn run_exec(&mut self, simple: &Simple, args: &[Bytes]) -> Run {
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
pub(super) fn is_bare_exec(args: &[Bytes]) -> bool {
    let mut words = args.iter().skip_while(|word| matches!(word.as_slice(), b"command" | b"-p" | b"--"));
    words.next().is_some_and(|word| word == b"exec") && words.next().is_none()
}
