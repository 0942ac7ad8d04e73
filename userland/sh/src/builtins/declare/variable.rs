//! Declaring one variable.

use std::collections::BTreeMap;

use super::Wanted;
use super::reference::{may_become_reference, no_reference, refer, resolve};
use crate::eval::DeclArg;
use crate::expand::lossy;
use crate::ir::{Assign, AssignValue, Bytes, Name};
use crate::parse::token::name_len;
use crate::state::{Run, Shell, Stop};
use crate::vars::{self, Assoc, Key, Value};

/// One argument of a declaration.
pub(super) struct Declared<'a> {
    pub(super) name: Name,
    pub(super) subscript: Option<Bytes>,
    pub(super) append: bool,
    pub(super) value: Option<Given<'a>>,
    /// The argument as messages show it.
    pub(super) shown: Bytes,
}

/// What is assigned to a declared name.
pub(super) enum Given<'a> {
    Text(Bytes),
    Elements(&'a Assign),
}

/// Declares one name; says whether that was allowed.
pub(super) fn declare_one(shell: &mut Shell, arg: &DeclArg, wanted: &Wanted) -> Run<bool> {
    if let DeclArg::Word(word) = arg
        && word == b"-"
        && shell.running == "local"
    {
        shell.save_options();
        return Ok(true);
    }
    let Some(declared) = read_argument(shell, arg, wanted)? else { return Ok(false) };
    // A name that calls have made local is put aside while the shell's own variable is declared.
    let name = Name::clone(&declared.name);
    let swapped = wanted.global && shell.vars.swap_global(&name);
    let result = declare_variable(shell, declared, wanted);
    if swapped {
        shell.vars.swap_global(&name);
    }
    result
}

fn read_argument<'a>(shell: &mut Shell, arg: &'a DeclArg, wanted: &Wanted) -> Run<Option<Declared<'a>>> {
    let (word, once) = match arg {
        DeclArg::Word(word) => (word.clone(), false),
        DeclArg::Assign(assign) => match (&assign.value, &assign.subscript) {
            (AssignValue::Array(_), _) => {
                let name = Name::clone(&assign.name);
                let shown = name.to_vec();
                let value = Some(Given::Elements(assign));
                return Ok(Some(Declared { name, subscript: None, append: assign.append, value, shown }));
            }
            (AssignValue::Word(value), None) => {
                let value = shell.expand_text(value)?;
                let operator: &[u8] = if assign.append { b"+=" } else { b"=" };
                let shown = [&assign.name[..], operator, &value].concat();
                let name = Name::clone(&assign.name);
                let value = Some(Given::Text(value));
                return Ok(Some(Declared { name, subscript: None, append: assign.append, value, shown }));
            }
            (AssignValue::Word(value), Some(subscript)) => {
                // The builtin reads such a word once more when all in it has been expanded.
                let key = shell.expand_text(&subscript.key)?;
                let value = shell.expand_text(value)?;
                let operator: &[u8] = if assign.append { b"]+=" } else { b"]=" };
                ([&assign.name[..], b"[", &key, operator, &value].concat(), true)
            }
        },
    };
    match split_word(shell, &word, once && shell.options.assoc_expand_once) {
        Some(declared) if declared.subscript.is_none() || wanted.base == 0 => Ok(Some(declared)),
        Some(Declared { name, subscript: Some(subscript), .. }) => {
            let element = [&name[..], b"[", &subscript, b"]"].concat();
            shell.complain_builtin(format!("`{}': not a valid identifier", lossy(&element)));
            Ok(None)
        }
        _ => {
            let name = word.get(..name_len(&word)).unwrap_or_default();
            if !name.is_empty() && word.get(name.len()..).is_some_and(|rest| rest.starts_with(b"[]=")) {
                shell.complain([name, b"[]: bad array subscript"].concat());
            } else {
                shell.complain_builtin(format!("`{}': not a valid identifier", lossy(&word)));
            }
            Ok(None)
        }
    }
}

