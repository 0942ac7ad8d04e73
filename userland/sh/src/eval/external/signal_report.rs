//! Messages about commands that a signal ended.

use std::rc::Rc;

use tidebox_rt::{self as rt, ExitStatus};

use crate::expand::lossy;
use crate::ir::{Bytes, Command, List, Simple};
use crate::state::Shell;
use crate::trap::signal_name;

/// The end of a stage of a pipeline: its process, if it had its own, and its status.
pub(in crate::eval) type End = (Option<u32>, ExitStatus);

impl Shell {
    /// Reports a process that a signal ended, in bash's format.
    pub(in crate::eval) fn report_death(&mut self, pid: u32, status: ExitStatus, text: impl FnOnce() -> Bytes) {
        let ExitStatus::Killed(signal) = status else { return };
        if self.reports_command(signal) {
            let what = death_text(signal);
            self.report_error(format!("{pid:5} {what:<23} {}", lossy(&text())));
        }
    }

    /// Reports a pipeline whose status is that of a killed stage.
    pub(in crate::eval) fn report_pipeline(&mut self, stages: &[Command], ends: &[End]) {
        let failed = if self.options.pipefail { ends.iter().rev().find(|end| end.1.code() != 0) } else { None };
        let Some((_, ExitStatus::Killed(signal))) = failed.or(ends.last()) else { return };
        let at = ends.iter().rposition(|(_, status)| *status == ExitStatus::Killed(*signal)).unwrap_or(0);
        if let (Some((pid, status)), Some(stage)) = (ends.get(at), stages.get(at)) {
            // A stage without a process ran in the shell.
            let pid = pid.unwrap_or_else(|| rt::getids().map_or(0, |ids| ids.pid));
            self.report_death(pid, *status, || crate::print::command(stage));
        }
    }

    /// Records the last program of a subshell. In bash it replaces the subshell, which then exits as the program does.
    pub(in crate::eval) fn note_last(&mut self, list: &List) {
        let Some(item) = list.items.last().filter(|item| !item.background) else { return };
        let pipeline = item.chain.rest.last().map_or(&item.chain.first, |(_, pipeline)| pipeline);
        let alone = list.items.len() == 1 && item.chain.rest.is_empty();
        if let (false, None, [Command::Simple(simple)]) = (pipeline.bang, pipeline.timed, pipeline.stages.as_slice())
            && (alone || simple.redirects.is_empty())
        {
            self.jobs.last = Some(Rc::clone(simple));
        }
    }

    /// Ends a subshell by the signal that ended its last program, unless a trap is set.
    pub(in crate::eval) fn die_with(&mut self, simple: &Simple, status: ExitStatus) {
        let last = self.jobs.last.as_ref().is_some_and(|last| std::ptr::eq(&**last, simple));
        if let (true, ExitStatus::Killed(signal)) = (last, status)
            && self.traps.all().iter().all(|(_, text)| text.is_empty())
        {
            self.exit_by_signal(signal);
        }
    }

    /// Returns whether the end by this signal is reported with the command; prints short messages itself.
    fn reports_command(&mut self, signal: u8) -> bool {
        // SIGINT and SIGPIPE are ordinary ends of programs.
        if self.process.is_substitution || matches!(signal, 2 | 13) {
            return false;
        }
        let word = signal == 15 || self.traps.get(signal).is_some();
        if word {
            // A closed standard error is ignored.
            let _ = self.io.write(2, format!("{}\n", death_text(signal)).as_bytes());
        }
        !word
    }
}

/// The description of a signal that ended a program, as bash prints it.
pub(crate) fn death_text(signal: u8) -> String {
    match (signal, tidebox_gnu::signal::description(signal)) {
        (_, Some(text)) => text.to_owned(),
        (34..=64, None) => format!("Real-time signal {}", signal - 34),
        _ => signal_name(signal).map_or_else(|| format!("Signal {signal}"), |name| format!("SIG{name}")),
    }
}
