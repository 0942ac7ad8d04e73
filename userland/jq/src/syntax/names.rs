//! What names mean at a place of a program.

use std::collections::HashMap;

/// The definitions of a module by the names under which others import it.
pub(crate) type Definitions = HashMap<(String, usize), &'static str>;

/// The modules that a text has imported, by their names there.
pub(crate) type ModuleNames = HashMap<String, Definitions>;

/// What can be seen at a place.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// Filters of the text itself and how jaq is to call them, the innermost last.
    filters: Vec<(&'static str, usize, &'static str)>,
    /// Variables, with their dollar, and labels, with a star.
    variables: Vec<String>,
    pub(crate) modules: ModuleNames,
    /// Every name is taken as it stands, because the text is ours.
    pub(super) trusting: bool,
}

/// A place in a scope to go back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    filters: usize,
    variables: usize,
}

impl Scope {
    /// For a text of ours, in which every name is taken as it stands.
    pub(crate) fn trusting() -> Self {
        Self { trusting: true, ..Self::default() }
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { filters: self.filters.len(), variables: self.variables.len() }
    }

    /// Forgets what was added since.
    pub(crate) fn leave(&mut self, mark: Mark) {
        self.filters.truncate(mark.filters);
        self.variables.truncate(mark.variables);
    }

    pub(crate) fn add_filter(&mut self, name: &'static str, arity: usize, called: &'static str) {
        self.filters.push((name, arity, called));
    }

    pub(crate) fn add_variable(&mut self, name: &str) {
        self.variables.push(name.to_owned());
    }

    /// How jaq is to call a filter of this text or of a module.
    pub(crate) fn filter(&self, name: &str, arity: usize) -> Option<&'static str> {
        if let Some((module, name)) = name.split_once("::") {
            return self.modules.get(module)?.get(&(name.to_owned(), arity)).copied();
        }
        let found = self.filters.iter().rev().find(|(own, own_arity, _)| *own == name && *own_arity == arity);
        found.map(|(_, _, called)| *called)
    }

    pub(crate) fn has_variable(&self, name: &str) -> bool {
        self.trusting || self.variables.iter().any(|own| own == name)
    }
}
