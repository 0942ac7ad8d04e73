//! Name resolution.

/// The visible names at a position.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// Filters of the text and their names in jaq, the innermost last.
    filters: Vec<(&'static str, usize, &'static str)>,
    /// Variables with their dollar, and labels with a star.
    variables: Vec<String>,
    /// All names are used unchanged, because the text is builtin.
    pub(super) trusting: bool,
}

/// A saved state of the scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    filters: usize,
    variables: usize,
}

impl Scope {
    /// A scope for builtin text, where names are used unchanged.
    pub(crate) fn trusting() -> Self {
        Self { trusting: true, ..Self::default() }
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { filters: self.filters.len(), variables: self.variables.len() }
    }

    /// Restores a saved state.
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

    /// The jaq name of a filter of this text.
    pub(crate) fn filter(&self, name: &str, arity: usize) -> Option<&'static str> {
        let found = self.filters.iter().rev().find(|(own, own_arity, _)| *own == name && *own_arity == arity);
        found.map(|(_, _, called)| *called)
    }

    pub(crate) fn has_variable(&self, name: &str) -> bool {
        self.trusting || self.variables.iter().any(|own| own == name)
    }
}
