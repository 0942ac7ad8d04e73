//! Traps that a process which was made for a simple command has until the words of that command are expanded. bash takes
//! the traps of the shell away from it only behind them, so that words without a value end it with the EXIT trap.

use std::rc::Rc;

use super::{EXIT, Traps};
use crate::ir::{Bytes, Simple};
use crate::state::{Run, Shell, Stop};

/// All traps of a shell.
pub(crate) type Set = Vec<(u8, Rc<Bytes>)>;

/// The traps that are still there while the words of one command are expanded.
#[derive(Debug)]
pub(crate) struct Late {
    command: Rc<Simple>,
    set: Set,
    /// The words had no value.
    failed: bool,
}

impl Traps {
    /// What a process for a simple command ends with if its words have no value; `None` where nothing would run then.
    pub(crate) fn late_set(&self) -> Option<Set> {
        if self.set.is_empty() {
            return self.carried.clone();
        }
        let runs = !self.is_running(EXIT) && self.get(EXIT).is_some_and(|text| !text.is_empty());
        if runs { Some(self.set.clone()) } else { self.carried.clone() }
    }

    /// Keeps them for the words of `command`.
    pub(crate) fn keep_late(&mut self, command: &Rc<Simple>, set: Option<Set>) {
        self.late = set.map(|set| Late { command: Rc::clone(command), set, failed: false });
    }

    /// What is left to run, if the words that it was kept for had no value.
    pub(crate) fn take_late(&mut self) -> Option<Set> {
        self.late.take().filter(|late| late.failed).map(|late| late.set)
    }

    /// Has these traps and no others.
    pub(crate) fn have(&mut self, set: Set) {
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

    /// Stands for a process that ends with the traps of the shell, with the status that there is.
    pub(crate) fn end_late(&mut self, set: Set) -> Run<u32> {
        self.fork_child(|child| {
            child.traps.have(set);
            Ok(())
        })
    }
}
