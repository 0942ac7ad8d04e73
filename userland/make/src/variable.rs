//! Variables and scopes.

use std::collections::HashMap;

use crate::Make;
use crate::file::{FileId, Location};

/// Origin of a value, in increasing precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    Default,
    Environment,
    File,
    EnvironmentOverride,
    CommandLine,
    Override,
    Automatic,
}

impl Origin {
    /// The name in `$(origin)`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Environment => "environment",
            Self::File => "file",
            Self::EnvironmentOverride => "environment override",
            Self::CommandLine => "command line",
            Self::Override => "override",
            Self::Automatic => "automatic",
        }
    }
}

/// Export of a variable to the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Export {
    /// Depends on the origin.
    #[default]
    Default,
    Yes,
    No,
}

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) value: Vec<u8>,
    /// Recursive: references in the value are expanded on use.
    pub(crate) recursive: bool,
    pub(crate) origin: Origin,
    pub(crate) export: Export,
    /// The target's value is appended to that of the outer scopes.
    pub(crate) append: bool,
    /// Position of the assignment.
    pub(crate) location: Option<Location>,
}

impl Variable {
    pub(crate) fn new(value: impl Into<Vec<u8>>, recursive: bool, origin: Origin) -> Self {
        Self { value: value.into(), recursive, origin, export: Export::Default, append: false, location: None }
    }
}

/// The variables of one scope.
pub(crate) type Scope = HashMap<Vec<u8>, Variable>;

/// Identifier of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeId {
    /// Arguments of `call` and the variable of `foreach`, innermost last.
    Local(usize),
    /// Target-specific variables.
    Target(FileId),
    /// Pattern-specific variables of a target.
    Pattern(FileId),
    Global,
}

/// Maximum length of the chain through which targets inherit variables.
const MAX_CHAIN: usize = 4096;

impl Make {
    /// The visible scopes, innermost first.
    pub(crate) fn places(&self) -> Vec<ScopeId> {
        let mut places: Vec<ScopeId> = (0..self.locals.len()).rev().map(ScopeId::Local).collect();
        let mut target = self.target;
        for _ in 0..MAX_CHAIN {
            let Some(file) = target else { break };
            places.push(ScopeId::Target(file));
            places.push(ScopeId::Pattern(file));
            target = self.files.get(file).parent;
        }
        places.push(ScopeId::Global);
        places
    }

    pub(crate) fn scope(&self, place: ScopeId) -> Option<&Scope> {
        match place {
            ScopeId::Local(at) => self.locals.get(at),
            ScopeId::Target(file) => Some(&self.files.get(file).variables),
            ScopeId::Pattern(file) => Some(&self.files.get(file).pattern_variables),
            ScopeId::Global => Some(&self.globals),
        }
    }

    /// The variable with that name, and its scope. `after` skips the scopes up to and including one.
    pub(crate) fn find_variable(&self, name: &[u8], after: Option<ScopeId>) -> Option<(ScopeId, &Variable)> {
        if after.is_none() && self.locals.is_empty() && self.target.is_none() {
            return self.globals.get(name).map(|variable| (ScopeId::Global, variable));
        }
        let mut skipping = after.is_some();
        for place in self.places() {
            if skipping {
                skipping = after != Some(place);
                continue;
            }
            if let Some(variable) = self.scope(place).and_then(|scope| scope.get(name)) {
                return Some((place, variable));
            }
        }
        None
    }

    /// Sets a global variable unless one with higher precedence exists.
    pub(crate) fn set_global(&mut self, name: &[u8], variable: Variable) {
        store(&mut self.globals, name, variable);
    }
}

/// Sets a variable in a scope unless one with higher precedence exists. Its export state is kept.
pub(crate) fn store(scope: &mut Scope, name: &[u8], variable: Variable) {
    match scope.get_mut(name) {
        None => {
            scope.insert(name.to_vec(), variable);
        }
        Some(known) if variable.origin >= known.origin || known.origin == Origin::Automatic => {
            let export = if variable.export == Export::Default { known.export } else { variable.export };
            *known = Variable { export, ..variable };
        }
        Some(_) => {}
    }
}
