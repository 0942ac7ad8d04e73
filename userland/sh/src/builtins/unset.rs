//! `unset`.

use crate::expand::lossy;
use crate::ir::Bytes;
use crate::parse::token::name_len;
use crate::state::{Run, Shell};
use crate::vars::{self, Key, Value};

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
                _ => return Ok(shell.bad_option(first, "unset [-f] [-v] [-n] [name ...]")),
            }
        }
    }
    let mut status = 0;
    for word in words {
        if functions {
            shell.remove_function(word);
        } else if !variables && shell.functions.contains_key(word.as_slice()) && shell.vars.get(word).is_none() {
            // A name that is no variable may be a function.
            shell.remove_function(word);
        } else if !unset_variable(shell, word, reference)? {
            status = 1;
        }
    }
    Ok(status)
}

fn unset_variable(shell: &mut Shell, word: &[u8], reference: bool) -> Run<bool> {
    let len = name_len(word);
    let (name, rest) = word.split_at(len);
    let resolved = if reference { None } else { shell.vars.resolve(name) };
    let name = resolved.as_deref().unwrap_or(name);
    if len == 0 || shell.vars.get(name).is_none() {
        return Ok(true);
    }
    if shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY)) {
        shell.complain_builtin(format!("{}: cannot unset: readonly variable", lossy(name)));
        return Ok(false);
    }
    let [b'[', subscript @ .., b']'] = rest else {
        // A local keeps its place, so that the caller's does not show through.
        if shell.vars.locals().iter().any(|local| &**local == name) {
            if let Some(var) = shell.vars.get_mut(name) {
                *var = crate::vars::Var::default();
            }
        } else {
            shell.vars.remove(name);
        }
        return Ok(true);
    };
    if matches!(subscript, b"@" | b"*") && !matches!(shell.vars.get(name).map(|var| &var.value), Some(Value::Assoc(_)))
    {
        shell.vars.remove(name);
        return Ok(true);
    }
    let name = name.to_vec();
    let key = shell.key_of(&name, &crate::parse::subscript_from_text(subscript))?;
    match (shell.vars.get_mut(&name).map(|var| &mut var.value), key) {
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
        _ => {}
    }
    Ok(true)
}
