//! A variable with the attributes and the form that it is declared with.

use std::collections::BTreeMap;

use crate::builtins::declare::Wanted;
use crate::expand::lossy;
use crate::ir::Name;
use crate::state::{Run, Shell};
use crate::vars::{self, Assoc, Value};

/// Makes the variable what it must be before it is assigned to.
pub(super) fn prepare(shell: &mut Shell, name: &Name, wanted: &Wanted, array: bool, assigns: bool) -> Run<bool> {
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

pub(super) fn make_local(shell: &mut Shell, name: &Name, wanted: &Wanted, array: bool) -> bool {
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
    // What a local variable had as a text is not taken over into its elements.
    let drops = wanted.local && !wanted.global && !shell.options.localvar_inherit;
    let var = shell.vars.entry(name);
    var.value = match std::mem::take(&mut var.value) {
        Value::Text(_) if drops => {
            if wanted.assoc {
                Value::Assoc(Assoc::default())
            } else {
                Value::Indexed(BTreeMap::new())
            }
        }
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

pub(super) fn mark(shell: &mut Shell, name: &Name, wanted: &Wanted) {
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
