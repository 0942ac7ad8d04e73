//! Printing of variables by `declare`.

use std::rc::Rc;

use super::{DeclareOptions, name_of};
use crate::eval::DeclArg;
use crate::ir::{Bytes, Name};
use crate::state::Shell;
use crate::vars::Value;

/// Prints all variables, or those with the requested attributes; for `local`, only the locals of this call.
pub(super) fn list(shell: &mut Shell, requested: &DeclareOptions, locals: bool) -> u8 {
    let plain = requested.on == 0 && !requested.indexed && !requested.assoc && !requested.print && !locals;
    let mut text = Bytes::new();
    if plain {
        text = assignments(shell);
        if !shell.options.posix {
            text.extend(functions(shell));
        }
        return shell.print(text);
    }
    let names = if locals { shell.vars.locals() } else { shell.variable_names() };
    for name in names {
        if !matches(shell, &name, requested) {
            continue;
        }
        let line = match shell.vars.get(&name) {
            Some(_) => Some(shell.declaration(&name)),
            None => shell.computed_declaration(&name),
        };
        if let Some(line) = line {
            text.extend([&line[..], b"\n"].concat());
        }
    }
    shell.print(text)
}

fn matches(shell: &mut Shell, name: &[u8], requested: &DeclareOptions) -> bool {
    match shell.vars.get(name) {
        Some(var) => {
            var.flags & requested.on == requested.on
                && (!requested.indexed || matches!(var.value, Value::Indexed(_)))
                && (!requested.assoc || matches!(var.value, Value::Assoc(_)))
        }
        None => {
            let letters = shell.computed_letters(name);
            let has = |flag: u16, letter: char| requested.on & flag == 0 || letters.contains(letter);
            has(crate::vars::INTEGER, 'i')
                && has(crate::vars::READONLY, 'r')
                && requested.on & !(crate::vars::INTEGER | crate::vars::READONLY) == 0
                && (!requested.indexed || letters.contains('a'))
                && !requested.assoc
        }
    }
}

pub(super) fn print_one(shell: &mut Shell, arg: &DeclArg) -> u8 {
    let name = name_of(arg);
    let mut line = if shell.vars.get(&name).is_some() {
        shell.declaration(&name)
    } else if let Some(line) = shell.computed_declaration(&name) {
        line
    } else {
        shell.report_builtin_error([&name[..], b": not found"].concat());
        return 1;
    };
    line.push(b'\n');
    shell.print(line)
}

/// All variables as `set` prints them.
pub(in crate::builtins) fn assignments(shell: &mut Shell) -> Bytes {
    let mut text = Bytes::new();
    for name in shell.variable_names() {
        let value = match shell.vars.get(&name).map(|var| &var.value) {
            Some(Value::Text(value)) => Some(value.clone()),
            None if !shell.computed_letters(&name).contains('a') => shell.lookup(&name),
            _ => None,
        };
        if let Some(value) = value {
            let value = if value.is_empty() { value } else { crate::eval::trace_quote(&value) };
            text.extend([&name[..], b"=", &value, b"\n"].concat());
            continue;
        }
        let declaration = match shell.vars.get(&name).map(|var| &var.value) {
            Some(Value::Unset) => continue,
            Some(_) => shell.declaration(&name),
            None => match shell.computed_declaration(&name) {
                Some(line) => line,
                None => continue,
            },
        };
        // The text after the attributes; a variable without a value is not printed.
        let Some(at) = declaration.windows(2).skip(8).position(|pair| pair[0] == b' ').map(|at| at + 9) else {
            continue;
        };
        let line = declaration.get(at..).unwrap_or_default();
        if line.contains(&b'=') {
            text.extend([line, b"\n"].concat());
        }
    }
    text
}

/// All functions as `set` prints them.
pub(in crate::builtins) fn functions(shell: &Shell) -> Bytes {
    let mut functions: Vec<_> = shell.functions.by_name.values().map(Rc::clone).collect();
    functions.sort_by(|a, b| Name::cmp(&a.name, &b.name));
    functions.iter().map(|function| crate::print::function(function)).collect::<Vec<_>>().concat()
}
