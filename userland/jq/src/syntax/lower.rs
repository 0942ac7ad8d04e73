//! Lowering to jaq terms with jq semantics.
//!
//! jaq evaluates the left operand first and jq the right one, which is visible if an operand has several outputs. In jaq, an
//! update or a `reduce` step can have several results; jq takes the last one.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::BinaryOp;
use jaq_core::path::{Opt, Part, Path};

use super::parse::Parser;
use super::{Def, Pattern, Term, keep};

/// A term that has exactly one output, or fails.
pub(super) fn is_single(term: &Term) -> bool {
    match term {
        Term::Id | Term::Num(_) | Term::Var(_) | Term::Arr(_) => true,
        Term::Str(_, parts) => parts.iter().all(|part| match part {
            StrPart::Term(term) => is_single(term),
            StrPart::Str(_) | StrPart::Char(_) => true,
        }),
        Term::Obj(entries) => entries.iter().all(|(key, value)| is_single(key) && value.as_ref().is_none_or(is_single)),
        Term::Neg(inner) => is_single(inner),
        Term::BinOp(left, BinaryOp::Comma, _) if !is_single(left) => false,
        Term::BinOp(_, BinaryOp::Comma | BinaryOp::Alt, _) => false,
        Term::BinOp(left, _, right) => is_single(left) && is_single(right),
        Term::IfThenElse(branches, otherwise) => {
            branches.iter().all(|(condition, then)| is_single(condition) && is_single(then))
                && otherwise.as_ref().is_none_or(|otherwise| is_single(otherwise))
        }
        Term::Fold("reduce", _, _, arguments) => arguments.first().is_some_and(is_single),
        Term::Path(head, path) => is_single(head) && path.0.iter().all(is_single_step),
        Term::Call(name, arguments) => arguments.is_empty() && SINGLE_CALLS.contains(name),
        Term::Recurse | Term::Label(..) | Term::Break(_) | Term::Fold(..) | Term::TryCatch(..) | Term::Def(..) => false,
    }
}

/// Filters without arguments that always have one output.
const SINGLE_CALLS: [&str; 14] = [
    "length",
    "not",
    "tostring",
    "tonumber",
    "type",
    "keys",
    "add",
    "floor",
    "sqrt",
    "true",
    "false",
    "null",
    "ascii_downcase",
    "tojson",
];

fn is_single_step((part, opt): &(Part<Term>, Opt)) -> bool {
    let bound = |bound: &Option<Term>| bound.as_ref().is_none_or(is_single);
    matches!(opt, Opt::Essential)
        && match part {
            Part::Index(index) => is_single(index),
            Part::Range(None, None) => false,
            Part::Range(from, to) => bound(from) && bound(to),
        }
}

pub(super) fn text(text: &'static str) -> Term {
    Term::Str(None, if text.is_empty() { Vec::new() } else { vec![StrPart::Str(text)] })
}

pub(super) fn call(name: &'static str, arguments: Vec<Term>) -> Term {
    Term::Call(name, arguments)
}

fn pipe(left: Term, right: Term) -> Term {
    Term::BinOp(Box::new(left), BinaryOp::Pipe(None), Box::new(right))
}

pub(super) fn bind(value: Term, pattern: Pattern, body: Term) -> Term {
    Term::BinOp(Box::new(value), BinaryOp::Pipe(Some(pattern)), Box::new(body))
}

pub(super) fn step(head: Term, part: Part<Term>, opt: Opt) -> Term {
    Term::Path(Box::new(head), Path(vec![(part, opt)]))
}

