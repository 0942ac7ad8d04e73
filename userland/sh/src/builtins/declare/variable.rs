//! Declaring one variable.

use std::collections::BTreeMap;

use super::Wanted;
use crate::eval::DeclArg;
use crate::expand::lossy;
use crate::ir::{Assign, AssignValue, Bytes, Name};
use crate::parse::token::name_len;
use crate::state::{Run, Shell};
use crate::vars::{self, Assoc, Key, Meant, Value};

/// Declares one name; says whether that was allowed.
pub(super) fn declare_one(shell: &mut Shell, arg: &DeclArg, wanted: &Wanted) -> Run<bool> {
    let name: Bytes = match arg {
        DeclArg::Assign(assign) => assign.name.to_vec(),
        DeclArg::Word(word) => word.get(..name_len(word)).unwrap_or_default().to_vec(),
    };
    // A name that calls have made local is put aside while the shell's own variable is declared.
    let swapped = wanted.global && shell.vars.swap_global(&name);
    let result = match arg {
        DeclArg::Assign(assign) => declare_assign(shell, assign, wanted),
        DeclArg::Word(word) => declare_word(shell, word, wanted),
    };
    if swapped {
        shell.vars.swap_global(&name);
    }
    result
}

fn declare_assign(shell: &mut Shell, assign: &Assign, wanted: &Wanted) -> Run<bool> {
    if let (AssignValue::Word(word), None) = (&assign.value, &assign.subscript)
        && (wanted.indexed || wanted.assoc)
    {
        let value = shell.expand_text(word)?;
        if value.first() == Some(&b'(') && value.last() == Some(&b')') {
            return with_value(shell, &assign.name, Given::Compound(&value, assign.append), wanted);
        }
    }
    with_value(shell, &assign.name, Given::Assign(assign), wanted)
}

fn declare_word(shell: &mut Shell, word: &[u8], wanted: &Wanted) -> Run<bool> {
    if word == b"-" && shell.running == "local" {
        shell.save_options();
        return Ok(true);
    }
    let len = name_len(word);
    let (name, rest) = word.split_at(len);
    let (subscript, rest) = match rest.iter().position(|&b| b == b']') {
        Some(at) if rest.first() == Some(&b'[') => (rest.get(1..at), rest.get(at + 1..).unwrap_or_default()),
        _ => (None, rest),
    };
    let (append, value) = match rest {
        b"" => (false, None),
        [b'=', value @ ..] => (false, Some(value)),
        [b'+', b'=', value @ ..] => (true, Some(value)),
        _ => return bad_name(shell, word),
    };
    if len == 0 || (subscript.is_some() && wanted.base != 0) {
        return bad_name(shell, word);
    }
    let name: Name = name.into();
    let given = match (value, subscript) {
        (None, None) => Given::Nothing,
        (None, Some(_)) => Given::Element,
        (Some(value), None) if is_compound(value) && (wanted.indexed || wanted.assoc || is_array(shell, &name)) => {
            Given::Compound(value, append)
        }
        (Some(value), subscript) => Given::Text(subscript, value, append),
    };
    with_value(shell, &name, given, wanted)
}

fn is_compound(value: &[u8]) -> bool {
    value.first() == Some(&b'(') && value.last() == Some(&b')')
}

fn is_array(shell: &Shell, name: &[u8]) -> bool {
    shell.vars.get(name).is_some_and(|var| matches!(var.value, Value::Indexed(_) | Value::Assoc(_)))
}

fn bad_name(shell: &mut Shell, word: &[u8]) -> Run<bool> {
    shell.complain_builtin(format!("`{}': not a valid identifier", lossy(word)));
    Ok(false)
}

