//! `unset`.

use crate::builtins::option_letters::Letters;
use crate::expand::{ElementName, lossy};
use crate::ir::{Bytes, Name};
use crate::state::{EvalResult, Shell};
use crate::vars::{self, Key, NamerefTarget, Value};

pub(super) fn unset(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut functions, mut variables, mut reference) = (false, false, false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'f' => functions = true,
            b'v' => variables = true,
            b'n' => reference = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if functions && variables {
        shell.report_builtin_error("cannot simultaneously unset a function and a variable");
        return Ok(1);
    }
    let mut status = 0;
    for word in words {
        let function = functions
            || (!variables
                && !reference
                && shell.functions.by_name.contains_key(word.as_slice())
                && shell.vars.get(word).is_none());
        if function {
            // A name that is not a variable may be a function.
            if functions && shell.functions.readonly.contains(word.as_slice()) {
                shell.report_builtin_error([word, &b": cannot unset: readonly function"[..]].concat());
                status = 1;
            } else if !shell.functions.readonly.contains(word.as_slice()) {
                shell.remove_function(word);
            }
        } else if !unset_variable(shell, word, reference, variables)? {
            status = 1;
        }
    }
    Ok(status)
}

fn unset_variable(shell: &mut Shell, word: &[u8], reference: bool, named: bool) -> EvalResult<bool> {
    let Some(mut element) = shell.parse_element_name(word) else {
        if !named {
            // It could have been a function.
            return Ok(true);
        }
        shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(word)));
        return Ok(false);
    };
    let is_reference = shell.vars.get(&element.name).is_some_and(|var| var.has(vars::NAMEREF));
    if reference && !is_reference {
        let kept = shell.vars.get(&element.name).is_some_and(|var| var.has(vars::READONLY));
        if kept {
            shell.report_builtin_error(format!("{}: cannot unset: readonly variable", lossy(&element.name)));
        }
        return Ok(!kept);
    }
    let mut referred = false;
    if is_reference && !reference {
        match shell.meaning(&element.name) {
            NamerefTarget::Variable(meant) => element.name = meant,
            NamerefTarget::Element(array, subscript) => {
                element.name = array;
                element.subscript = Some(subscript);
                referred = true;
            }
            NamerefTarget::Own | NamerefTarget::Global(_) | NamerefTarget::Nothing(_) | NamerefTarget::Circle => {}
        }
    }
    let name = &element.name;
    if shell.vars.get(name).is_none() {
        if matches!(&name[..], b"PPID" | b"UID" | b"EUID" | b"BASH_VERSINFO" | b"SHELLOPTS" | b"BASHOPTS") {
            shell.report_builtin_error(format!("{}: cannot unset: readonly variable", lossy(name)));
            return Ok(false);
        }
        if !shell.unset_computed(name) {
            shell.report_builtin_error(format!("{}: cannot unset", lossy(name)));
            return Ok(false);
        }
        return Ok(true);
    }
    if shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY)) {
        shell.report_builtin_error(format!("{}: cannot unset: readonly variable", lossy(name)));
        return Ok(false);
    }
    match &element.subscript {
        None => {
            unset_whole(shell, name);
            Ok(true)
        }
        // The target of a reference need not be an array.
        Some(_) if referred && !shell.is_array(name) => Ok(true),
        Some(subscript) => unset_element(shell, &element, subscript),
    }
}

fn unset_whole(shell: &mut Shell, name: &Name) {
    // A local variable stays unset, so that the variable of the caller stays hidden. Unsetting the caller's variable reveals
    // the one that it hid.
    if shell.vars.is_local(name) {
        let kept = if shell.vars.is_call_temporary(name) { vars::EXPORT } else { 0 };
        if let Some(var) = shell.vars.get_mut(name) {
            *var = vars::Var { flags: var.flags & kept, ..vars::Var::default() };
        }
    } else if !shell.vars.restore_outer(name) {
        shell.vars.remove(name);
    }
    match &name[..] {
        b"BASH_XTRACEFD" => shell.set_trace_fd(b""),
        b"POSIXLY_CORRECT" => drop(shell.options.set_named(b"posix", false)),
        b"OPTIND" => shell.builtin.getopts_position = (0, 0),
        _ => {}
    }
    shell.variable_changed(name);
}

fn unset_element(shell: &mut Shell, element: &ElementName, subscript: &[u8]) -> EvalResult<bool> {
    let name = &element.name;
    if matches!(subscript, b"@" | b"*") {
        match shell.vars.get_mut(name).map(|var| &mut var.value) {
            Some(Value::Indexed(map)) => {
                map.clear();
                return Ok(true);
            }
            // There it is the key of an element.
            Some(Value::Assoc(_)) => {}
            _ => {
                shell.report_builtin_error(format!("{}: not an array variable", lossy(name)));
                return Ok(false);
            }
        }
    }
    let Some(key) = shell.key_of_element_name(element)? else { return Ok(false) };
    match (shell.vars.get_mut(name).map(|var| &mut var.value), key) {
        (Some(Value::Assoc(map)), Key::Word(word)) => map.remove(&word),
        (Some(Value::Indexed(map)), Key::Index(index)) => match crate::expand::position(map, index) {
            Some(at) => {
                map.remove(&at);
            }
            None => {
                shell.report_builtin_error(format!("[{}]: bad array subscript", lossy(subscript)));
                return Ok(false);
            }
        },
        (Some(Value::Text(_)), Key::Index(0)) => unset_whole(shell, name),
        (Some(Value::Text(_)), _) => {
            shell.report_builtin_error(format!("{}: not an array variable", lossy(name)));
            return Ok(false);
        }
        _ => {}
    }
    Ok(true)
}
