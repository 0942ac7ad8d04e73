//! `-f` and `-F` of `declare` and related builtins.

use std::rc::Rc;

use super::{DeclareOptions, name_of};
use crate::eval::{DeclArg, declared_word};
use crate::expand::lossy;
use crate::ir::AssignValue;
use crate::ir::{Bytes, Name};
use crate::state::{EvalResult, Shell};
use crate::vars::{CAPITAL, EXPORT, LOWER, READONLY, TRACE, UPPER};

/// Prints functions, or marks them.
pub(super) fn functions(shell: &mut Shell, rest: &[DeclArg], requested: &DeclareOptions) -> EvalResult<u8> {
    if rest.is_empty() {
        return Ok(all(shell, requested));
    }
    let marks = (requested.on | requested.off) & (EXPORT | READONLY | TRACE) != 0;
    let mut status = 0;
    for arg in rest {
        let name = match arg {
            // Of a function that is marked the value would be a part of the name.
            DeclArg::Assign(assign) if requested.base != 0 => declared_word(assign),
            _ => name_of(arg),
        };
        // A list is not seen as an assignment.
        let valued = matches!(arg, DeclArg::Assign(assign) if matches!(assign.value, AssignValue::Word(_)));
        let assigned = valued || name.contains(&b'=');
        if assigned && requested.base == 0 {
            shell.report_builtin_error("cannot use `-f' to make functions");
            return Ok(1);
        }
        let Some(function) = shell.functions.by_name.get(name.as_slice()).map(Rc::clone) else {
            if marks && requested.base != 0 {
                shell.report_builtin_error([&name[..], b": not a function"].concat());
            } else if requested.print {
                shell.report_builtin_error([&name[..], b": not found"].concat());
            }
            status = 1;
            continue;
        };
        if requested.on & (LOWER | UPPER | CAPITAL) != 0 {
            // A mark that means nothing to a function.
        } else if marks {
            status |= mark(shell, &function.name, requested);
        } else if requested.function_names && !requested.print {
            let mut line = name;
            if shell.options.extdebug {
                line.extend_from_slice(format!(" {} {}", function.line, lossy(&function.source)).as_bytes());
            }
            line.push(b'\n');
            shell.print(line);
        } else {
            let mut text = if requested.function_names { Bytes::new() } else { crate::print::function(&function) };
            let attributes = shell.function_attributes(&name);
            if requested.function_names || (requested.print && attributes != "f") {
                text.extend(declaration(&attributes, &name));
            }
            shell.print(text);
        }
    }
    Ok(status)
}

fn mark(shell: &mut Shell, name: &Name, requested: &DeclareOptions) -> u8 {
    if requested.on & EXPORT != 0 && name.iter().any(|byte| matches!(byte, b'=' | b'/')) {
        shell.report_builtin_error([&name[..], b": cannot export"].concat());
        return 1;
    }
    if requested.off & READONLY != 0 && shell.functions.readonly.contains(name) {
        shell.report_builtin_error([&name[..], b": readonly function"].concat());
        return 1;
    }
    for (flag, set) in [
        (EXPORT, &mut shell.functions.exported),
        (READONLY, &mut shell.functions.readonly),
        (TRACE, &mut shell.functions.traced),
    ] {
        if requested.on & flag != 0 {
            set.insert(Name::clone(name));
        } else if requested.off & flag != 0 {
            set.remove(name);
        }
    }
    0
}

/// Prints all functions, or those with the requested attributes.
fn all(shell: &mut Shell, requested: &DeclareOptions) -> u8 {
    let mut functions: Vec<_> = shell.functions.by_name.values().map(Rc::clone).collect();
    functions.sort_by(|a, b| a.name.cmp(&b.name));
    let mut text = Bytes::new();
    for function in functions {
        let name = &function.name;
        let lacks = |flag: u16, set: &std::collections::BTreeSet<Name>| requested.on & flag != 0 && !set.contains(name);
        if lacks(EXPORT, &shell.functions.exported)
            || lacks(READONLY, &shell.functions.readonly)
            || lacks(TRACE, &shell.functions.traced)
        {
            continue;
        }
        if let Some(command) = super::list::command_in_posix(shell, requested) {
            text.extend([command.as_bytes(), b" -f ", name, b"\n"].concat());
            continue;
        }
        let attributes = shell.function_attributes(name);
        if !requested.function_names {
            text.extend(crate::print::function(&function));
        }
        if requested.function_names || attributes != "f" {
            text.extend(declaration(&attributes, name));
        }
    }
    shell.print(text)
}

fn declaration(attributes: &str, name: &[u8]) -> Bytes {
    [b"declare -", attributes.as_bytes(), b" ", name, b"\n"].concat()
}

impl Shell {
    /// The attributes of a function as `declare -F` shows them.
    fn function_attributes(&self, name: &[u8]) -> String {
        let mut letters = "f".to_owned();
        for (set, letter) in
            [(&self.functions.readonly, 'r'), (&self.functions.traced, 't'), (&self.functions.exported, 'x')]
        {
            if set.contains(name) {
                letters.push(letter);
            }
        }
        letters
    }
}
