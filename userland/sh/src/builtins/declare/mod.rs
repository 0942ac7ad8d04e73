//! `declare`, `typeset`, `local`, `export`, `readonly`.

mod functions;
mod list;
mod reference;
mod variable;

pub(super) use list::{assignments, functions as functions_text};

use crate::eval::DeclArg;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};
use crate::vars;

/// The parsed options.
#[derive(Debug, Default)]
struct DeclareOptions {
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
    /// Local variables inherit the value of the outer variable.
    inherit: bool,
    /// The attribute that the builtin sets: `EXPORT`, `READONLY`, or 0.
    base: u16,
    /// Names become local.
    local: bool,
}

pub(super) fn declare(shell: &mut Shell, args: &[DeclArg]) -> EvalResult<u8> {
    let local = shell.frames.iter().any(|frame| frame.is_function);
    run(shell, args, DeclareOptions { local, ..DeclareOptions::default() })
}

pub(super) fn local(shell: &mut Shell, args: &[DeclArg]) -> EvalResult<u8> {
    if shell.frames.iter().all(|frame| !frame.is_function) {
        shell.report_builtin_error("can only be used in a function");
        return Ok(1);
    }
    run(shell, args, DeclareOptions { local: true, ..DeclareOptions::default() })
}

pub(super) fn export(shell: &mut Shell, args: &[DeclArg]) -> EvalResult<u8> {
    let requested = DeclareOptions { on: vars::EXPORT, base: vars::EXPORT, ..DeclareOptions::default() };
    run(shell, args, requested)
}

pub(super) fn readonly(shell: &mut Shell, args: &[DeclArg]) -> EvalResult<u8> {
    let requested = DeclareOptions { on: vars::READONLY, base: vars::READONLY, ..DeclareOptions::default() };
    run(shell, args, requested)
}

fn run(shell: &mut Shell, args: &[DeclArg], mut requested: DeclareOptions) -> EvalResult<u8> {
    let mut rest = args.get(1..).unwrap_or_default();
    while let Some((DeclArg::Word(first), after)) = rest.split_first() {
        let (sign, letters) = match first.split_first() {
            Some((b'-', letters)) if !letters.is_empty() => (b'-', letters),
            Some((b'+', letters)) if !letters.is_empty() && requested.base == 0 => (b'+', letters),
            _ => break,
        };
        rest = after;
        if letters == b"-" {
            break;
        }
        for letter in letters {
            if !option(&mut requested, *letter, sign == b'-') {
                return Ok(shell.bad_option(&[sign, *letter]));
            }
        }
    }
    if requested.on & vars::LOWER != 0 && requested.on & vars::UPPER != 0 {
        requested.on &= !(vars::LOWER | vars::UPPER);
        requested.off |= vars::LOWER | vars::UPPER;
    }
    if requested.indexed || requested.assoc {
        // An array cannot be a reference.
        requested.on &= !vars::NAMEREF;
    }
    if requested.functions || requested.function_names {
        return functions::functions(shell, rest, &requested);
    }
    if rest.is_empty() {
        return Ok(list::list(shell, &requested, shell.builtin.name == "local"));
    }
    let mut status = 0;
    for arg in rest {
        if requested.print && requested.base == 0 {
            status |= list::print_one(shell, arg);
        } else if !variable::declare_one(shell, arg, &requested)? {
            status = 1;
            let name = name_of(arg);
            let name = name.get(..crate::parse::token::name_len(&name)).unwrap_or_default();
            if requested.base != 0 && shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY)) {
                // A failed assignment of a special builtin is fatal in posix mode.
                shell.status = 1;
                shell.fatal_in_posix()?;
            }
        }
    }
    Ok(status)
}

/// Sets one option. Returns whether the builtin has it.
fn option(requested: &mut DeclareOptions, letter: u8, on: bool) -> bool {
    let known: &[u8] = match requested.base {
        vars::EXPORT => b"aAfnp",
        vars::READONLY => b"aAfnp",
        _ => b"aAfFgiIlnrtuxpc",
    };
    if !known.contains(&letter) {
        return false;
    }
    match letter {
        b'a' | b'A' if !on => requested.no_array = true,
        b'a' => requested.indexed = true,
        b'A' => requested.assoc = true,
        b'p' => requested.print = true,
        b'f' => requested.functions = true,
        b'F' => {
            requested.functions = true;
            requested.function_names = true;
        }
        b'g' => requested.global = true,
        b'I' => requested.inherit = true,
        b'n' if requested.base == vars::EXPORT => {
            requested.on &= !vars::EXPORT;
            requested.off |= vars::EXPORT;
        }
        // Constants stay constant.
        b'n' if requested.base == vars::READONLY => requested.on &= !vars::READONLY,
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
                requested.on |= flag;
            } else {
                requested.off |= flag;
            }
        }
    }
    true
}

/// The name in an argument, without the value.
fn name_of(arg: &DeclArg) -> Bytes {
    match arg {
        DeclArg::Word(word) => word.clone(),
        DeclArg::Assign(assign) => assign.name.to_vec(),
    }
}
