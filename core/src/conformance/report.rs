//! What a run of the suite found.

use std::fmt;

use super::case::Outcome;
use super::fault::Fault;

/// A case that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The case.
    pub name: &'static str,
    /// What was expected, and what was seen.
    pub fault: Fault,
}

/// A case that was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The case.
    pub name: &'static str,
    /// The claim that the backend does not make.
    pub reason: String,
}

/// What a run of the suite found. Printed, it lists what failed and what was skipped, and why, and ends with the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The cases that passed.
    pub passed: Vec<&'static str>,
    /// The cases that failed.
    pub failed: Vec<Failed>,
    /// The cases that were not run.
    pub skipped: Vec<Skipped>,
}

impl Report {
    /// Adds how a case went.
    pub fn add(&mut self, name: &'static str, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed.push(name),
            Outcome::Failed(fault) => self.failed.push(Failed { name, fault }),
            Outcome::Skipped(reason) => self.skipped.push(Skipped { name, reason }),
        }
    }

    /// Whether nothing failed and something passed.
    pub fn is_good(&self) -> bool {
        self.failed.is_empty() && !self.passed.is_empty()
    }

    /// For the end of a test.
    ///
    /// # Panics
    /// When a case failed, or none was run, with the whole report.
    pub fn assert(&self) {
        assert!(self.is_good(), "the backend does not keep the contract\n{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Skipped { name, reason } in &self.skipped {
            writeln!(f, "skipped  {name}\n         {reason}")?;
        }
        for Failed { name, fault } in &self.failed {
            writeln!(f, "FAILED   {name}\n         expected {}\n         seen     {}", fault.expected, fault.seen)?;
        }
        let (passed, failed, skipped) = (self.passed.len(), self.failed.len(), self.skipped.len());
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}
