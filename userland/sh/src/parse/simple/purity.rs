//! Checks whether expanding the words of a command can change the shell.

use crate::ir::{
    Arith, Assign, AssignValue, Index, Op, Param, Part, Redirect, RedirectFd, RedirectKind, Subscript, Target, Test,
};

/// Returns whether expanding these parts leaves the shell unchanged. Substitutions do, but they may read the standard input
/// of the command, so they count only if `commands` is set.
pub(crate) fn is_pure(parts: &[Part], commands: bool) -> bool {
    parts.iter().all(|part| match part {
        Part::Lit(_) | Part::Quoted(_) | Part::Tilde(_) => true,
        Part::Double(inner) => is_pure(inner, commands),
        Part::Param(param) => is_pure_param(param, commands),
        Part::Arith(arith) => is_pure_arith(arith, commands),
        Part::Command(_) => commands,
        Part::Process { .. } => false,
    })
}

fn is_pure_arith(arith: &Arith, commands: bool) -> bool {
    // A variable's value may itself be an assignment, so only texts without names are safe.
    is_pure(&arith.expansions, commands) && !arith.text.raw.iter().any(|b| b.is_ascii_alphabetic() || *b == b'=')
}

fn is_pure_param(param: &Param, commands: bool) -> bool {
    let index = match &param.index {
        Index::One(Subscript { key, .. }) => key.literal().is_some_and(|k| k.iter().all(u8::is_ascii_digit)),
        _ => true,
    };
    let op = match &param.op {
        Op::None | Op::Length | Op::Transform(_) | Op::Names { .. } | Op::Keys { .. } => true,
        Op::Test { kind, word, .. } => {
            matches!(kind, Test::Default | Test::Alternative) && is_pure(&word.parts, commands)
        }
        Op::Strip { pattern, .. } => is_pure(&pattern.parts, commands),
        Op::Replace { pattern, with, .. } => is_pure(&pattern.parts, commands) && is_pure(&with.parts, commands),
        Op::Case { pattern, .. } => pattern.as_ref().is_none_or(|p| is_pure(&p.parts, commands)),
        Op::Substring { offset, length } => {
            is_pure_arith(offset, commands) && length.as_ref().is_none_or(|length| is_pure_arith(length, commands))
        }
        Op::Bad | Op::Invalid(_) => false,
    };
    // The process number differs in a forked process.
    let process = matches!(&param.target, Target::Var(name) if **name == *b"BASHPID");
    index && op && !process
}

/// Returns whether expanding the body of a here-document leaves the shell unchanged. It is known only when the command runs.
pub(crate) fn has_pure_body(redirect: &Redirect, commands: bool) -> bool {
    match &redirect.kind {
        RedirectKind::HereDoc(document) => document.body.get().is_none_or(|word| is_pure(&word.parts, commands)),
        _ => true,
    }
}

pub(super) fn is_pure_assign(assign: &Assign, commands: bool) -> bool {
    match &assign.value {
        AssignValue::Word(word) => assign.subscript.is_none() && is_pure(&word.parts, commands),
        AssignValue::Array(_) => false,
    }
}

pub(crate) fn is_pure_redirect(redirect: &Redirect, commands: bool) -> bool {
    if matches!(redirect.fd, RedirectFd::Variable(_)) {
        return false;
    }
    match &redirect.kind {
        RedirectKind::Read(word)
        | RedirectKind::Write(word)
        | RedirectKind::Clobber(word)
        | RedirectKind::Append(word)
        | RedirectKind::ReadWrite(word)
        | RedirectKind::Both { word, .. }
        | RedirectKind::Duplicate { word, .. }
        | RedirectKind::HereString(word) => is_pure(&word.parts, commands),
        // The body is read after the command; callers must check it too.
        RedirectKind::HereDoc(_) => true,
    }
}