/// What is assigned to a declared name.
enum Given<'a> {
    Nothing,
    /// `name[x]` without a value only makes an array.
    Element,
    Assign(&'a Assign),
    /// Text that is read as the elements of an array; whether it is appended.
    Compound(&'a [u8], bool),
    /// A subscript, a text, whether it is appended.
    Text(Option<&'a [u8]>, &'a [u8], bool),
}

fn with_value(shell: &mut Shell, name: &Name, given: Given<'_>, wanted: &Wanted) -> Run<bool> {
    let array = match &given {
        Given::Assign(assign) => matches!(assign.value, AssignValue::Array(_)) || assign.subscript.is_some(),
        Given::Element | Given::Compound(..) => true,
        Given::Nothing => false,
        Given::Text(subscript, ..) => subscript.is_some(),
    };
    let naming = wanted.on & vars::NAMEREF != 0 || wanted.off & vars::NAMEREF != 0;
    let is_array = is_array(shell, name);
    if wanted.on & vars::NAMEREF != 0 && is_array && (!wanted.local || shell.vars.is_local(name)) {
        shell.complain_builtin(format!("{}: reference variable cannot be an array", lossy(name)));
        return Ok(false);
    }
    let target = if naming { Ok(None) } else { reference(shell, name, wanted) };
    let Ok(target) = target else { return Ok(false) };
    let name = target.as_ref().unwrap_or(name);
    if !prepare(shell, name, wanted, array, !matches!(given, Given::Nothing))? {
        return Ok(false);
    }
    let good = match given {
        Given::Nothing | Given::Element => true,
        Given::Assign(assign) => assigned(shell, name, assign, wanted)?,
        Given::Compound(value, append) => {
            let operator: &[u8] = if append { b"+=" } else { b"=" };
            shell.run_text(&[name, operator, value].concat(), shell.line)?;
            true
        }
        Given::Text(None, value, append) if wanted.on & vars::NAMEREF != 0 => refer(shell, name, value, append),
        Given::Text(subscript, value, append) => {
            let key = match subscript {
                None => Key::Whole,
                Some(text) => shell.key_of(name, &crate::parse::subscript_from_text(text))?,
            };
            let good = shell.assign(name, key, append, value.to_vec())?;
            shell.forget_computed(name);
            good
        }
    };
    if good {
        mark(shell, name, wanted);
        if wanted.base != 0 && !shell.vars.is_local(name) {
            // `x=1 export x` means it for good.
            shell.vars.keep(name);
        }
    }
    Ok(good)
}

/// The variable that a reference means, unless the reference itself is to become local.
fn reference(shell: &mut Shell, name: &Name, wanted: &Wanted) -> Result<Option<Name>, ()> {
    if wanted.local && !wanted.global && !shell.vars.is_local(name) {
        return Ok(None);
    }
    match shell.vars.meant(name) {
        Meant::Variable(meant) => Ok(Some(meant)),
        Meant::Element(array, subscript) if wanted.base != 0 => {
            let text = [&array[..], b"[", &subscript, b"]"].concat();
            shell.complain_builtin(format!("`{}': not a valid identifier", lossy(&text)));
            Err(())
        }
        Meant::Element(array, _) => Ok(Some(array)),
        _ => Ok(None),
    }
}

/// Makes the variable what it must be before it is assigned to.
fn prepare(shell: &mut Shell, name: &Name, wanted: &Wanted, array: bool, assigns: bool) -> Run<bool> {
    if wanted.local && !wanted.global && !make_local(shell, name, wanted) {
        return Ok(false);
    }
    let readonly = shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY));
    if readonly && (wanted.off & vars::READONLY != 0 || (assigns && wanted.on & vars::NAMEREF != 0)) {
        shell.complain_builtin([name, &b": readonly variable"[..]].concat());
        return Ok(false);
    }
    if wanted.base == 0 || array {
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

fn make_local(shell: &mut Shell, name: &Name, wanted: &Wanted) -> bool {
    let old = shell.vars.get(name).cloned();
    if old.as_ref().is_some_and(|var| var.has(vars::READONLY)) && !shell.vars.is_local(name) {
        shell.complain_builtin([name, &b": readonly variable"[..]].concat());
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
            let mut map = Assoc::default();
            map.insert(b"0".to_vec(), text);
            Value::Assoc(map)
        }
        Value::Text(text) => Value::Indexed(BTreeMap::from([(0, text)])),
        kept => kept,
    };
    Conversion::Done
}

fn assigned(shell: &mut Shell, name: &Name, assign: &Assign, wanted: &Wanted) -> Run<bool> {
    if wanted.on & vars::NAMEREF != 0
        && let AssignValue::Word(word) = &assign.value
    {
        // The value names the variable that is meant; it is not assigned to that one.
        let target = shell.expand_text(word)?;
        return Ok(refer(shell, name, &target, assign.append));
    }
    if name == &assign.name {
        return shell.run_assign(assign);
    }
    let assign = Assign {
        name: Name::clone(name),
        subscript: assign.subscript.clone(),
        append: assign.append,
        value: match &assign.value {
            AssignValue::Word(word) => AssignValue::Word(word.clone()),
            AssignValue::Array(_) => return shell.run_assign(assign),
        },
    };
    shell.run_assign(&assign)
}

/// Makes a name refer to another.
fn refer(shell: &mut Shell, name: &Name, target: &[u8], append: bool) -> bool {
    let target = match shell.vars.get(name).map(|var| &var.value) {
        Some(Value::Text(old)) if append => [old, target].concat(),
        _ => target.to_vec(),
    };
    if target.is_empty() {
        shell.complain_builtin("`': not a valid identifier");
        return false;
    }
    if shell.vars.get(name).is_some_and(|var| var.has(vars::INTEGER)) {
        // The value becomes a number, and a number is no name; bash does not complain.
        shell.vars.entry(name).flags &= !vars::INTEGER;
        return false;
    }
    if !crate::expand::may_refer(&target) {
        let text = format!("`{}': invalid variable name for name reference", lossy(&target));
        shell.complain_builtin(text);
        return false;
    }
    if target == name[..] {
        if shell.frames.iter().any(|frame| frame.is_function) {
            shell.complain_builtin(format!("warning: {}: circular name reference", lossy(name)));
        } else {
            shell.complain_builtin(format!("{}: nameref variable self references not allowed", lossy(name)));
            if shell.vars.get(name).is_some_and(|var| var.value == Value::Unset && var.flags == 0) {
                shell.vars.remove(name);
            }
            return false;
        }
    }
    shell.vars.entry(name).value = Value::Text(target);
    true
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
