//! Programs and modules: metadata, imports and definitions.

use super::super::constants::constant;
use super::super::lex::Kind;
use super::super::{Term, terms};
use super::{Dependency, Outcome, Parsed, Parser};
use crate::value::Val;

impl Parser<'_> {
    /// Parses the part before the definitions: module directive and imports.
    pub(crate) fn head(&mut self) -> Parsed {
        let mut parsed = Parsed::default();
        // The error has been recorded.
        let _ = self.read_head(&mut parsed);
        parsed
    }

    /// Parses the rest of a program.
    pub(crate) fn program(&mut self, parsed: &mut Parsed) {
        let _ = self.read_program(parsed);
    }

    /// Parses the rest of a module, or of a text with only definitions.
    pub(crate) fn module(&mut self, parsed: &mut Parsed) {
        let _ = self.read_module(parsed);
    }

    fn read_head(&mut self, parsed: &mut Parsed) -> Outcome<()> {
        let start = self.peek().at;
        if self.eat("module") {
            let meta = self.pipe()?;
            self.expect(";", &[])?;
            self.check_meta(&meta, start)?;
            parsed.meta = Some(meta);
        }
        while self.peek().is("import") || self.peek().is("include") {
            let start = self.next();
            let path = self.constant_text()?;
            let name = if start.text == "import" {
                self.expect("as", &["as"])?;
                let dollar = if self.eat("$") { "$" } else { "" };
                Some(format!("{dollar}{}", self.name(&["IDENT"])?))
            } else {
                None
            };
            let meta = if self.peek().is(";") { None } else { Some(self.pipe()?) };
            self.expect(";", &[])?;
            if let Some(meta) = &meta {
                self.check_meta(meta, start.at)?;
            }
            parsed.dependencies.push(Dependency { path, name, meta });
        }
        Ok(())
    }

    fn check_meta(&mut self, meta: &Term, at: usize) -> Outcome<()> {
        match constant(meta) {
            None => Err(self.wrong("Module metadata must be constant", at)),
            Some(Val::Object(_)) => Ok(()),
            Some(_) => Err(self.wrong("Module metadata must be an object", at)),
        }
    }

    fn constant_text(&mut self) -> Outcome<String> {
        let at = self.peek().at;
        if self.peek().kind != Kind::QuoteStart {
            return Err(self.unexpected(&["FORMAT", "QQSTRING_START"]));
        }
        match self.string(None)? {
            Term::Str(None, parts) => {
                let text = terms::plain_text(&parts);
                text.ok_or_else(|| self.wrong("Import path must be constant", at))
            }
            _ => Err(self.wrong("Import path must be constant", at)),
        }
    }

    fn read_program(&mut self, parsed: &mut Parsed) -> Outcome<()> {
        let main = if self.peek().kind == Kind::End && !self.tokens.is_empty() {
            Term::Id
        } else {
            self.definitions_and_term()?
        };
        parsed.main = Some(main);
        match self.peek().kind {
            Kind::End => Ok(()),
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
        let def = self.def("")?;
        let rest = if self.peek().kind == Kind::End { Term::Id } else { self.definitions_and_term()? };
        Ok(Term::Def(vec![def], Box::new(rest)))
    }

    fn read_module(&mut self, parsed: &mut Parsed) -> Outcome<()> {
        while self.peek().is("def") {
            let prefix = self.prefix.clone();
            parsed.definitions.push(self.def(&prefix)?);
        }
        match self.peek().kind {
            Kind::End => Ok(()),
            _ => Err(self.unexpected(&["$end"])),
        }
    }
}
