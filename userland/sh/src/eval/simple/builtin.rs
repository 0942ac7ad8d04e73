//! Calls of builtins.

use crate::builtins::{self, Builtin, Call};
use crate::eval::declaration::DeclArg;
use crate::ir::{Bytes, Simple};
use crate::state::{EvalResult, Shell};

impl Shell {
    /// Runs a builtin with redirections.
    pub(super) fn run_builtin(&mut self, builtin: &'static Builtin, simple: &Simple, args: &[Bytes]) -> EvalResult {
        // Output of traps goes to the descriptors from before the command.
        let holds = builtin.name == "kill";
        let result = self.with_redirects(simple, |shell| {
            shell.traps.holds = holds;
            let called = shell.call_simple(builtin, simple, args);
            shell.traps.holds = false;
            called?;
            // Output of the builtin goes to the redirected descriptors, and an error counts for the builtin.
            shell.io.flush();
            shell.builtin.name = builtin.name;
            let status = shell.status;
            shell.builtin_done(Ok(status))
        });
        if holds {
            self.run_pending_traps()?;
        }
        self.stop_after_special(builtin.name, result)
    }

    /// Runs a declaration some of whose arguments are assignments, with redirections.
    pub(super) fn run_declaration(&mut self, builtin: &'static Builtin, simple: &Simple, args: &[Bytes]) -> EvalResult {
        let Call::Declare(run) = builtin.call else { return self.run_builtin(builtin, simple, args) };
        // The values are expanded before the redirections are made.
        let list = self.declared_list(builtin.name, &simple.args, args)?;
        let result = self.with_redirects(simple, |shell| {
            shell.run_declaring(builtin.name, run, &list)?;
            shell.io.flush();
            shell.builtin.name = builtin.name;
            let status = shell.status;
            shell.builtin_done(Ok(status))
        });
        self.stop_after_special(builtin.name, result)
    }

    /// In posix mode a special builtin whose redirection fails ends the shell.
    pub(super) fn stop_after_special(&mut self, builtin: &str, result: EvalResult<bool>) -> EvalResult {
        let applied = result?;
        if !applied && builtins::is_special(builtin.as_bytes()) { self.fatal_in_posix() } else { Ok(()) }
    }

    #[inline(never)]
    pub(super) fn call_simple(&mut self, builtin: &'static Builtin, simple: &Simple, args: &[Bytes]) -> EvalResult {
        match builtin.call {
            Call::Declare(run) if simple.declares => {
                let list = self.declared_list(builtin.name, &simple.args, args)?;
                self.run_declaring(builtin.name, run, &list)
            }
            // `command export name=value`, which in posix mode is a declaration still.
            Call::Plain(_) if simple.declares && builtin.name == "command" => {
                let before = args.iter().take_while(|word| word.as_slice() == b"command").count();
                let (given, words) = (simple.args.get(before..), args.get(before..));
                let (given, words) = (given.unwrap_or_default(), words.unwrap_or_default());
                let Some(builtin) = words.first().and_then(|name| builtins::find(name)) else { return Ok(()) };
                let Call::Declare(run) = builtin.call else { return Ok(()) };
                self.builtin.command_calls += 1;
                let result = self.call_declaring(builtin.name, run, given, words);
                self.builtin.command_calls -= 1;
                result
            }
            _ => self.call_builtin(builtin, args),
        }
    }

    /// Runs a builtin with plain words; sets the status.
    #[inline(never)]
    pub(crate) fn call_builtin(&mut self, builtin: &'static Builtin, args: &[Bytes]) -> EvalResult {
        let outer = std::mem::replace(&mut self.builtin.name, builtin.name);
        let result = match builtin.call {
            _ if builtins::requests_help(builtin, args.get(1)) => Ok(builtins::help_of(self)),
            Call::Plain(run) => run(self, args),
            Call::Declare(run) => {
                let list: Vec<DeclArg> = args.iter().cloned().map(DeclArg::Word).collect();
                run(self, &list)
            }
        };
        let done = self.builtin_done(result);
        self.builtin.name = outer;
        if let Some(last) = args.last() {
            self.computed.last_arg.clone_from(last);
        }
        done
    }

    pub(in crate::eval) fn builtin_done(&mut self, result: EvalResult<u8>) -> EvalResult {
        let status = match result {
            Ok(status) => status,
            Err(stop) => {
                self.builtin.name = "";
                return Err(stop);
            }
        };
        self.status = if std::mem::take(&mut self.builtin.write_failed) { status.max(1) } else { status };
        if self.traps.ignores_pipes() {
            // With SIGPIPE ignored, a missing reader must be reported immediately.
            self.io.flush();
        }
        if let Some(errno) = self.io.take_error()
            && !matches!(self.builtin.name, "command" | "help")
        {
            self.report_builtin_error(format!("write error: {errno}"));
            self.status = 1;
        }
        let name = std::mem::take(&mut self.builtin.name);
        // In posix mode a usage error of a special builtin ends the shell.
        if std::mem::take(&mut self.builtin.usage_error) && builtins::is_special(name.as_bytes()) {
            self.fatal_in_posix()?;
        }
        Ok(())
    }

    /// `exec`: permanent redirections, and a program that replaces the shell.
    #[inline(never)]
    pub(super) fn run_exec(&mut self, simple: &Simple, args: &[Bytes]) -> EvalResult {
        let outer = std::mem::replace(&mut self.builtin.name, "exec");
        let redirected = self.redirect_for_good(&simple.redirects);
        self.builtin.name = outer;
        if !redirected? {
            self.status = 1;
            return self.fatal_in_posix();
        }
        self.builtin.name = "exec";
        let result = builtins::exec(self, args);
        self.builtin.name = "";
        match result {
            Ok(status) => {
                self.status = status;
                if std::mem::take(&mut self.builtin.usage_error) {
                    self.fatal_in_posix()?;
                }
                self.computed.last_arg = args.last().cloned().unwrap_or_default();
                Ok(())
            }
            Err(stop) => Err(stop),
        }
    }
}

/// Returns whether the words are `command exec` without a program.
pub(super) fn is_bare_exec(args: &[Bytes]) -> bool {
    let mut words = args.iter().skip_while(|word| matches!(word.as_slice(), b"command" | b"-p" | b"--"));
    words.next().is_some_and(|word| word == b"exec") && words.next().is_none()
}