/// A word such as `name`, `name[subscript]+=value`; `None` when it is no such thing.
fn split_word(shell: &Shell, word: &[u8], once: bool) -> Option<Declared<'static>> {
    let (name, rest) = word.split_at(name_len(word));
    if name.is_empty() {
        return None;
    }
    let assoc = shell.vars.get(name).is_some_and(|var| matches!(var.value, Value::Assoc(_)));
    let (subscript, rest) = crate::expand::split_subscript(rest, assoc && once)?;
    let (append, value) = match rest {
        b"" => (false, None),
        [b'=', value @ ..] => (false, Some(value)),
        [b'+', b'=', value @ ..] => (true, Some(value)),
        _ => return None,
    };
    let value = value.map(|value| Given::Text(value.to_vec()));
    Some(Declared { name: name.into(), subscript: subscript.map(<[u8]>::to_vec), append, value, shown: word.to_vec() })
}

fn is_compound(value: &[u8]) -> bool {
    value.first() == Some(&b'(') && value.len() > 1 && value.last() == Some(&b')')
}

fn declare_variable(shell: &mut Shell, declared: Declared<'_>, wanted: &Wanted) -> Run<bool> {
    let refers = wanted.on & vars::NAMEREF != 0;
    if refers && let Some(Given::Elements(_)) = declared.value {
        let plain = Wanted { on: wanted.on & !vars::NAMEREF, ..*wanted };
        let name = Name::clone(&declared.name);
        if with_value(shell, declared, &plain)? {
            shell.complain_builtin(format!("{}: reference variable cannot be an array", lossy(&name)));
        }
        return Ok(false);
    }
    if refers && let Some(problem) = no_reference(shell, &declared) {
        shell.complain_builtin(problem);
        return Ok(false);
    }
    with_value(shell, declared, wanted)
}

fn with_value(shell: &mut Shell, mut declared: Declared<'_>, wanted: &Wanted) -> Run<bool> {
    if let Some(answer) = resolve(shell, &mut declared, wanted) {
        return Ok(answer);
    }
    let Declared { name, subscript, append, value, shown } = declared;
    let refers = wanted.on & vars::NAMEREF != 0;
    if refers && shell.is_array(&name) && (!wanted.local || shell.vars.is_local(&name)) {
        shell.complain_builtin(format!("{}: reference variable cannot be an array", lossy(&name)));
        return Ok(false);
    }
    if refers && value.is_none() && !may_become_reference(shell, &name, wanted) {
        return Ok(false);
    }
    let existed = shell.vars.get(&name).is_some();
    if refers && (!wanted.local || wanted.global || shell.vars.is_local(&name)) {
        // What the variable was before does not touch what it refers to.
        if let Some(var) = shell.vars.get_mut(&name) {
            var.flags &= !(vars::INTEGER | vars::LOWER | vars::UPPER | vars::CAPITAL);
        }
    }
    let mut array = subscript.is_some() || matches!(value, Some(Given::Elements(_)));
    let mut compound = false;
    if let Some(Given::Text(text)) = &value
        && is_compound(text)
        && !refers
    {
        compound = wanted.indexed || wanted.assoc || (wanted.base == 0 && shell.is_array(&name));
        if !compound && array {
            let text = format!("warning: {}: quoted compound array assignment deprecated", lossy(&shown));
            shell.complain(text);
        }
        // An element of an array that is there already gets the text, unless the options ask for an array: then its
        // subscript means nothing.
        compound &= subscript.is_none() || wanted.indexed || wanted.assoc;
        array |= compound;
    }
    if !prepare(shell, &name, wanted, array, value.is_some())? {
        return Ok(false);
    }
    let good = match value {
        None => {
            let plain = wanted.base == 0 && !wanted.local && !refers && !shell.is_array(&name) && subscript.is_none();
            if shell.options.allexport && !existed && plain && !wanted.indexed && !wanted.assoc {
                shell.vars.entry(&name).flags |= vars::EXPORT;
            }
            true
        }
        Some(Given::Elements(assign)) => assign_elements(shell, &name, assign)?,
        Some(Given::Text(text)) if refers => refer(shell, &name, &text, append, existed),
        Some(Given::Text(_)) if compound && shell.vars.get(&name).is_some_and(|var| var.has(vars::READONLY)) => {
            shell.complain_builtin([&name[..], b": readonly variable"].concat());
            false
        }
        Some(Given::Text(text)) if compound => {
            assign_compound(shell, &name, &text, append)?;
            true
        }
        // With an option for arrays `readonly` is `declare`, and complains as such.
        Some(Given::Text(_))
            if shell.running == "readonly"
                && (wanted.indexed || wanted.assoc)
                && shell.vars.get(&name).is_some_and(|var| var.has(vars::READONLY)) =>
        {
            shell.complain_builtin([&name[..], b": readonly variable"].concat());
            false
        }
        Some(Given::Text(text)) => {
            let key = match &subscript {
                None => Some(Key::Whole),
                Some(subscript) => shell.key_of_declared(&name, subscript)?,
            };
            let good = match key {
                Some(key) => {
                    // `set -a` exports no array that is declared with a value.
                    let allexport = shell.options.allexport;
                    shell.options.allexport &= !shell.is_array(&name);
                    let assigned = shell.assign(&name, key, append, text);
                    shell.options.allexport = allexport;
                    assigned?
                }
                None => false,
            };
            shell.forget_computed(&name);
            good
        }
    };
    if good {
        mark(shell, &name, wanted);
        if (wanted.base != 0 || wanted.on & (vars::EXPORT | vars::READONLY) != 0) && !shell.vars.is_local(&name) {
            // `x=1 export x` means it for good.
            shell.vars.keep(&name);
            shell.vars.keep_lent(&name);
        }
    }
    Ok(good)
}

