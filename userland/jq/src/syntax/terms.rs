//! Terms, the highest precedence.

use jaq_core::load::lex::StrPart;
use jaq_core::path::{Opt, Part};

use super::lex::{Kind, Token};
use super::lower::{call, step, text};
use super::parse::{Outcome, Parser, Within};
use super::{Term, keep};

/// Known formats; others fail when they are used.
const FORMATS: [&str; 10] = ["@text", "@json", "@csv", "@tsv", "@html", "@uri", "@urid", "@sh", "@base64", "@base64d"];

/// Filters with several value arguments that evaluate the last one first. jq does not define these in its own language.
const LAST_FIRST: [&str; 16] = [
    "setpath",
    "pow",
    "atan2",
    "fmin",
    "fmax",
    "fmod",
    "ldexp",
    "scalb",
    "scalbln",
    "nextafter",
    "nexttoward",
    "copysign",
    "drem",
    "fma",
    "hypot",
    "split",
];

impl Parser<'_> {
    /// A term with the fields, indices and question marks after it.
    pub(super) fn postfix(&mut self) -> Outcome<Term> {
        let mut term = self.primary()?;
        loop {
            let token = self.peek();
            if token.kind == Kind::Field || token.is(".") || token.is("[") || token.is("?") {
                self.chained()?;
            }
            if token.kind == Kind::Field {
                self.next();
                let key = text(token.text.get(1..).unwrap_or_default());
                let opt = self.opt();
                term = step(term, Part::Index(key), opt);
            } else if token.is(".") && matches!(self.look(1).kind, Kind::QuoteStart | Kind::Format) {
                self.next();
                let key = self.formatted_string()?;
                let opt = self.opt();
                term = self.index(term, key, opt);
            } else if token.is(".") && self.look(1).is("[") {
                self.next();
                self.next();
                term = self.bracket(term)?;
            } else if token.is("[") {
                self.next();
                term = self.bracket(term)?;
            } else if token.is("?") {
                self.next();
                term = Term::TryCatch(Box::new(term), None);
            } else if token.is(".") {
                self.next();
                return Err(self.unexpected(&["FORMAT", "QQSTRING_START"]));
            } else {
                return Ok(term);
            }
        }
    }

    fn opt(&mut self) -> Opt {
        let mut opt = Opt::Essential;
        while self.eat("?") {
            opt = Opt::Optional;
        }
        opt
    }

    fn formatted_string(&mut self) -> Outcome<Term> {
        let format = (self.peek().kind == Kind::Format).then(|| self.next().text);
        if self.peek().kind != Kind::QuoteStart {
            return Err(self.unexpected(&["QQSTRING_START"]));
        }
        self.string(format)
    }

    /// After `[` following a term.
    fn bracket(&mut self, head: Term) -> Outcome<Term> {
        self.within.push(Within::Brackets);
        let result = self.bracket_inner(head)?;
        self.within.pop();
        Ok(result)
    }

    fn bracket_inner(&mut self, head: Term) -> Outcome<Term> {
        if self.eat("]") {
            let opt = self.opt();
            return Ok(step(head, Part::Range(None, None), opt));
        }
        if self.eat(":") {
            let to = self.pipe()?;
            self.expect("]", &[])?;
            let opt = self.opt();
            return Ok(self.slice(head, None, Some(to), opt));
        }
        let from = self.pipe()?;
        if self.eat(":") {
            let to = if self.peek().is("]") { None } else { Some(self.pipe()?) };
            self.expect("]", &[])?;
            let opt = self.opt();
            return Ok(self.slice(head, Some(from), to, opt));
        }
        self.expect("]", &[])?;
        let opt = self.opt();
        Ok(self.index(head, from, opt))
    }

    fn primary(&mut self) -> Outcome<Term> {
        let token = self.peek();
        match token.kind {
            Kind::Number => {
                self.next();
                self.number(token)
            }
            Kind::Field => {
                self.next();
                let key = text(token.text.get(1..).unwrap_or_default());
                let opt = self.opt();
                Ok(step(Term::Id, Part::Index(key), opt))
            }
            Kind::QuoteStart => self.string(None),
            Kind::Format => {
                self.next();
                if self.peek().kind == Kind::QuoteStart {
                    return self.string(Some(token.text));
                }
                Ok(format_filter(token.text))
            }
            Kind::Word => self.word(token),
            Kind::Sign => self.sign(token),
            _ => Err(self.unexpected(&[])),
        }
    }

    fn number(&mut self, token: Token) -> Outcome<Term> {
        match token.text.parse::<f64>() {
            Ok(_) => Ok(Term::Num(token.text)),
            Err(_) => Err(self.wrong(
                format!(
                    "Invalid numeric literal at EOF at line 1, column {} (while parsing '{}')",
                    token.text.len(),
                    token.text
                ),
                token.at,
            )),
        }
    }

    fn sign(&mut self, token: Token) -> Outcome<Term> {
        match token.text {
            "." => {
                self.next();
                let next = self.peek();
                if matches!(next.kind, Kind::QuoteStart | Kind::Format) {
                    let key = self.formatted_string()?;
                    let opt = self.opt();
                    return Ok(self.index(Term::Id, key, opt));
                }
                Ok(Term::Id)
            }
            ".." => {
                self.next();
                Ok(Term::Recurse)
            }
            "$" => {
                self.next();
                let name = self.name(&["IDENT"])?;
                Ok(self.variable(keep(format!("${name}")), token.at))
            }
            "(" => {
                self.next();
                self.within.push(Within::Brackets);
                let inner = self.pipe()?;
                self.expect(")", &[])?;
                self.within.pop();
                Ok(inner)
            }
            "[" => {
                self.next();
                if self.eat("]") {
                    return Ok(Term::Arr(None));
                }
                self.within.push(Within::Brackets);
                let inner = self.pipe()?;
                self.expect("]", &[])?;
                self.within.pop();
                Ok(Term::Arr(Some(Box::new(inner))))
            }
            "{" => {
                self.next();
                self.object()
            }
            _ => Err(self.unexpected(&[])),
        }
    }

    fn word(&mut self, token: Token) -> Outcome<Term> {
        if !token.is_keyword() {
            self.next();
            return self.filter(token);
        }
        match token.text {
            "if" => self.condition(),
            "try" => self.attempt(),
            "reduce" => self.reduce(),
            "foreach" => self.foreach(),
            "break" => {
                self.next();
                if !self.eat("$") {
                    self.unexpected(&["'$'"]);
                    return Err(self.wrong("break requires a label to break to", token.at));
                }
                let name = keep(format!("*label-{}", self.name(&["IDENT"])?));
                if !self.scope.has_variable(name) {
                    self.undefined(&format!("${name}"), token.at);
                }
                Ok(Term::Break(name))
            }
            _ => Err(self.unexpected(&[])),
        }
    }

    /// A name with its arguments.
    fn filter(&mut self, token: Token) -> Outcome<Term> {
        let mut arguments = Vec::new();
        if self.eat("(") {
            self.within.push(Within::Brackets);
            loop {
                arguments.push(self.pipe()?);
                if !self.eat(";") {
                    break;
                }
            }
            self.expect(")", &[])?;
            self.within.pop();
        }
        let arity = arguments.len();
        if let Some(called) = self.scope.filter(token.text, arity) {
            for defining in &mut self.defining {
                defining.2 |= defining.0 == called && defining.1 == arity;
            }
            // A parameter `$name` can also be called as a filter.
            if called.starts_with('$') {
                return Ok(Term::Var(called));
            }
            return Ok(call(called, arguments));
        }
        if (token.text, arity) == ("recurse", 0) {
            return Ok(Term::Recurse);
        }
        self.calls.push((token.text, arity, token.at));
        if LAST_FIRST.contains(&token.text) && arity > 1 {
            return Ok(self.call_last_first(token.text, arguments));
        }
        Ok(call(token.text, arguments))
    }

    pub(super) fn variable(&mut self, name: &'static str, at: usize) -> Term {
        if !self.scope.has_variable(name) {
            self.undefined(name, at);
        }
        Term::Var(name)
    }

    /// Reports an unbound variable or label.
    fn undefined(&mut self, name: &str, at: usize) {
        self.calls.push((keep(name.to_owned()), usize::MAX, at));
    }

    /// A string with its interpolations, from the opening quote.
    pub(super) fn string(&mut self, format: Option<&'static str>) -> Outcome<Term> {
        self.next();
        let mut parts = Vec::new();
        loop {
            let token = self.peek();
            match token.kind {
                Kind::QuoteText => {
                    self.next();
                    self.quoted_text(token, &mut parts)?;
                }
                Kind::InterpolationStart => {
                    self.next();
                    self.within.push(Within::Brackets);
                    let term = self.pipe()?;
                    if self.peek().kind != Kind::InterpolationEnd {
                        return Err(self.unexpected(&[]));
                    }
                    self.next();
                    self.within.pop();
                    parts.push(StrPart::Term(term));
                }
                Kind::QuoteEnd => {
                    self.next();
                    break;
                }
                _ => {
                    return Err(self.unexpected(&["QQSTRING_TEXT", "QQSTRING_INTERP_START", "QQSTRING_END"]));
                }
            }
        }
        // A format without interpolations has no effect.
        let format = format.filter(|_| parts.iter().any(|part| matches!(part, StrPart::Term(_))));
        Ok(match format {
            Some(format) if !FORMATS.contains(&format) => format_filter(format),
            format => self.string_term(format, parts),
        })
    }

    /// Text or escapes, as in JSON.
    fn quoted_text(&mut self, token: Token, parts: &mut Vec<StrPart<&'static str, Term>>) -> Outcome<()> {
        if !token.text.starts_with('\\') {
            parts.push(StrPart::Str(token.text));
            return Ok(());
        }
        let quoted = format!("\"{}\"", token.text);
        match crate::json::parse_one(quoted.as_bytes()) {
            Ok(value) => {
                parts.push(StrPart::Str(keep(value.as_str().unwrap_or_default().to_owned())));
                Ok(())
            }
            Err(message) => Err(self.wrong(format!("{message} (while parsing '{quoted}')"), token.at)),
        }
    }
}

/// A format without a string.
fn format_filter(name: &'static str) -> Term {
    if FORMATS.contains(&name) {
        return call(name, Vec::new());
    }
    let bare = name.strip_prefix('@').unwrap_or(name);
    call("!fail", vec![text(keep(format!("{bare} is not a valid format")))])
}
