//! Traps that a process which was made for a simple command has until the words of that command are expanded. bash takes
//! the traps of the shell away from it only behind them, so that words without a value end it with the EXIT trap.
//!
//! A process finds in `left` what the one that it comes from would have ended with. Whoever made it says what becomes of
//! that: it is kept for the words of a command, carried on to the stages of a pipeline, or all that the process has to
//! run. Nobody else looks at it.

use std::rc::Rc;

use super::{EXIT, Traps};
use crate::ir::{Bytes, Simple};
use crate::state::{Run, Shell, Stop};

/// All traps of a shell.
pub(super) type Set = Vec<(u8, Rc<Bytes>)>;

/// The traps that are still there while the words of one command are expanded.
#[derive(Debug)]
pub(super) struct Late {
    command: Rc<Simple>,
    set: Set,
    /// The words had no value.
    failed: bool,
}

impl Traps {
    /// What a process for a simple command ends with if its words have no value; `None` where nothing would run then.
    fn late_set(&self) -> Option<Set> {
        if self.substitutes {
            return None;
        }
        if self.set.is_empty() {
            return self.carried.clone();
        }
        let runs = !self.is_running(EXIT) && self.get(EXIT).is_some_and(|text| !text.is_empty());
        if runs { Some(self.set.clone()) } else { self.carried.clone() }
    }

    /// Notes in a new process, before it loses its traps, what its parent would have ended with.
    pub(super) fn leave_late(&mut self) {
        self.left = self.late_set();
        self.late = None;
        self.carried = None;
    }

    /// Keeps, in the process that was made for `command`, the traps of its parent for the words.
    pub(crate) fn keep_late(&mut self, command: &Rc<Simple>) {
        let left = self.left.take();
        self.late = left.map(|set| Late { command: Rc::clone(command), set, failed: false });
    }

    /// Keeps the traps for words that stand for a process of their own, and are expanded in this one.
    pub(crate) fn keep_late_here(&mut self, command: &Rc<Simple>) {
        self.left = self.late_set();
        self.keep_late(command);
    }

    /// Leaves the traps of the parent to the stages of the pipeline that this process was made for.
    pub(crate) fn carry_late(&mut self) {
        self.carried = self.left.take();
    }

    /// What is left to run, if the words that it was kept for had no value.
    fn take_failed(&mut self) -> Option<Set> {
        self.late.take().filter(|late| late.failed).map(|late| late.set)
    }

    /// Whether the words that traps were kept for had no value.
    pub(crate) fn take_failure(&mut self) -> bool {
        self.take_failed().is_some()
    }

    /// Has, at its end, the traps that were kept for words without a value.
    pub(crate) fn end_by_words(&mut self) {
        if let Some(set) = self.take_failed() {
            self.have(set);
        }
    }

    /// Has these traps and no others.
    fn have(&mut self, set: Set) {
        self.inherited = None;
        self.passes_exit = false;
        self.set = set;
    }
}

impl Shell {
    /// Takes note that the words of a command, or what is assigned for it, had no value.
    #[cold]
    pub(crate) fn words_failed<T>(&mut self, simple: &Simple, stop: Stop) -> Run<T> {
        if let Some(late) = &mut self.traps.late
            && std::ptr::eq(Rc::as_ptr(&late.command), simple)
        {
            late.failed = true;
        }
        Err(stop)
    }

    /// Starts what stands for a process whose words had no value: one that ends with the traps of the shell and the
    /// status that there is. `None` where no trap would run.
    pub(crate) fn end_late(&mut self) -> Run<Option<u32>> {
        if self.traps.late_set().is_none() {
            return Ok(None);
        }
        let pid = self.fork_child(|child| {
            if let Some(set) = child.traps.left.take() {
                child.traps.have(set);
            }
            Ok(())
        })?;
        Ok(Some(pid))
    }
}