/// The elements of a list that was a text until now.
fn assign_compound(shell: &mut Shell, name: &Name, text: &[u8], append: bool) -> Run {
    if !append && let Some(var) = shell.vars.get_mut(name) {
        // It is empty when one of them has no value.
        var.flags &= !vars::BARE;
    }
    let operator: &[u8] = if append { b"+=" } else { b"=" };
    let line = shell.line;
    let source = [name, operator, text].concat();
    let outer = std::mem::take(&mut shell.running);
    let result = match crate::parse::read_assignment(&source, line) {
        Some(Assign { value: AssignValue::Array(elements), .. }) => {
            shell.assign_elements(name, &elements, append, false).map(drop)
        }
        _ => shell.run_text(&source, line),
    };
    shell.running = outer;
    result
}

fn assign_elements(shell: &mut Shell, name: &Name, assign: &Assign) -> Run<bool> {
    let AssignValue::Array(elements) = &assign.value else { return Ok(true) };
    let outer = std::mem::take(&mut shell.running);
    let assigned = shell.assign_elements(name, elements, assign.append, true);
    shell.running = outer;
    // A list for a constant gives up the line, with or without a declaration around it.
    if assigned == Ok(false) && shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY)) {
        return Err(Stop::Discard);
    }
    assigned
}

/// Makes the variable what it must be before it is assigned to.
fn prepare(shell: &mut Shell, name: &Name, wanted: &Wanted, array: bool, assigns: bool) -> Run<bool> {
    if wanted.local && !wanted.global && !make_local(shell, name, wanted, array && assigns) {
        return Ok(false);
    }
    let readonly = shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY));
    if readonly && (wanted.off & vars::READONLY != 0 || (assigns && wanted.on & vars::NAMEREF != 0)) {
        shell.complain_builtin([name, &b": readonly variable"[..]].concat());
        return Ok(false);
    }
    if wanted.base == 0 || array || (assigns && !readonly && (wanted.indexed || wanted.assoc)) {
        match convert(shell, name, wanted, array) {
            Conversion::Done => {}
            Conversion::Refused => return Ok(false),
            Conversion::Fatal => {
                shell.status = 1;
                return Err(crate::state::Stop::Discard);
            }
        }
    }
    if shell.is_computed(name) && shell.vars.get(name).is_none() {
        return Ok(true);
    }
    if !readonly {
        let early = vars::INTEGER | vars::LOWER | vars::UPPER | vars::CAPITAL;
        let cases = vars::LOWER | vars::UPPER | vars::CAPITAL;
        let var = shell.vars.entry(name);
        if wanted.on & cases != 0 {
            var.flags &= !cases;
        }
        var.flags = (var.flags & !(wanted.off & early)) | (wanted.on & early);
    }
    Ok(true)
}

/// Complains about a list that cannot be assigned: first as the shell, which assigns it, then as the builtin.
fn complain_twice(shell: &mut Shell, text: &str) {
    match shell.frames.last().filter(|frame| frame.commands == 1) {
        Some(frame) => {
            let text = format!("{}: {text}", lossy(&frame.name));
            shell.complain(text);
        }
        None => shell.complain(text),
    }
    shell.complain_builtin(text);
}

