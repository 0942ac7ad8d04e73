//! A variable with the attributes and the form that it is declared with.

use std::collections::BTreeMap;

use crate::builtins::declare::DeclareOptions;
use crate::expand::lossy;
use crate::ir::Name;
use crate::state::{EvalResult, Shell};
use crate::vars::{self, Assoc, Value};

/// Prepares the variable for the assignment.
pub(super) fn prepare(
    shell: &mut Shell,
    name: &Name,
    requested: &DeclareOptions,
    array: bool,
    assigns: bool,
) -> EvalResult<bool> {
    if requested.local && !requested.global && !make_local(shell, name, requested) {
        return Ok(false);
    }
    let readonly = shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY));
    if readonly && (requested.off & vars::READONLY != 0 || (assigns && requested.on & vars::NAMEREF != 0)) {
        shell.report_builtin_error([name, &b": readonly variable"[..]].concat());
        return Ok(false);
    }
    if requested.base == 0 || array || (assigns && !readonly && (requested.indexed || requested.assoc)) {
        match convert(shell, name, requested, array) {
            Conversion::Done => {}
            Conversion::Refused => return Ok(false),
            Conversion::Fatal => {
                shell.status = 1;
                return Err(crate::state::Unwind::Discard);
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
        if requested.on & cases != 0 {
            var.flags &= !cases;
        }
        var.flags = (var.flags & !(requested.off & early)) | (requested.on & early);
    }
    Ok(true)
}

pub(super) fn make_local(shell: &mut Shell, name: &Name, requested: &DeclareOptions) -> bool {
    let old = shell.vars.get(name).cloned();
    // A constant of a caller gives way, one of the shell does not.
    if old.as_ref().is_some_and(|var| var.has(vars::READONLY)) && shell.vars.is_global(name) {
        let text = format!("{}: readonly variable", lossy(name));
        shell.report_builtin_error(text);
        return false;
    }
    let outer = old.as_ref().map_or(0, |var| var.flags);
    if !shell.vars.make_local(name) {
        match old {
            Some(mut old) if requested.inherit || shell.options.localvar_inherit => {
                old.flags &= !vars::NAMEREF;
                shell.vars.insert(Name::clone(name), old);
            }
            old => {
                // The local variable starts with the value assigned before the call.
                let temporary = old.filter(|_| shell.vars.is_call_temporary(name));
                let exported = temporary.as_ref().map_or(0, |var| var.flags & vars::EXPORT);
                let flags = exported | outer & vars::EXPORT;
                let var = shell.vars.entry(name);
                var.value = temporary.map(|var| var.value).unwrap_or_default();
                var.flags = flags;
            }
        }
    }
    true
}

/// The result of converting a variable to an array.
enum Conversion {
    Done,
    Refused,
    /// With elements to assign, the error discards the whole command.
    Fatal,
}

/// Makes an array of the variable if one is requested.
fn convert(shell: &mut Shell, name: &Name, requested: &DeclareOptions, array: bool) -> Conversion {
    let old = shell.vars.get(name).map(|var| &var.value);
    let refused = match old {
        Some(Value::Indexed(_)) if requested.assoc => "cannot convert indexed to associative array",
        Some(Value::Assoc(_)) if requested.indexed => "cannot convert associative to indexed array",
        Some(Value::Indexed(_) | Value::Assoc(_)) if requested.no_array => "cannot destroy array variables in this way",
        _ if requested.assoc && requested.indexed => {
            shell.vars.entry(name).value = Value::Assoc(Assoc::default());
            shell.vars.entry(name).flags |= vars::BARE;
            "cannot convert associative to indexed array"
        }
        _ => "",
    };
    if !refused.is_empty() {
        let text = format!("{}: {refused}", lossy(name));
        if array {
            shell.report_error(text);
            return Conversion::Fatal;
        }
        shell.report_builtin_error(text);
        return Conversion::Refused;
    }
    if !(requested.indexed || requested.assoc || array) {
        return Conversion::Done;
    }
    // The previous text of a local variable does not become an element.
    let drops = requested.local && !requested.global && !shell.options.localvar_inherit;
    let var = shell.vars.entry(name);
    var.value = match std::mem::take(&mut var.value) {
        Value::Text(_) if drops => {
            if requested.assoc {
                Value::Assoc(Assoc::default())
            } else {
                Value::Indexed(BTreeMap::new())
            }
        }
        Value::Unset => {
            // Until something is assigned.
            var.flags |= vars::BARE;
            if requested.assoc { Value::Assoc(Assoc::default()) } else { Value::Indexed(BTreeMap::new()) }
        }
        Value::Text(text) if requested.assoc => {
            let mut map = Assoc::with_buckets(128);
            map.insert(b"0".to_vec(), text);
            Value::Assoc(map)
        }
        Value::Text(text) => Value::Indexed(BTreeMap::from([(0, text)])),
        kept => kept,
    };
    Conversion::Done
}

pub(super) fn mark(shell: &mut Shell, name: &Name, requested: &DeclareOptions) {
    if shell.is_computed(name) && shell.vars.get(name).is_none() {
        let own = match &name[..] {
            b"SHELLOPTS" => "SHELLOPTS",
            b"BASHOPTS" => "BASHOPTS",
            _ => return,
        };
        if requested.on & vars::EXPORT != 0 {
            shell.computed.exported.insert(own);
        } else if requested.off & vars::EXPORT != 0 {
            shell.computed.exported.remove(own);
        }
        return;
    }
    let case = vars::LOWER | vars::UPPER | vars::CAPITAL;
    let var = shell.vars.entry(name);
    var.flags = (var.flags & !requested.off) | (requested.on & !case) | (requested.on & case);
}
