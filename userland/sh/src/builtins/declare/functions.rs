//! `-f` and `-F` of `declare` and its kin.

use std::rc::Rc;

use super::{Wanted, name_of};
use crate::eval::{DeclArg, declared_word};
use crate::expand::lossy;
use crate::ir::AssignValue;
use crate::ir::{Bytes, Name};
use crate::state::{Run, Shell};
use crate::vars::{CAPITAL, EXPORT, INTEGER, LOWER, NAMEREF, READONLY, TRACE, UPPER};

/// Prints functions, or marks them.
pub(super) fn functions(shell: &mut Shell, rest: &[DeclArg], wanted: &Wanted) -> Run<u8> {
    if rest.is_empty() {
        return Ok(all(shell, wanted));
    }
    let marked = wanted.on | wanted.off;
    let unfit =
        [(wanted.assoc, "-A"), (wanted.indexed, "-a"), (marked & INTEGER != 0, "-i"), (marked & NAMEREF != 0, "-n")];
    if let Some((_, option)) = unfit.iter().find(|(asked, _)| *asked && wanted.base == 0) {
        shell.complain_builtin(format!("{option}: invalid option"));
        return Ok(1);
    }
    let marks = (wanted.on | wanted.off) & (EXPORT | READONLY | TRACE) != 0;
    let mut status = 0;
    for arg in rest {
        let name = match arg {
            // Of a function that is marked the value would be a part of the name.
            DeclArg::Assign(assign) if wanted.base != 0 => declared_word(assign),
            _ => name_of(arg),
        };
        // A list is not seen as an assignment.
        let valued = matches!(arg, DeclArg::Assign(assign) if matches!(assign.value, AssignValue::Word(_)));
        let assigned = valued || name.contains(&b'=');
        if assigned && wanted.base == 0 {
            shell.complain_builtin("cannot use `-f' to make functions");
            return Ok(1);
        }
        let Some(function) = shell.functions.get(name.as_slice()).map(Rc::clone) else {
            if marks && wanted.base != 0 {
                shell.complain_builtin([&name[..], b": not a function"].concat());
            } else if wanted.print {
                shell.complain_builtin([&name[..], b": not found"].concat());
            }
            status = 1;
            continue;
        };
        if wanted.on & (LOWER | UPPER | CAPITAL) != 0 {
            // A mark that means nothing to a function.
        } else if marks {
            status |= mark(shell, &function.name, wanted);
        } else if wanted.function_names && !wanted.print {
            let mut line = name;
            if shell.options.extdebug {
                line.extend_from_slice(format!(" {} {}", function.line, lossy(&function.source)).as_bytes());
            }
            line.push(b'\n');
            shell.print(line);
        } else {
            let mut text = if wanted.function_names { Bytes::new() } else { crate::print::function(&function) };
            let attributes = shell.function_attributes(&name);
            if wanted.function_names || (wanted.print && attributes != "f") {
                text.extend(declaration(&attributes, &name));
            }
            shell.print(text);
        }
    }
    Ok(status)
}

fn mark(shell: &mut Shell, name: &Name, wanted: &Wanted) -> u8 {
    if wanted.on & EXPORT != 0 && name.iter().any(|byte| matches!(byte, b'=' | b'/')) {
        shell.complain_builtin([&name[..], b": cannot export"].concat());
        return 1;
    }
    if wanted.off & READONLY != 0 && shell.readonly_functions.contains(name) {
        shell.complain_builtin([&name[..], b": readonly function"].concat());
        return 1;
    }
    for (flag, set) in [
        (EXPORT, &mut shell.exported_functions),
        (READONLY, &mut shell.readonly_functions),
        (TRACE, &mut shell.traced_functions),
    ] {
        if wanted.on & flag != 0 {
            set.insert(Name::clone(name));
        } else if wanted.off & flag != 0 {
            set.remove(name);
        }
    }
    0
}

/// All functions, or those with the attributes asked for.
fn all(shell: &mut Shell, wanted: &Wanted) -> u8 {
    let mut functions: Vec<_> = shell.functions.values().map(Rc::clone).collect();
    functions.sort_by(|a, b| a.name.cmp(&b.name));
    let mut text = Bytes::new();
    for function in functions {
        let name = &function.name;
        let lacks = |flag: u16, set: &std::collections::BTreeSet<Name>| wanted.on & flag != 0 && !set.contains(name);
        if lacks(EXPORT, &shell.exported_functions)
            || lacks(READONLY, &shell.readonly_functions)
            || lacks(TRACE, &shell.traced_functions)
        {
            continue;
        }
        if let Some(command) = super::list::command_in_posix(shell, wanted) {
            text.extend([command.as_bytes(), b" -f ", name, b"\n"].concat());
            continue;
        }
        let attributes = shell.function_attributes(name);
        if !wanted.function_names {
            text.extend(crate::print::function(&function));
        }
        if wanted.function_names || attributes != "f" {
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
            [(&self.readonly_functions, 'r'), (&self.traced_functions, 't'), (&self.exported_functions, 'x')]
        {
            if set.contains(name) {
                letters.push(letter);
            }
        }
        letters
    }
}
