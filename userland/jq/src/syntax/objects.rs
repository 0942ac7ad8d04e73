//! Object constructors.

use jaq_core::load::parse::BinaryOp;
use jaq_core::path::{Opt, Part};

use super::lex::Kind;
use super::lower::{is_single, step, text};
use super::parse::{Outcome, Parser, Within};
use super::{Pattern, Term, keep};

impl Parser<'_> {
    /// After the opening brace.
    pub(super) fn object(&mut self) -> Outcome<Term> {
        self.within.push(Within::Brackets);
        let mut entries = Vec::new();
        while !self.peek().is("}") {
            entries.push(self.entry()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}", &["'}'"])?;
        self.within.pop();
        Ok(self.construct(entries))
    }

    /// Values and keys with several outputs are bound first, the last ones innermost.
    fn construct(&mut self, entries: Vec<(Term, Term)>) -> Term {
        let mut bound = Vec::new();
        let mut hold = |parser: &mut Self, term: Term| {
            if is_single(&term) {
                return term;
            }
            let name = parser.fresh();
            bound.push((term, name));
            Term::Var(name)
        };
        let entries: Vec<_> = entries
            .into_iter()
            .map(|(key, value)| {
                let key = hold(self, key);
                (key, Some(hold(self, value)))
            })
            .collect();
        bound
            .into_iter()
            .rev()
            .fold(Term::Obj(entries), |body, (term, name)| super::lower::bind(term, Pattern::Var(name), body))
    }

    fn entry(&mut self) -> Outcome<(Term, Term)> {
        let token = self.peek();
        let own = |key: &'static str| (text(key), step(Term::Id, Part::Index(text(key)), Opt::Essential));
        match token.kind {
            Kind::Word => {
                self.next();
                if self.eat(":") {
                    return Ok((text(token.text), self.value()?));
                }
                if token.is_keyword() {
                    return Err(self.unexpected(&["':'"]));
                }
                Ok(own(token.text))
            }
            Kind::QuoteStart | Kind::Format => {
                if token.kind == Kind::Format {
                    self.next();
                    if self.peek().kind != Kind::QuoteStart {
                        return Err(self.unexpected(&["QQSTRING_START"]));
                    }
                }
                let format = (token.kind == Kind::Format).then_some(token.text);
                let key = self.string(format)?;
                if self.eat(":") {
                    return Ok((key, self.value()?));
                }
                if !self.peek().is(",") && !self.peek().is("}") {
                    return Err(self.unexpected(&["'}'"]));
                }
                let value = step(Term::Id, Part::Index(key.clone()), Opt::Essential);
                Ok((key, value))
            }
            _ if token.is("$") => {
                self.next();
                let name = self.name(&["IDENT"])?;
                Ok((text(name), self.variable(keep(format!("${name}")), token.at)))
            }
            _ if token.is("(") => {
                self.next();
                let key = self.pipe()?;
                self.expect(")", &[])?;
                self.check_key(&key, token.at)?;
                self.expect(":", &["':'"])?;
                Ok((key, self.value()?))
            }
            _ => {
                let broken = self.unexpected(&[]);
                let signs = (0..).map(|count| self.look(count)).take_while(|next| next.kind != Kind::End);
                let sign = signs.into_iter().find(|next| [":", ",", "}"].iter().any(|sign| next.is(sign)));
                if sign.is_some_and(|sign| sign.is(":")) {
                    return Err(self.wrong("May need parentheses around object key expression", token.at));
                }
                Err(broken)
            }
        }
    }

    /// A constant key must be a string.
    pub(super) fn check_key(&mut self, key: &Term, at: usize) -> Outcome<()> {
        let kind = match key {
            Term::Num(number) => format!("number ({number})"),
            Term::Call(name @ ("true" | "false"), arguments) if arguments.is_empty() => format!("boolean ({name})"),
            Term::Call("null", arguments) if arguments.is_empty() => "null (null)".to_owned(),
            Term::Arr(None) => "array ([])".to_owned(),
            Term::Obj(entries) if entries.is_empty() => "object ({})".to_owned(),
            _ => return Ok(()),
        };
        Err(self.wrong(format!("Cannot use {kind} as object key"), at))
    }

    /// A value binds like a term; only pipes and signs are allowed outside parentheses.
    fn value(&mut self) -> Outcome<Term> {
        let left =
            if self.eat("-") { Term::Neg(Box::new(self.deeper(Self::value)?)) } else { self.deeper(Self::postfix)? };
        if self.eat("|") {
            let right = self.deeper(Self::value)?;
            return Ok(Term::BinOp(Box::new(left), BinaryOp::Pipe(None), Box::new(right)));
        }
        Ok(left)
    }
}
