//! Bindings: labels and variables.

use super::super::lower::bind;
use super::super::{Term, keep};
use super::{Outcome, Parser};

impl Parser<'_> {
    pub(super) fn label(&mut self) -> Outcome<Term> {
        self.next();
        self.expect("$", &["'$'"])?;
        let name = keep(format!("*label-{}", self.name(&["IDENT"])?));
        self.expect("|", &["'|'"])?;
        let mark = self.scope.mark();
        self.scope.add_variable(name);
        let body = self.pipe();
        self.scope.leave(mark);
        Ok(Term::Label(name, Box::new(body?)))
    }

    /// `as pattern | body`
    pub(super) fn binding(&mut self, value: Term) -> Outcome<Term> {
        let pattern = self.whole_pattern()?;
        self.expect("|", &["'|'"])?;
        let mark = self.scope.mark();
        self.add_pattern_variables(&pattern);
        let body = self.pipe();
        self.scope.leave(mark);
        Ok(bind(value, pattern, body?))
    }
}
