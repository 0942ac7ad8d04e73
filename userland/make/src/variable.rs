//! Variables, and where they are looked for.

use std::collections::HashMap;

use crate::Make;
use crate::file::{FileId, Location};

/// Where a value comes from, weakest first.
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
    /// What `$(origin)` calls it.
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

/// Whether programs get a variable in their environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Export {
    /// As its origin says.
    #[default]
    Default,
    Yes,
    No,
}

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) value: Vec<u8>,
    /// Whether references in the value are expanded when it is used.
    pub(crate) recursive: bool,
    pub(crate) origin: Origin,
    pub(crate) export: Export,
    /// The value of a target goes behind that of the scopes outside.
    pub(crate) append: bool,
    /// Prerequisites do not inherit it.
    pub(crate) private: bool,
    /// Where it was assigned.
    pub(crate) location: Option<Location>,
}

impl Variable {
    pub(crate) fn new(value: impl Into<Vec<u8>>, recursive: bool, origin: Origin) -> Self {
        Self {
            value: value.into(),
            recursive,
            origin,
            export: Export::Default,
            append: false,
            private: false,
            location: None,
        }
    }
}

/// The variables of one scope.
pub(crate) type Scope = HashMap<Vec<u8>, Variable>;

/// Names a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Arguments of `call` and the variable of `foreach`, innermost last.
    Local(usize),
    /// Those of a target.
    Target(FileId),
    /// Those of the patterns that fit a target.
    Pattern(FileId),
    Global,
}

/// Targets whose prerequisites lead to one that inherits, at most; a longer chain inherits no further.
const LONGEST_CHAIN: usize = 4096;

impl Make {
    /// The scopes that are seen from here, innermost first.
    pub(crate) fn places(&self) -> Vec<(Place, bool)> {
        let mut places: Vec<(Place, bool)> = (0..self.locals.len()).rev().map(|at| (Place::Local(at), false)).collect();
        let mut target = self.target;
        let mut inherited = false;
        for _ in 0..LONGEST_CHAIN {
            let Some(file) = target else { break };
            places.push((Place::Target(file), inherited));
            places.push((Place::Pattern(file), inherited));
            target = self.files.get(file).parent;
            inherited = true;
        }
        places.push((Place::Global, false));
        places
    }

    pub(crate) fn scope(&self, place: Place) -> Option<&Scope> {
        match place {
            Place::Local(at) => self.locals.get(at),
            Place::Target(file) => Some(&self.files.get(file).variables),
            Place::Pattern(file) => Some(&self.files.get(file).pattern_variables),
            Place::Global => Some(&self.globals),
        }
    }

    /// The variable of that name, and where it was found. `after` skips the scopes up to and with one.
    pub(crate) fn find_variable(&self, name: &[u8], after: Option<Place>) -> Option<(Place, &Variable)> {
        if after.is_none() && self.locals.is_empty() && self.target.is_none() {
            return self.globals.get(name).map(|variable| (Place::Global, variable));
        }
        let mut skipping = after.is_some();
        for (place, inherited) in self.places() {
            if skipping {
                skipping = after != Some(place);
                continue;
            }
            if let Some(variable) = self.scope(place).and_then(|scope| scope.get(name))
                && !(inherited && variable.private)
            {
                return Some((place, variable));
            }
        }
        None
    }

    /// Sets a global variable unless a stronger one is there.
    pub(crate) fn set_global(&mut self, name: &[u8], variable: Variable) {
        store(&mut self.globals, name, variable);
    }
}

/// Puts a variable into a scope unless a stronger one is there. Whether it is exported stays as it was said.
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