impl Parser<'_> {
    /// A variable name that no program can use.
    pub(super) fn fresh(&mut self) -> &'static str {
        self.fresh += 1;
        keep(format!("$!{}", self.fresh))
    }

    /// Binds a term with several outputs before `body` is built with a variable instead of it.
    pub(super) fn first(&mut self, term: Term, body: impl FnOnce(&mut Self, Term) -> Term) -> Term {
        if is_single(&term) {
            return body(self, term);
        }
        let name = self.fresh();
        let body = body(self, Term::Var(name));
        bind(term, Pattern::Var(name), body)
    }

    /// `left op right`. The right side runs first.
    pub(super) fn binary(&mut self, left: Term, op: BinaryOp<&'static str>, right: Term) -> Term {
        self.first(right, |_, right| Term::BinOp(Box::new(left), op, Box::new(right)))
    }

    /// `left // right`
    pub(super) fn alternative(&mut self, left: Term, right: Term) -> Term {
        call("!alternative", vec![left, right])
    }

    /// `paths = value`
    pub(super) fn assign(&mut self, paths: Term, value: Term) -> Term {
        call("!assign", vec![paths, value])
    }

    /// `paths |= change`
    pub(super) fn modify(&mut self, paths: Term, change: Term) -> Term {
        call("!modify", vec![paths, change])
    }

    /// `paths op= value`
    pub(super) fn modify_by(&mut self, paths: Term, op: Option<BinaryOp<&'static str>>, value: Term) -> Term {
        let name = self.fresh();
        let change = match op {
            Some(op) => Term::BinOp(Box::new(Term::Id), op, Box::new(Term::Var(name))),
            None => call("!alternative", vec![Term::Id, Term::Var(name)]),
        };
        bind(value, Pattern::Var(name), call("!modify", vec![paths, change]))
    }

    /// `head[index]`
    pub(super) fn index(&mut self, head: Term, index: Term, opt: Opt) -> Term {
        self.first(index, |_, index| step(head, Part::Index(index), opt))
    }

    /// `head[from:to]`
    pub(super) fn slice(&mut self, head: Term, from: Option<Term>, to: Option<Term>, opt: Opt) -> Term {
        match (from, to) {
            (Some(from), Some(to)) => self.first(from, |parser, from| {
                parser.first(to, |_, to| step(head, Part::Range(Some(from), Some(to)), opt))
            }),
            (Some(from), None) => self.first(from, |_, from| step(head, Part::Range(Some(from), None), opt)),
            (None, to) => match to {
                Some(to) => self.first(to, |_, to| step(head, Part::Range(None, Some(to)), opt)),
                None => step(head, Part::Range(None, None), opt),
            },
        }
    }

    /// A string with interpolated terms. The last one runs first.
    pub(super) fn string_term(
        &mut self,
        format: Option<&'static str>,
        parts: Vec<StrPart<&'static str, Term>>,
    ) -> Term {
        let mut bound = Vec::new();
        let parts = parts.into_iter().map(|part| match part {
            StrPart::Term(term) if !is_single(&term) => {
                let name = self.fresh();
                bound.push((term, name));
                StrPart::Term(Term::Var(name))
            }
            part => part,
        });
        let string = Term::Str(format, parts.collect());
        bound.into_iter().fold(string, |body, (term, name)| bind(term, Pattern::Var(name), body))
    }

    /// A `reduce` step: the last result counts; an empty result counts as `null`.
    pub(super) fn step_of_reduce(&mut self, step: Term) -> Term {
        if is_single(&step) { step } else { call("!last_or_null", vec![step]) }
    }

    /// `foreach source as pattern (init; update; extract)`: each result of a step is output, and the last one is the state.
    pub(super) fn foreach_of(
        &mut self,
        source: Term,
        pattern: Pattern,
        init: Term,
        update: Term,
        extract: Option<Term>,
    ) -> Term {
        let fold = |arguments| Term::Fold("foreach", Box::new(source), pattern, arguments);
        if is_single(&update) {
            return fold([init, update].into_iter().chain(extract).collect());
        }
        let last = step(Term::Id, Part::Index(Term::Neg(Box::new(Term::Num("1")))), Opt::Essential);
        let all = step(Term::Id, Part::Range(None, None), Opt::Essential);
        let list = |term: Term| Term::Arr(Some(Box::new(term)));
        fold(vec![pipe(init, list(Term::Id)), list(pipe(last, update)), pipe(all, extract.unwrap_or_default())])
    }

    /// A filter with value arguments. The last argument runs first.
    pub(super) fn call_last_first(&mut self, name: &'static str, arguments: Vec<Term>) -> Term {
        let mut bound = Vec::new();
        let arguments = arguments.into_iter().map(|argument| {
            if is_single(&argument) {
                return argument;
            }
            let variable = self.fresh();
            bound.push((argument, variable));
            Term::Var(variable)
        });
        let call = call(name, arguments.collect());
        bound.into_iter().fold(call, |body, (term, variable)| bind(term, Pattern::Var(variable), body))
    }

    /// A definition. A recursive one checks the depth first.
    pub(super) fn definition(&mut self, def: Def, calls_itself: bool) -> Def {
        if !calls_itself {
            return def;
        }
        Def { body: pipe(call("!depth", Vec::new()), def.body), ..def }
    }
}