fn make_local(shell: &mut Shell, name: &Name, wanted: &Wanted, array: bool) -> bool {
    let old = shell.vars.get(name).cloned();
    // A constant of a caller gives way, one of the shell does not.
    if old.as_ref().is_some_and(|var| var.has(vars::READONLY)) && shell.vars.is_global(name) {
        let text = format!("{}: readonly variable", lossy(name));
        if array {
            complain_twice(shell, &text);
        } else {
            shell.complain_builtin(text);
        }
        return false;
    }
    let outer = old.as_ref().map_or(0, |var| var.flags);
    if !shell.vars.make_local(name) {
        match old {
            Some(mut old) if wanted.inherit || shell.options.localvar_inherit => {
                old.flags &= !vars::NAMEREF;
                shell.vars.insert(Name::clone(name), old);
            }
            old => {
                // What was assigned before the call is what the local begins with.
                let lent = old.filter(|_| shell.vars.was_lent(name));
                let exported = lent.as_ref().map_or(0, |var| var.flags & vars::EXPORT);
                let flags = exported | outer & vars::EXPORT;
                let var = shell.vars.entry(name);
                var.value = lent.map(|var| var.value).unwrap_or_default();
                var.flags = flags;
            }
        }
    }
    true
}

/// How making an array of a variable ended.
enum Conversion {
    Done,
    Refused,
    /// With elements to assign the whole command is given up.
    Fatal,
}

/// Makes an array of the variable if one is wanted.
fn convert(shell: &mut Shell, name: &Name, wanted: &Wanted, array: bool) -> Conversion {
    let old = shell.vars.get(name).map(|var| &var.value);
    let refused = match old {
        Some(Value::Indexed(_)) if wanted.assoc => "cannot convert indexed to associative array",
        Some(Value::Assoc(_)) if wanted.indexed => "cannot convert associative to indexed array",
        Some(Value::Indexed(_) | Value::Assoc(_)) if wanted.no_array => "cannot destroy array variables in this way",
        _ if wanted.assoc && wanted.indexed => {
            shell.vars.entry(name).value = Value::Assoc(Assoc::default());
            shell.vars.entry(name).flags |= vars::BARE;
            "cannot convert associative to indexed array"
        }
        _ => "",
    };
    if !refused.is_empty() {
        let text = format!("{}: {refused}", lossy(name));
        if array && shell.frames.iter().any(|frame| frame.is_function) {
            // In functions that is no reason to give up the command; bash then tries once more.
            complain_twice(shell, &text);
            return Conversion::Refused;
        }
        if array {
            shell.complain(text);
            return Conversion::Fatal;
        }
        shell.complain_builtin(text);
        return Conversion::Refused;
    }
    if !(wanted.indexed || wanted.assoc || array) {
        return Conversion::Done;
    }
    let var = shell.vars.entry(name);
    var.value = match std::mem::take(&mut var.value) {
        Value::Unset => {
            // Until something is assigned.
            var.flags |= vars::BARE;
            if wanted.assoc { Value::Assoc(Assoc::default()) } else { Value::Indexed(BTreeMap::new()) }
        }
        Value::Text(text) if wanted.assoc => {
            let mut map = Assoc::with_buckets(128);
            map.insert(b"0".to_vec(), text);
            Value::Assoc(map)
        }
        Value::Text(text) => Value::Indexed(BTreeMap::from([(0, text)])),
        kept => kept,
    };
    Conversion::Done
}

fn mark(shell: &mut Shell, name: &Name, wanted: &Wanted) {
    if shell.is_computed(name) && shell.vars.get(name).is_none() {
        let own = match &name[..] {
            b"SHELLOPTS" => "SHELLOPTS",
            b"BASHOPTS" => "BASHOPTS",
            _ => return,
        };
        if wanted.on & vars::EXPORT != 0 {
            shell.exported_computed.insert(own);
        } else if wanted.off & vars::EXPORT != 0 {
            shell.exported_computed.remove(own);
        }
        return;
    }
    let case = vars::LOWER | vars::UPPER | vars::CAPITAL;
    let var = shell.vars.entry(name);
    var.flags = (var.flags & !wanted.off) | (wanted.on & !case) | (wanted.on & case);
}

impl Shell {
    /// `local -`: the options come back when the call ends.
    fn save_options(&mut self) {
        let name = Name::from(&b"-"[..]);
        if !self.vars.make_local(&name)
            && let Some(frame) = self.frames.iter_mut().rev().find(|frame| frame.is_function)
        {
            frame.options = Some(Box::new(self.options.clone()));
        }
    }
}
