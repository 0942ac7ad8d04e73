//! Results of a run of the suite.

use std::fmt;

use super::case::CaseOutcome;
use super::failure::CaseFailure;

/// A case that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The case.
    pub name: &'static str,
    /// The expected and the actual value.
    pub failure: CaseFailure,
}

/// A skipped case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The case.
    pub name: &'static str,
    /// The missing capability.
    pub reason: String,
}

/// Results of a run of the suite. `Display` lists failed and skipped cases with the reasons, then the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The cases that passed.
    pub passed: Vec<&'static str>,
    /// The cases that failed.
    pub failed: Vec<Failed>,
    /// The skipped cases.
    pub skipped: Vec<Skipped>,
}

impl Report {
    /// Adds the outcome of a case.
    pub fn add(&mut self, name: &'static str, outcome: CaseOutcome) {
        match outcome {
            CaseOutcome::Passed => self.passed.push(name),
            CaseOutcome::Failed(fault) => self.failed.push(Failed { name, failure: fault }),
            CaseOutcome::Skipped(reason) => self.skipped.push(Skipped { name, reason }),
        }
    }

    /// Returns whether no case failed and at least one passed.
    pub fn is_success(&self) -> bool {
        self.failed.is_empty() && !self.passed.is_empty()
    }

    /// Fails a test unless the run was successful.
    ///
    /// # Panics
    /// If a case failed or no case passed, with the whole report.
    pub fn assert_success(&self) {
        assert!(self.is_success(), "the backend does not fulfill the contract\n{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Skipped { name, reason } in &self.skipped {
            writeln!(f, "skipped  {name}\n         {reason}")?;
        }
        for Failed { name, failure: fault } in &self.failed {
            writeln!(f, "FAILED   {name}\n         expected {}\n         actual   {}", fault.expected, fault.actual)?;
        }
        let (passed, failed, skipped) = (self.passed.len(), self.failed.len(), self.skipped.len());
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}
