//! Programs: definitions and the main term.

use super::super::lex::Kind;
use super::super::{Def, Term};
use super::{Outcome, Parser};

impl Parser<'_> {
    /// Parses a program.
    pub(crate) fn program(&mut self) -> Option<Term> {
        // An error has been recorded.
        self.read_program().ok()
    }

    /// Parses the text of a builtin, which has only definitions.
    pub(crate) fn builtin_definitions(&mut self) -> Vec<Def> {
        let mut definitions = Vec::new();
        // An error has been recorded.
        let _ = self.read_definitions(&mut definitions);
        definitions
    }

    fn read_program(&mut self) -> Outcome<Term> {
        let start = self.peek();
        if ["module", "import", "include"].iter().any(|word| start.is(word)) {
            return Err(self.wrong("modules are not supported", start.at));
        }
        let main = if self.peek().kind == Kind::End && !self.tokens.is_empty() {
            Term::Id
        } else {
            self.definitions_and_term()?
        };
        match self.peek().kind {
            Kind::End => Ok(main),
            _ => Err(self.unexpected(&["$end"])),
        }
    }

    /// Definitions and the following term; without one the program is `.`.
    fn definitions_and_term(&mut self) -> Outcome<Term> {
        if !self.peek().is("def") {
            return match self.peek().kind {
                Kind::Invalid => Err(self.unexpected(&["$end"])),
                _ => self.pipe(),
            };
        }
        let def = self.def()?;
        let rest = if self.peek().kind == Kind::End { Term::Id } else { self.definitions_and_term()? };
        Ok(Term::Def(vec![def], Box::new(rest)))
    }

    fn read_definitions(&mut self, definitions: &mut Vec<Def>) -> Outcome<()> {
        while self.peek().is("def") {
            definitions.push(self.def()?);
        }
        match self.peek().kind {
            Kind::End => Ok(()),
            _ => Err(self.unexpected(&["$end"])),
        }
    }
}
