//! `if`, `try`, `reduce` and `foreach`.

use jaq_core::load::parse::BinaryOp;

use super::lower::call;
use super::parse::{Outcome, Parser, Within};
use super::{Pattern, Term};

/// Parts of `reduce` and `foreach`.
struct Fold {
    source: Term,
    pattern: Pattern,
    init: Term,
    update: Term,
    extract: Option<Term>,
}

impl Parser<'_> {
    pub(super) fn condition(&mut self) -> Outcome<Term> {
        let start = self.next().at;
        let mut branches = Vec::new();
        loop {
            let condition = self.pipe()?;
            self.expect("then", &[])?;
            self.within.push(Within::Then(start));
            let then = self.pipe()?;
            branches.push((condition, then));
            if self.eat("elif") {
                self.within.pop();
                continue;
            }
            let otherwise = if self.eat("else") { Some(Box::new(self.pipe()?)) } else { None };
            self.expect("end", &[])?;
            self.within.pop();
            return Ok(Term::IfThenElse(branches, otherwise));
        }
    }

    pub(super) fn attempt(&mut self) -> Outcome<Term> {
        self.next();
        let body = self.attempted()?;
        let handler = if self.eat("catch") {
            let handler = self.attempted()?;
            let worded = call("!with_jq_message", Vec::new());
            Some(Box::new(Term::BinOp(Box::new(worded), BinaryOp::Pipe(None), Box::new(handler))))
        } else {
            None
        };
        Ok(Term::TryCatch(Box::new(body), handler))
    }

    fn attempted(&mut self) -> Outcome<Term> {
        if self.eat("-") {
            return Ok(Term::Neg(Box::new(self.deeper(Self::postfix)?)));
        }
        self.deeper(Self::postfix)
    }

    pub(super) fn reduce(&mut self) -> Outcome<Term> {
        let Fold { source, pattern, init, update, .. } = self.fold(false)?;
        let update = self.step_of_reduce(update);
        Ok(Term::Fold("reduce", Box::new(source), pattern, vec![init, update]))
    }

    pub(super) fn foreach(&mut self) -> Outcome<Term> {
        let Fold { source, pattern, init, update, extract } = self.fold(true)?;
        Ok(self.foreach_of(source, pattern, init, update, extract))
    }

    /// `SOURCE as PATTERN (INIT; UPDATE)` after the keyword; with `extracts`, an optional third part.
    fn fold(&mut self, extracts: bool) -> Outcome<Fold> {
        self.next();
        let source = self.deeper(Self::postfix)?;
        self.expect("as", &["as"])?;
        let pattern = self.whole_pattern()?;
        self.expect("(", &["'('"])?;
        self.within.push(Within::Brackets);
        let init = self.pipe()?;
        self.expect(";", &[])?;
        let mark = self.scope.mark();
        self.add_pattern_variables(&pattern);
        let update = self.pipe();
        let extract = match &update {
            Ok(_) if extracts && self.eat(";") => Some(self.pipe()),
            _ => None,
        };
        self.scope.leave(mark);
        let (update, extract) = (update?, extract.transpose()?);
        self.expect(")", &[])?;
        self.within.pop();
        Ok(Fold { source, pattern, init, update, extract })
    }
}
