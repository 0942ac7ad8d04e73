//! Patterns after `as`.

use super::lex::Kind;
use super::lower::text;
use super::parse::{Outcome, Parser};
use super::{Pattern, Term, keep};

/// The variables of a pattern.
fn variables(pattern: &Pattern, found: &mut Vec<&'static str>) {
    match pattern {
        Pattern::Var(name) => found.push(name),
        Pattern::Arr(items) => items.iter().for_each(|item| variables(item, found)),
        Pattern::Obj(entries) => entries.iter().for_each(|(_, pattern)| variables(pattern, found)),
    }
}

impl Parser<'_> {
    /// The pattern after `as`.
    pub(super) fn whole_pattern(&mut self) -> Outcome<Pattern> {
        let pattern = self.pattern()?;
        let next = self.peek();
        if next.is("?//") {
            return Err(self.wrong("alternative patterns (`?//`) are not supported", next.at));
        }
        Ok(pattern)
    }

    pub(super) fn add_pattern_variables(&mut self, pattern: &Pattern) {
        let mut found = Vec::new();
        variables(pattern, &mut found);
        for name in found {
            self.scope.add_variable(name);
        }
    }

    fn pattern(&mut self) -> Outcome<Pattern> {
        self.deeper(Self::pattern_inner)
    }

    fn pattern_inner(&mut self) -> Outcome<Pattern> {
        if self.eat("$") {
            return Ok(Pattern::Var(keep(format!("${}", self.name(&["IDENT"])?))));
        }
        if self.eat("[") {
            let mut items = vec![self.pattern()?];
            while self.eat(",") {
                items.push(self.pattern()?);
            }
            self.expect("]", &["','", "']'"])?;
            return Ok(Pattern::Arr(items));
        }
        if self.eat("{") {
            let mut entries = Vec::new();
            self.pattern_entry(&mut entries)?;
            while self.eat(",") {
                self.pattern_entry(&mut entries)?;
            }
            self.expect("}", &["','", "'}'"])?;
            return Ok(Pattern::Obj(entries));
        }
        Err(self.unexpected(&["'$'", "'['", "'{'"]))
    }

    fn pattern_entry(&mut self, entries: &mut Vec<(Term, Pattern)>) -> Outcome<()> {
        if self.eat("$") {
            let name = self.name(&["IDENT"])?;
            entries.push((text(name), Pattern::Var(keep(format!("${name}")))));
            if self.eat(":") {
                let pattern = self.pattern()?;
                entries.push((text(name), pattern));
            }
            return Ok(());
        }
        let token = self.peek();
        let key = match token.kind {
            Kind::Word => text(self.next().text),
            Kind::QuoteStart => self.string(None)?,
            Kind::Format => {
                self.next();
                self.string(Some(token.text))?
            }
            _ if self.eat("(") => {
                let key = self.pipe()?;
                self.expect(")", &[])?;
                self.check_key(&key, token.at)?;
                key
            }
            _ => return Err(self.unexpected(&[])),
        };
        self.expect(":", &["':'"])?;
        let pattern = self.pattern()?;
        entries.push((key, pattern));
        Ok(())
    }
}
