//! Programs: finding, starting, waiting.

mod death;
mod exec;
mod search;
mod start;

use crate::ir::{Bytes, Simple};
use crate::state::{Run, Shell, Stop};

pub(in crate::eval) use death::End;
pub(crate) use death::death_text;
pub(crate) use search::search;

impl Shell {
    /// Starts a program and waits for it.
    #[inline(never)]
    pub(crate) fn run_external(&mut self, simple: &Simple, args: &[Bytes]) -> Run {
        use crate::parse::simple::{has_pure_body, is_pure_redirect};
        if args.first().is_some_and(|name| self.refuses_command(name)) {
            self.status = 1;
            return Ok(());
        }
        let pure = |redirect| is_pure_redirect(redirect, true) && has_pure_body(redirect, true);
        if simple.redirects.iter().all(pure) {
            return self.run_program(simple, args);
        }
        if let Some(name) = args.first() {
            // It is looked for before the process is there.
            self.find_program(name);
        }
        // What their words change is not for this shell.
        let pid = self.fork_child(|child| {
            // The process is the program's, and no subshell.
            child.subshell = child.subshell.wrapping_sub(1);
            child.run_program(simple, args)
        })?;
        if let Some(last) = args.last() {
            self.last_arg.clone_from(last);
        }
        self.status = self.wait_pid(pid)?.code();
        self.notify_of_deaths();
        self.run_pending_traps()
    }

    fn run_program(&mut self, simple: &Simple, args: &[Bytes]) -> Run {
        // bash does this in the child, so an expansion that fails there ends nothing else.
        let undo = match self.redirect_command(simple) {
            Ok(Some(undo)) => undo,
            Ok(None) => {
                self.status = 1;
                return Ok(());
            }
            Err(Stop::Exit | Stop::Discard | Stop::Abandon) => return Ok(()),
            Err(stop) => return Err(stop),
        };
        let started = self.start_program(args, true);
        self.undo(undo);
        if let Some(last) = args.last() {
            self.last_arg.clone_from(last);
        }
        match started? {
            Ok(pid) => {
                let status = self.wait_pid(pid)?;
                self.status = status.code();
                self.die_with(simple, status);
                self.report_death(pid, status, || crate::print::whole_simple(simple));
                self.notify_of_deaths();
                self.run_pending_traps()?;
            }
            Err(status) => {
                self.status = status;
                // It was a child of bash that found no program.
                self.traps.child_ended();
                self.run_pending_traps()?;
            }
        }
        Ok(())
    }
}
