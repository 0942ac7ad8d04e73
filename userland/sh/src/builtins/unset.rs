//! `unset`.

use crate::expand::lossy;
use crate::ir::Bytes;
use crate::parse::token::name_len;
use crate::state::{Run, Shell};
use crate::vars::{self, Key, Meant, Value};

pub(super) fn unset(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let (mut functions, mut variables, mut reference) = (false, false, false);
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        words = rest;
        if letters == b"-" {
            break;
        }
        for letter in letters {
            match letter {
                b'f' => functions = true,
                b'v' => variables = true,
                b'n' => reference = true,
                other => return Ok(shell.bad_option(&[b'-', *other], "unset [-f] [-v] [-n] [name ...]")),
            }
        }
    }
    if functions && variables {
        shell.complain_builtin("cannot simultaneously unset a function and a variable");
        return Ok(1);
    }
    let mut status = 0;
    for word in words {
        let function = functions
            || (!variables
                && !reference
                && shell.functions.contains_key(word.as_slice())
                && shell.vars.get(word).is_none());
        if function {
            // A name that is no variable may be a function.
            if functions && shell.readonly_functions.contains(word.as_slice()) {
                shell.complain_builtin([word, &b": cannot unset: readonly function"[..]].concat());
                status = 1;
            } else if !shell.readonly_functions.contains(word.as_slice()) {
                shell.remove_function(word);
            }
        } else if !unset_variable(shell, word, reference, variables)? {
            status = 1;
        }
    }
    Ok(status)
}

fn unset_variable(shell: &mut Shell, word: &[u8], reference: bool, named: bool) -> Run<bool> {
    let len = name_len(word);
    let (name, rest) = word.split_at(len);
    if len == 0 || !(rest.is_empty() || (rest.starts_with(b"[") && rest.ends_with(b"]"))) {
        if !named {
            // It could have been a function.
            return Ok(true);
        }
        shell.complain_builtin(format!("`{}': not a valid identifier", lossy(word)));
        return Ok(false);
    }
    let is_reference = shell.vars.get(name).is_some_and(|var| var.has(vars::NAMEREF));
    if reference && !is_reference {
        return Ok(true);
    }
    let (mut name, mut rest) = (name.to_vec(), rest.to_vec());
    if is_reference && !reference {
        match shell.meaning(&name) {
            Meant::Own => {}
            Meant::Variable(meant) => name = meant.to_vec(),
            Meant::Element(array, subscript) => {
                name = array.to_vec();
                rest = [b"[", &subscript[..], b"]"].concat();
            }
            Meant::Global(_) | Meant::Nothing(_) | Meant::Circle => {}
        }
    }
    if shell.vars.get(&name).is_none() {
        if matches!(&name[..], b"PPID" | b"UID" | b"EUID" | b"BASH_VERSINFO" | b"SHELLOPTS" | b"BASHOPTS") {
            shell.complain_builtin(format!("{}: cannot unset: readonly variable", lossy(&name)));
            return Ok(false);
        }
        if !shell.unset_computed(&name) {
            shell.complain_builtin(format!("{}: cannot unset", lossy(&name)));
            return Ok(false);
        }
        return Ok(true);
    }
    if shell.vars.get(&name).is_some_and(|var| var.has(vars::READONLY)) {
        shell.complain_builtin(format!("{}: cannot unset: readonly variable", lossy(&name)));
        return Ok(false);
    }
    unset_place(shell, &name, &rest)
}

/// Removes a variable, or the element of it that `rest` names.
fn unset_place(shell: &mut Shell, name: &[u8], rest: &[u8]) -> Run<bool> {
    let [b'[', subscript @ .., b']'] = rest else {
        let name = name.to_vec();
        // A local keeps its place, so that the caller's does not show through; one of a caller gives way to what it hid.
        if shell.vars.is_local(&name) {
            if let Some(var) = shell.vars.get_mut(&name) {
                *var = crate::vars::Var::default();
            }
        } else if !shell.vars.uncover(&name) {
            shell.vars.remove(&name);
        }
        match &name[..] {
            b"BASH_XTRACEFD" => shell.set_trace_fd(b""),
            b"POSIXLY_CORRECT" => drop(shell.options.set_named(b"posix", false)),
            b"OPTIND" => shell.getopts_at = (0, 0),
            _ => {}
        }
        shell.note_changed(&name);
        return Ok(true);
    };
    if matches!(subscript, b"@" | b"*") && !matches!(shell.vars.get(name).map(|var| &var.value), Some(Value::Assoc(_)))
    {
        if let Some(Value::Indexed(map)) = shell.vars.get_mut(name).map(|var| &mut var.value) {
            map.clear();
        } else if !shell.vars.uncover(name) {
            shell.vars.remove(name);
        }
        return Ok(true);
    }
    let key = shell.key_of(name, &crate::parse::subscript_from_text(subscript))?;
    match (shell.vars.get_mut(name).map(|var| &mut var.value), key) {
        (Some(Value::Assoc(map)), Key::Word(word)) => {
            if word == b"@" || word == b"*" {
                map.clear();
            } else {
                map.remove(&word);
            }
        }
        (Some(Value::Indexed(map)), Key::Index(index)) => match crate::expand::position(map, index) {
            Some(at) => {
                map.remove(&at);
            }
            None => {
                shell.complain_builtin(format!("[{index}]: bad array subscript"));
                return Ok(false);
            }
        },
        (Some(slot @ Value::Text(_)), Key::Index(0)) => *slot = Value::Unset,
        (Some(Value::Text(_)), _) => {
            shell.complain_builtin(format!("{}: not an array variable", lossy(name)));
            return Ok(false);
        }
        _ => {}
    }
    Ok(true)
}
