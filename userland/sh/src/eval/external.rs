//! Programs: finding, starting, waiting.

mod exec;
mod search;
mod signal_report;
mod start;

use crate::ir::{Bytes, Simple};
use crate::state::{EvalResult, Shell, Unwind};

pub(crate) use search::search;
pub(in crate::eval) use signal_report::End;
pub(crate) use signal_report::death_text;

impl Shell {
    /// Starts a program and waits for it.
    #[inline(never)]
    pub(crate) fn run_external(&mut self, simple: &Simple, args: &[Bytes]) -> EvalResult {
        use crate::parse::simple::{has_pure_body, is_pure_redirect};
        let pure = |redirect| is_pure_redirect(redirect, true) && has_pure_body(redirect, true);
        if simple.redirects.iter().all(pure) {
            return self.run_program(simple, args);
        }
        if let Some(name) = args.first() {
            // The program is looked up before the fork.
            self.find_program(name);
        }
        // Changes made by the redirection words stay in the child.
        let pid = self.start_job(|shell| {
            shell.fork_child(|child| {
                // The process is the program's, and no subshell.
                child.process.subshell = child.process.subshell.wrapping_sub(1);
                child.run_program(simple, args)
            })
        })?;
        if let Some(last) = args.last() {
            self.computed.last_arg.clone_from(last);
        }
        if let Some(status) = self.wait_process(pid, || crate::print::whole_simple(simple))? {
            self.status = status.code();
        }
        self.report_signal_exits();
        self.run_pending_traps()
    }

    fn run_program(&mut self, simple: &Simple, args: &[Bytes]) -> EvalResult {
        // bash expands them in the child, so a failed expansion has no effect on the shell.
        let undo = match self.redirect_command(simple) {
            Ok(Some(undo)) => undo,
            Ok(None) => {
                self.status = 1;
                return Ok(());
            }
            Err(Unwind::Exit | Unwind::Discard) => return Ok(()),
            Err(stop) => return Err(stop),
        };
        let started = self.start_job(|shell| shell.start_program(args, true));
        self.undo(undo);
        if let Some(last) = args.last() {
            self.computed.last_arg.clone_from(last);
        }
        match started? {
            Ok(pid) => {
                let Some(status) = self.wait_process(pid, || crate::print::whole_simple(simple))? else {
                    return self.run_pending_traps();
                };
                self.status = status.code();
                self.die_with(simple, status);
                self.report_death(pid, status, || crate::print::whole_simple(simple));
                self.report_signal_exits();
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
