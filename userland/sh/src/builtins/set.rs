//! `set`.

use std::rc::Rc;

use crate::expand::{declare_quote, trace_quote};
use crate::ir::Bytes;
use crate::options;
use crate::state::{Run, Shell};
use crate::vars::Value;

pub(super) fn set(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    if args.len() == 1 {
        return Ok(list(shell));
    }
    let mut rest = args.get(1..).unwrap_or_default();
    while let Some((first, after)) = rest.split_first() {
        let (on, letters) = match first.split_first() {
            Some((b'-', letters)) => (true, letters),
            Some((b'+', letters)) => (false, letters),
            _ => break,
        };
        rest = after;
        match letters {
            b"-" => {
                shell.positional = Rc::new(rest.to_vec());
                return Ok(0);
            }
            b"" if on => {
                shell.options.xtrace = false;
                shell.options.verbose = false;
                if !rest.is_empty() {
                    shell.positional = Rc::new(rest.to_vec());
                }
                return Ok(0);
            }
            _ => {}
        }
        for letter in letters {
            if *letter == b'o' {
                let Some((name, after)) = rest.split_first() else { return Ok(options(shell, on)) };
                rest = after;
                if !shell.options.set_named(name, on) {
                    shell.complain_builtin([name, &b": invalid option name"[..]].concat());
                    return Ok(2);
                }
            } else if !shell.options.set_letter(*letter, on) {
                let option = [if on { b'-' } else { b'+' }, *letter];
                return Ok(shell.bad_option(&option, "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]"));
            }
        }
    }
    if !rest.is_empty() {
        shell.positional = Rc::new(rest.to_vec());
    }
    Ok(0)
}

/// `set -o` and `set +o`.
fn options(shell: &mut Shell, on: bool) -> u8 {
    let mut text = String::new();
    for switch in options::SET {
        let is_on = (switch.get)(&shell.options);
        if on {
            text.push_str(&format!("{:<15}\t{}\n", switch.name, if is_on { "on" } else { "off" }));
        } else {
            text.push_str(&format!("set {}o {}\n", if is_on { '-' } else { '+' }, switch.name));
        }
    }
    shell.print(text)
}

/// All variables and functions, as `set` alone prints them.
fn list(shell: &mut Shell) -> u8 {
    let mut text = Bytes::new();
    for name in shell.vars.names() {
        let Some(var) = shell.vars.get(&name) else { continue };
        match &var.value {
            Value::Unset => continue,
            Value::Text(value) => {
                text.extend_from_slice(&name);
                text.push(b'=');
                text.extend(if value.is_empty() { Bytes::new() } else { trace_quote(value) });
            }
            Value::Indexed(map) => {
                text.extend_from_slice(&name);
                let parts: Vec<Bytes> = map
                    .iter()
                    .map(|(key, value)| [format!("[{key}]=").as_bytes(), &declare_quote(value)[..]].concat())
                    .collect();
                text.extend_from_slice(b"=(");
                text.extend(parts.join(&b' '));
                text.push(b')');
            }
            Value::Assoc(map) => {
                text.extend_from_slice(&name);
                text.extend_from_slice(b"=(");
                for (key, value) in map.entries() {
                    text.push(b'[');
                    text.extend_from_slice(key);
                    text.extend_from_slice(b"]=");
                    text.extend(declare_quote(value));
                    text.push(b' ');
                }
                text.push(b')');
            }
        }
        text.push(b'\n');
    }
    let mut functions: Vec<_> = shell.functions.values().map(Rc::clone).collect();
    functions.sort_by(|a, b| a.name.cmp(&b.name));
    for function in functions {
        text.extend(crate::print::function(&function));
    }
    shell.print(text)
}
