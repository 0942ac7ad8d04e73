//! `declare`, `typeset`, `local`, `export`, `readonly`.

use std::collections::BTreeMap;

use crate::eval::DeclArg;
use crate::expand::lossy;
use crate::ir::{Assign, AssignValue, Bytes, Name};
use crate::parse::token::name_len;
use crate::state::{Run, Shell};
use crate::vars::{self, Assoc, Key, Value};

/// What the options ask for.
#[derive(Debug, Default)]
struct Wanted {
    on: u16,
    off: u16,
    indexed: bool,
    assoc: bool,
    print: bool,
    functions: bool,
    function_names: bool,
    global: bool,
    /// Values that local variables take over from outside.
    inherit: bool,
}

pub(super) fn declare(shell: &mut Shell, args: &[DeclArg<'_>]) -> Run<u8> {
    let usage = "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]";
    let local = !shell.frames.iter().all(|frame| !frame.is_function);
    run(shell, args, Wanted::default(), local, usage)
}

pub(super) fn local(shell: &mut Shell, args: &[DeclArg<'_>]) -> Run<u8> {
    if shell.frames.iter().all(|frame| !frame.is_function) {
        shell.complain_builtin("can only be used in a function");
        return Ok(1);
    }
    if args.len() == 1 {
        for name in shell.vars.locals() {
            if let Some(text) = shell.lookup(&name) {
                let line = [&name[..], b"=", &crate::expand::trace_quote(&text), b"\n"].concat();
                shell.print(line);
            }
        }
        return Ok(0);
    }
    run(shell, args, Wanted::default(), true, "local [option] name[=value] ...")
}

pub(super) fn export(shell: &mut Shell, args: &[DeclArg<'_>]) -> Run<u8> {
    let wanted = Wanted { on: vars::EXPORT, global: true, ..Wanted::default() };
    run(shell, args, wanted, false, "export [-fn] [name[=value] ...] or export -p")
}

pub(super) fn readonly(shell: &mut Shell, args: &[DeclArg<'_>]) -> Run<u8> {
    let wanted = Wanted { on: vars::READONLY, global: true, ..Wanted::default() };
    run(shell, args, wanted, false, "readonly [-aAf] [name[=value] ...] or readonly -p")
}

fn run(shell: &mut Shell, args: &[DeclArg<'_>], mut wanted: Wanted, local: bool, usage: &str) -> Run<u8> {
    let mut rest = args.get(1..).unwrap_or_default();
    let base = wanted.on;
    while let Some((DeclArg::Word(first), after)) = rest.split_first() {
        let (sign, letters) = match first.split_first() {
            Some((sign @ (b'-' | b'+'), letters)) if !letters.is_empty() => (*sign, letters),
            _ => break,
        };
        rest = after;
        if letters == b"-" {
            break;
        }
        for letter in letters {
            if !option(&mut wanted, *letter, sign == b'-', base) {
                return Ok(shell.bad_option(first, usage));
            }
        }
    }
    if wanted.functions || wanted.function_names {
        return functions(shell, rest, &wanted, base);
    }
    if rest.is_empty() {
        return Ok(list(shell, &wanted, base));
    }
    let mut status = 0;
    for arg in rest {
        if wanted.print && base == 0 {
            status |= print_one(shell, arg);
        } else if !one(shell, arg, &wanted, local && !wanted.global)? {
            status = 1;
        }
    }
    Ok(status)
}

fn option(wanted: &mut Wanted, letter: u8, on: bool, base: u16) -> bool {
    let flag = match letter {
        b'a' => {
            wanted.indexed = on;
            return true;
        }
        b'A' => {
            wanted.assoc = on;
            return true;
        }
        b'p' => {
            wanted.print = true;
            return true;
        }
        b'f' => {
            wanted.functions = true;
            return true;
        }
        b'F' => {
            wanted.function_names = true;
            return true;
        }
        b'g' => {
            wanted.global = true;
            return true;
        }
        b'I' => {
            wanted.inherit = true;
            return true;
        }
        b'n' if base == vars::EXPORT => {
            wanted.on &= !vars::EXPORT;
            wanted.off |= vars::EXPORT;
            return true;
        }
        b'i' => vars::INTEGER,
        b'l' => vars::LOWER,
        b'u' => vars::UPPER,
        b'n' => vars::NAMEREF,
        b'r' => vars::READONLY,
        b't' => vars::TRACE,
        b'x' => vars::EXPORT,
        _ => return false,
    };
    if on {
        wanted.on |= flag
    } else {
        wanted.off |= flag
    }
    true
}

/// Prints functions, or marks them.
fn functions(shell: &mut Shell, rest: &[DeclArg<'_>], wanted: &Wanted, base: u16) -> Run<u8> {
    if base == vars::READONLY && !rest.is_empty() {
        // No function is kept from being redefined.
        return Ok(0);
    }
    let marks = (wanted.on | wanted.off) & vars::EXPORT != 0 && !rest.is_empty();
    let mut names: Vec<Bytes> = Vec::new();
    for arg in rest {
        if let DeclArg::Word(word) = arg {
            names.push(word.clone());
        }
    }
    let all = names.is_empty();
    if all {
        names = shell.functions.keys().map(|name| name.to_vec()).collect();
        names.sort();
    }
    let mut status = 0;
    for name in names {
        match shell.functions.get(name.as_slice()) {
            None => {
                if marks {
                    shell.complain_builtin([&name[..], b": not a function"].concat());
                }
                status = 1;
            }
            Some(function) if marks => {
                let name = Name::clone(&function.name);
                if wanted.on & vars::EXPORT != 0 {
                    shell.exported_functions.insert(name);
                } else {
                    shell.exported_functions.remove(&name);
                }
            }
            Some(_) if wanted.on & vars::EXPORT != 0 && !shell.exported_functions.contains(name.as_slice()) => {}
            Some(function) => {
                let exported = shell.exported_functions.contains(name.as_slice());
                let declared =
                    [if exported { &b"declare -fx "[..] } else { b"declare -f " }, &name[..], b"\n"].concat();
                let text = if wanted.function_names {
                    if all { declared } else { [&name[..], b"\n"].concat() }
                } else if exported && all {
                    [crate::print::function(function), declared].concat()
                } else {
                    crate::print::function(function)
                };
                shell.print(text);
            }
        }
    }
    Ok(status)
}

/// Prints all variables, or those with the attributes asked for.
fn list(shell: &mut Shell, wanted: &Wanted, base: u16) -> u8 {
    let filtered = wanted.on != 0 || wanted.indexed || wanted.assoc || wanted.print || base != 0;
    let mut text = Bytes::new();
    for name in shell.vars.names() {
        let Some(var) = shell.vars.get(&name) else { continue };
        let matches = var.flags & wanted.on == wanted.on
            && (!wanted.indexed || matches!(var.value, Value::Indexed(_)))
            && (!wanted.assoc || matches!(var.value, Value::Assoc(_)));
        if !matches {
            continue;
        }
        if filtered {
            text.extend(shell.declaration(&name));
        } else if let Some(value) = var.scalar() {
            text.extend_from_slice(&name);
            text.push(b'=');
            text.extend(crate::expand::trace_quote(value));
        } else {
            continue;
        }
        text.push(b'\n');
    }
    shell.print(text)
}

fn print_one(shell: &mut Shell, arg: &DeclArg<'_>) -> u8 {
    let name: Bytes = match arg {
        DeclArg::Word(word) => word.clone(),
        DeclArg::Assign(assign) => assign.name.to_vec(),
    };
    let Some(var) = shell.vars.get(&name) else {
        if let Some(values) = shell.dynamic(&name) {
            let value = values.first().cloned().unwrap_or_default();
            let line = [b"declare -- ", &name[..], b"=", &crate::expand::declare_quote(&value), b"\n"].concat();
            return shell.print(line);
        }
        shell.complain_builtin([&name[..], b": not found"].concat());
        return 1;
    };
    let _ = var;
    let mut line = shell.declaration(&name);
    line.push(b'\n');
    shell.print(line)
}

/// Declares one name; says whether that was allowed.
fn one(shell: &mut Shell, arg: &DeclArg<'_>, wanted: &Wanted, local: bool) -> Run<bool> {
    match arg {
        DeclArg::Assign(assign) => {
            if !prepare(shell, &assign.name, wanted, local, matches!(assign.value, AssignValue::Array(_)))? {
                return Ok(false);
            }
            if !assigned(shell, assign, wanted)? {
                return Ok(false);
            }
            mark(shell, &assign.name, wanted);
            Ok(true)
        }
        DeclArg::Word(word) => {
            let len = name_len(word);
            let (name, rest) = word.split_at(len);
            let (subscript, rest) = match rest.iter().position(|&b| b == b']') {
                Some(at) if rest.first() == Some(&b'[') => (rest.get(1..at), rest.get(at + 1..).unwrap_or_default()),
                _ => (None, rest),
            };
            let (append, value) = match rest {
                b"" => (false, None),
                [b'=', value @ ..] => (false, Some(value.to_vec())),
                [b'+', b'=', value @ ..] => (true, Some(value.to_vec())),
                _ => return bad_name(shell, word),
            };
            if len == 0 {
                return bad_name(shell, word);
            }
            let name: Name = name.into();
            if !prepare(shell, &name, wanted, local, false)? {
                return Ok(false);
            }
            if let Some(value) = value {
                let is_array = value.first() == Some(&b'(') && value.last() == Some(&b')');
                if is_array && (wanted.indexed || wanted.assoc) {
                    assign_text(shell, &name, &value, append)?;
                } else {
                    let key = match subscript {
                        None => Key::Whole,
                        Some(text) => shell.key_of(&name, &crate::parse::subscript_from_text(text))?,
                    };
                    if !shell.assign(&name, key, append, value)? {
                        return Ok(false);
                    }
                }
            }
            mark(shell, &name, wanted);
            Ok(true)
        }
    }
}

fn bad_name(shell: &mut Shell, word: &[u8]) -> Run<bool> {
    shell.complain_builtin(format!("`{}': not a valid identifier", lossy(word)));
    Ok(false)
}

/// `declare -a "$name=(..)"`: the text is an array as it would be written.
fn assign_text(shell: &mut Shell, name: &Name, value: &[u8], append: bool) -> Run {
    let operator: &[u8] = if append { b"+=" } else { b"=" };
    let text = [name, operator, value].concat();
    shell.run_text(&text, shell.line)
}

/// Makes the variable what it must be before it is assigned to.
fn prepare(shell: &mut Shell, name: &Name, wanted: &Wanted, local: bool, array: bool) -> Run<bool> {
    if local {
        let old = shell.vars.get(name).cloned();
        if old.as_ref().is_some_and(|var| var.has(vars::READONLY)) && !shell.vars.locals().contains(name) {
            shell.complain_builtin([name, &b": readonly variable"[..]].concat());
            return Ok(false);
        }
        if !shell.vars.make_local(name) {
            if let Some(old) = old.filter(|_| wanted.inherit || shell.options.localvar_inherit) {
                shell.vars.insert(Name::clone(name), old);
            } else {
                shell.vars.entry(name);
            }
        }
    }
    let exists = shell.vars.get(name).is_some();
    let readonly = shell.vars.get(name).is_some_and(|var| var.has(vars::READONLY));
    if readonly && wanted.off & vars::READONLY != 0 {
        shell.complain_builtin([name, &b": readonly variable"[..]].concat());
        return Ok(false);
    }
    if wanted.indexed || wanted.assoc || (array && !exists) {
        let var = shell.vars.entry(name);
        let old = std::mem::take(&mut var.value);
        var.value = match (old, wanted.assoc) {
            (Value::Assoc(map), true) => Value::Assoc(map),
            (Value::Indexed(map), true) if map.is_empty() => Value::Assoc(Assoc::default()),
            (Value::Unset, true) => Value::Assoc(Assoc::default()),
            (Value::Text(text), true) => {
                let mut map = Assoc::default();
                map.insert(b"0".to_vec(), text);
                Value::Assoc(map)
            }
            (kept @ Value::Indexed(_), _) => kept,
            (kept @ Value::Assoc(_), false) => kept,
            (Value::Unset, false) => Value::Indexed(BTreeMap::new()),
            (Value::Text(text), false) => Value::Indexed(BTreeMap::from([(0, text)])),
        };
    }
    if !readonly {
        let var = shell.vars.entry(name);
        let early = vars::INTEGER | vars::LOWER | vars::UPPER;
        var.flags = (var.flags & !(wanted.off & early)) | (wanted.on & early);
        if wanted.on & vars::LOWER != 0 {
            var.flags &= !vars::UPPER;
        } else if wanted.on & vars::UPPER != 0 {
            var.flags &= !vars::LOWER;
        }
    }
    Ok(true)
}

fn assigned(shell: &mut Shell, assign: &Assign, wanted: &Wanted) -> Run<bool> {
    if wanted.on & vars::NAMEREF != 0
        && let AssignValue::Word(word) = &assign.value
    {
        // The value names the variable that is meant; it is not assigned to that one.
        let target = shell.expand_text(word)?;
        if target == assign.name[..] {
            shell.complain_builtin(format!("{}: nameref variable self references not allowed", lossy(&assign.name)));
            return Ok(false);
        }
        let var = shell.vars.entry(&assign.name);
        var.value = Value::Text(target);
        return Ok(true);
    }
    shell.run_assign(assign)
}

fn mark(shell: &mut Shell, name: &Name, wanted: &Wanted) {
    let name = if wanted.on & vars::NAMEREF == 0 && wanted.off & vars::NAMEREF == 0 {
        shell.vars.resolve(name).unwrap_or_else(|| Name::clone(name))
    } else {
        Name::clone(name)
    };
    let var = shell.vars.entry(&name);
    var.flags = (var.flags & !wanted.off) | wanted.on;
}
