//! Bindings: labels and variables.

use jaq_core::load::parse::BinaryOp;

use super::super::lower::{bind, call};
use super::super::{Pattern, Term, keep, patterns};
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

    /// `as pattern ?// pattern | body`
    pub(super) fn binding(&mut self, value: Term) -> Outcome<Term> {
        let patterns = self.patterns()?;
        self.expect("|", &["'|'"])?;
        let mark = self.scope.mark();
        self.add_pattern_variables(&patterns);
        let start = self.at;
        let body = self.pipe();
        let end = self.at;
        self.at = start;
        let mut bodies = vec![body?];
        // Each alternative has a separate body, which is parsed again.
        for _ in 1..patterns.len() {
            self.at = start;
            bodies.push(self.pipe()?);
        }
        self.at = end;
        self.scope.leave(mark);
        Ok(self.destructure(value, patterns, bodies))
    }

    /// A single pattern is a binding of jaq. Of several, the first one whose body does not fail is taken.
    fn destructure(&mut self, value: Term, patterns: Vec<Pattern>, bodies: Vec<Term>) -> Term {
        let mut all = Vec::new();
        for pattern in &patterns {
            patterns::variables(pattern, &mut all);
        }
        all.sort_unstable();
        all.dedup();
        let count = patterns.len();
        let mut arms: Vec<(Pattern, Term)> = patterns.into_iter().zip(bodies).collect();
        if count == 1 {
            return match arms.pop() {
                Some((pattern, body)) => bind(value, pattern, body),
                None => value,
            };
        }
        let (input, held) = (self.fresh(), self.fresh());
        let mut result = None;
        while let Some((pattern, body)) = arms.pop() {
            let bound = bind(Term::Var(held), pattern, body);
            let nulls = all.iter().fold(bound, |body, name| bind(call("null", Vec::new()), Pattern::Var(name), body));
            let arm = bind_input(input, nulls);
            result = Some(match result {
                None => arm,
                Some(next) => Term::TryCatch(Box::new(arm), Some(Box::new(next))),
            });
        }
        let body = bind(value, Pattern::Var(held), result.unwrap_or_default());
        bind(Term::Id, Pattern::Var(input), body)
    }
}

fn bind_input(input: &'static str, term: Term) -> Term {
    Term::BinOp(Box::new(Term::Var(input)), BinaryOp::Pipe(None), Box::new(term))
}
