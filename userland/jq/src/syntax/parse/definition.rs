//! Definitions of filters.

use super::super::lex::Kind;
use super::super::{Def, keep};
use super::{Outcome, Parser};

impl Parser<'_> {
    /// `def name(parameters): body;`. Defines the name.
    pub(in crate::syntax) fn def(&mut self) -> Outcome<Def> {
        self.expect("def", &[])?;
        let name = self.def_name()?;
        let mut args = Vec::new();
        if self.eat("(") {
            loop {
                let dollar = self.eat("$");
                let parameter = self.name(if dollar { &["IDENT"] } else { &["IDENT", "'$'"] })?;
                args.push(if dollar { keep(format!("${parameter}")) } else { parameter });
                if !self.eat(";") {
                    break;
                }
            }
            self.expect(")", &["';'", "')'"])?;
            self.expect(":", &["':'"])?;
        } else {
            self.expect(":", &["'('", "':'"])?;
        }
        let arity = args.len();
        let mark = self.scope.mark();
        // Parameters shadow the definition itself, and `$name` is also a filter.
        self.scope.add_filter(name, arity, name);
        for parameter in &args {
            match parameter.strip_prefix('$') {
                Some(bare) => {
                    self.scope.add_variable(parameter);
                    self.scope.add_filter(bare, 0, parameter);
                }
                None => self.scope.add_filter(parameter, 0, parameter),
            }
        }
        self.defining.push((name, arity, false));
        let body = self.pipe();
        let calls_itself = self.defining.pop().is_some_and(|(_, _, called)| called);
        self.scope.leave(mark);
        let body = body?;
        self.expect(";", &[])?;
        self.scope.add_filter(name, arity, name);
        Ok(self.definition(Def { name, args, body }, calls_itself))
    }

    fn def_name(&mut self) -> Outcome<&'static str> {
        if self.scope.trusting && self.peek().kind == Kind::Format {
            return Ok(self.next().text);
        }
        self.name(&["IDENT"])
    }
}
