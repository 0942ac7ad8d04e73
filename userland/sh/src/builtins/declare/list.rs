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
            None => computed(shell, &name),
        };
        if let Some(line) = line {
            match command_in_posix(shell, requested) {
                Some(command) => text.extend(as_command(command, &line)),
                None => text.extend(line),
            }
            text.push(b'\n');
        }
    }
    shell.print(text)
}

/// The command name that `export` and `readonly` print in posix mode.
pub(super) fn command_in_posix(shell: &Shell, requested: &DeclareOptions) -> Option<&'static str> {
    match requested.base {
        crate::vars::EXPORT if shell.options.posix => Some("export"),
        crate::vars::READONLY if shell.options.posix => Some("readonly"),
        _ => None,
    }
}

/// Converts a `declare` line to this command. Only the array attribute is kept.
fn as_command(command: &str, line: &[u8]) -> Bytes {
    let words = line.strip_prefix(b"declare -").unwrap_or(line);
    let end = words.iter().position(|&byte| byte == b' ').unwrap_or(0);
    let (letters, rest) = words.split_at(end);
    let array = letters.iter().find(|letter| matches!(letter, b'a' | b'A'));
    let option = array.map_or_else(Bytes::new, |letter| vec![b' ', b'-', *letter]);
    [command.as_bytes(), &option, rest].concat()
}

/// Returns whether a computed variable is printed without its value, which would change when it is read.
fn hides_value(name: &[u8]) -> bool {
    const NAMES: &[&str] = &[
        "BASHPID",
        "BASH_ARGV0",
        "BASH_COMMAND",
        "BASH_SUBSHELL",
        "COMP_WORDBREAKS",
        "EPOCHREALTIME",
        "EPOCHSECONDS",
        "HISTCMD",
        "LINENO",
        "RANDOM",
        "SECONDS",
        "SRANDOM",
    ];
    NAMES.iter().any(|hidden| hidden.as_bytes() == name)
}

/// The declaration of a computed variable in a list of all variables.
fn computed(shell: &mut Shell, name: &[u8]) -> Option<Bytes> {
    match name {
        b"RANDOM" | b"SRANDOM" | b"BASHPID" | b"HISTCMD" => Some([b"declare -i ", name].concat()),
        b"DIRSTACK" | b"GROUPS" => Some([b"declare -a ", name, b"=()"].concat()),
        b"BASH_ARGC" | b"BASH_ARGV" if shell.invocation.args.is_none() => Some([b"declare -a ", name, b"=()"].concat()),
        _ if hides_value(name) => Some([b"declare -- ", name].concat()),
        _ => shell.computed_declaration(name),
    }
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
    let mut line = if name == b"-" && shell.vars.is_local(b"-") {
        b"declare -- -".to_vec()
    } else if shell.vars.get(&name).is_some() {
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
        let declaration = match shell.vars.get(&name).map(|var| &var.value) {
            Some(Value::Text(value)) => {
                let value = if value.is_empty() { Bytes::new() } else { crate::expand::trace_quote(value) };
                text.extend([&name[..], b"=", &value, b"\n"].concat());
                continue;
            }
            Some(Value::Unset) => continue,
            Some(_) => shell.declaration(&name),
            None => match computed_assignment(shell, &name) {
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

fn computed_assignment(shell: &mut Shell, name: &[u8]) -> Option<Bytes> {
    if hides_value(name) {
        return None;
    }
    let line = computed(shell, name)?;
    if line.ends_with(b"\"") {
        let value = shell.lookup(name)?;
        let shown = if value.is_empty() { value } else { crate::expand::trace_quote(&value) };
        return Some([b"declare -- ", name, b"=", &shown].concat());
    }
    Some(line)
}

/// All functions as `set` prints them.
pub(in crate::builtins) fn functions(shell: &Shell) -> Bytes {
    let mut functions: Vec<_> = shell.functions.by_name.values().map(Rc::clone).collect();
    functions.sort_by(|a, b| Name::cmp(&a.name, &b.name));
    functions.iter().map(|function| crate::print::function(function)).collect::<Vec<_>>().concat()
}
