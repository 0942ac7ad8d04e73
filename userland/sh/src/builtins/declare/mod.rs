//! `declare`, `typeset`, `local`, `export`, `readonly`.

mod functions;
mod list;
mod reference;
mod variable;

pub(super) use list::{assignments, functions as functions_text};

use crate::eval::DeclArg;
use crate::ir::Bytes;
use crate::state::{Run, Shell};
use crate::vars;

/// What the options ask for.
#[derive(Debug, Default)]
struct Wanted {
    on: u16,
    off: u16,
    indexed: bool,
    assoc: bool,
    /// `+a` or `+A`
    no_array: bool,
    print: bool,
    functions: bool,
    function_names: bool,
    global: bool,
    /// Values that local variables take over from outside.
    inherit: bool,
    /// What the builtin is for: `EXPORT`, `READONLY`, or 0.
    base: u16,
    /// Names become local.
    local: bool,
}

const TYPESET: &str = "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]";
const DECLARE: &str = "[-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]";

pub(super) fn declare(shell: &mut Shell, args: &[DeclArg]) -> Run<u8> {
    let usage = match shell.running {
        "typeset" => TYPESET.to_owned(),
        name => format!("{name} {DECLARE}"),
    };
    let local = shell.frames.iter().any(|frame| frame.is_function);
    run(shell, args, Wanted { local, ..Wanted::default() }, &usage)
}

pub(super) fn local(shell: &mut Shell, args: &[DeclArg]) -> Run<u8> {
    if shell.frames.iter().all(|frame| !frame.is_function) {
        // Lists are assigned before anybody looks where this stands.
        for arg in args {
            if let DeclArg::Assign(assign) = arg
                && matches!(assign.value, crate::ir::AssignValue::Array(_))
            {
                shell.run_assign_shown(assign, false)?;
            }
        }
        shell.complain_builtin("can only be used in a function");
        return Ok(1);
    }
    run(shell, args, Wanted { local: true, ..Wanted::default() }, "local [option] name[=value] ...")
}

pub(super) fn export(shell: &mut Shell, args: &[DeclArg]) -> Run<u8> {
    let wanted = Wanted { on: vars::EXPORT, base: vars::EXPORT, ..Wanted::default() };
    run(shell, args, wanted, "export [-fn] [name[=value] ...] or export -p")
}

pub(super) fn readonly(shell: &mut Shell, args: &[DeclArg]) -> Run<u8> {
    let wanted = Wanted { on: vars::READONLY, base: vars::READONLY, ..Wanted::default() };
    run(shell, args, wanted, "readonly [-aAf] [name[=value] ...] or readonly -p")
}

fn run(shell: &mut Shell, args: &[DeclArg], mut wanted: Wanted, usage: &str) -> Run<u8> {
    let mut rest = args.get(1..).unwrap_or_default();
    while let Some((DeclArg::Word(first), after)) = rest.split_first() {
        let (sign, letters) = match first.split_first() {
            Some((b'-', letters)) if !letters.is_empty() => (b'-', letters),
            Some((b'+', letters)) if !letters.is_empty() && wanted.base == 0 => (b'+', letters),
            _ => break,
        };
        rest = after;
        if letters == b"-" {
            break;
        }
        for letter in letters {
            if !option(&mut wanted, *letter, sign == b'-') {
                return Ok(shell.bad_option(&[sign, *letter], usage));
            }
        }
    }
    if wanted.on & vars::LOWER != 0 && wanted.on & vars::UPPER != 0 {
        wanted.on &= !(vars::LOWER | vars::UPPER);
        wanted.off |= vars::LOWER | vars::UPPER;
    }
    if wanted.indexed || wanted.assoc {
        // An array is no reference.
        wanted.on &= !vars::NAMEREF;
    }
    if wanted.functions || wanted.function_names {
        return functions::functions(shell, rest, &wanted);
    }
    if rest.is_empty() {
        return Ok(list::list(shell, &wanted, shell.running == "local"));
    }
    let mut status = 0;
    for arg in rest {
        if wanted.print && wanted.base == 0 {
            status |= list::print_one(shell, arg);
        } else if !variable::declare_one(shell, arg, &wanted)? {
            status = 1;
            let name = name_of(arg);
            let name = name.get(..crate::parse::token::name_len(&name)).unwrap_or_default();
            if wanted.base != 0 && shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY)) {
                // What POSIX calls a special builtin has failed to assign.
                shell.status = 1;
                shell.fatal_in_posix()?;
            }
        }
    }
    Ok(status)
}

/// Takes one option over; false when the builtin has no such option.
fn option(wanted: &mut Wanted, letter: u8, on: bool) -> bool {
    let known: &[u8] = match wanted.base {
        vars::EXPORT => b"aAfnp",
        vars::READONLY => b"aAfnp",
        _ => b"aAfFgiIlnrtuxpc",
    };
    if !known.contains(&letter) {
        return false;
    }
    match letter {
        b'a' | b'A' if !on => wanted.no_array = true,
        b'a' => wanted.indexed = true,
        b'A' => wanted.assoc = true,
        b'p' => wanted.print = true,
        b'f' => wanted.functions = true,
        b'F' => {
            wanted.functions = true;
            wanted.function_names = true;
        }
        b'g' => wanted.global = true,
        b'I' => wanted.inherit = true,
        b'n' if wanted.base == vars::EXPORT => {
            wanted.on &= !vars::EXPORT;
            wanted.off |= vars::EXPORT;
        }
        // What is constant stays so.
        b'n' if wanted.base == vars::READONLY => wanted.on &= !vars::READONLY,
        _ => {
            let flag = match letter {
                b'i' => vars::INTEGER,
                b'l' => vars::LOWER,
                b'u' => vars::UPPER,
                b'c' => vars::CAPITAL,
                b'n' => vars::NAMEREF,
                b'r' => vars::READONLY,
                b't' => vars::TRACE,
                _ => vars::EXPORT,
            };
            if on {
                wanted.on |= flag;
            } else {
                wanted.off |= flag;
            }
        }
    }
    true
}

/// An argument's name, without what is assigned to it.
fn name_of(arg: &DeclArg) -> Bytes {
    match arg {
        DeclArg::Word(word) => word.clone(),
        DeclArg::Assign(assign) => assign.name.to_vec(),
    }
}
