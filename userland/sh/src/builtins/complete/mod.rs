//! `complete`, `compgen` and `compopt`: how words would be completed. Nobody completes words here, but scripts define it
//! for others and use `compgen` to list names.

mod generate;
mod options;
mod spec;

use crate::ir::Bytes;
use crate::state::{Run, Shell};
use options::{Parsed, parse};
pub(crate) use spec::Spec;

const COMPGEN: &str = "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] \
                       [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]";
const COMPLETE: &str = "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] \
                        [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]";
const COMPOPT: &str = "compopt [-o|+o option] [-DEI] [name ...]";

/// What `-D`, `-E` and `-I` stand for.
const DEFAULT: &[u8] = b"_DefaultCmD_";
const EMPTY: &[u8] = b"_EmptycmD_";
const INITIAL: &[u8] = b"_InitialWorD_";

pub(super) fn compgen(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let parsed = match parse(shell, args, COMPGEN, false) {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let Parsed { spec, words, given, .. } = parsed;
    if !given {
        return Ok(0);
    }
    if spec.function.is_some() {
        shell.complain_builtin("warning: -F option may not work as you expect");
    }
    if spec.command.is_some() {
        shell.complain_builtin("warning: -C option may not work as you expect");
    }
    let word = words.first().cloned().unwrap_or_default();
    let found = shell.generate(&spec, &word)?;
    if found.is_empty() {
        return Ok(1);
    }
    let text = found.iter().flat_map(|line| [&line[..], b"\n"]).collect::<Vec<_>>().concat();
    Ok(shell.print(text))
}

pub(super) fn complete(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let parsed = match parse(shell, args, COMPLETE, true) {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let Parsed { spec, words, given, print, remove, kinds } = parsed;
    let names: Vec<Bytes> = if kinds.is_empty() { words.to_vec() } else { kinds };
    if remove {
        return Ok(remove_specs(shell, &names));
    }
    if print || (!given && names.is_empty()) {
        return Ok(print_specs(shell, &names));
    }
    if names.is_empty() {
        return Ok(shell.usage(COMPLETE));
    }
    for name in names {
        shell.completions.retain(|(known, _)| *known != name);
        shell.completions.push((name, spec.clone()));
    }
    Ok(0)
}

fn remove_specs(shell: &mut Shell, names: &[Bytes]) -> u8 {
    if names.is_empty() || shell.completions.is_empty() {
        shell.completions.clear();
        return 0;
    }
    let mut status = 0;
    for name in names {
        let before = shell.completions.len();
        shell.completions.retain(|(known, _)| known != name);
        if shell.completions.len() == before {
            shell.complain_builtin([name, &b": no completion specification"[..]].concat());
            status = 1;
        }
    }
    status
}

fn print_specs(shell: &mut Shell, names: &[Bytes]) -> u8 {
    if names.is_empty() {
        let mut all: Vec<_> = shell.completions.iter().enumerate().collect();
        // The order of bash's table: by bucket, the newest of a bucket first.
        all.sort_by_key(|(at, (name, _))| (crate::vars::bash_hash(name) & 511, usize::MAX - at));
        let text: Vec<Bytes> = all.into_iter().map(|(_, (name, spec))| spec.line(name)).collect();
        return shell.print(text.concat());
    }
    let mut status = 0;
    for name in names {
        match shell.completions.iter().find(|(known, _)| known == name).map(|(_, spec)| spec.line(name)) {
            Some(line) => {
                shell.print(line);
            }
            None => {
                shell.complain_builtin([name, &b": no completion specification"[..]].concat());
                status = 1;
            }
        }
    }
    status
}

pub(super) fn compopt(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let (mut on, mut off, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let mut words = args.get(1..).unwrap_or_default();
    while let Some((first, rest)) = words.split_first() {
        let (sign, letters) = match first.split_first() {
            Some((sign @ (b'-' | b'+'), letters)) if !letters.is_empty() => (*sign, letters),
            _ => break,
        };
        words = rest;
        match letters {
            b"-" => break,
            b"o" => {
                let Some((name, rest)) = words.split_first() else {
                    shell.complain_builtin("-o: option requires an argument");
                    return Ok(shell.usage(COMPOPT));
                };
                words = rest;
                let Some(option) = spec::option(name) else {
                    shell.complain_builtin([name, &b": invalid option name"[..]].concat());
                    return Ok(2);
                };
                if sign == b'-' { on.push(option) } else { off.push(option) }
            }
            b"D" => names.push(DEFAULT.to_vec()),
            b"E" => names.push(EMPTY.to_vec()),
            b"I" => names.push(INITIAL.to_vec()),
            _ => return Ok(shell.bad_option(first.get(..2).unwrap_or(first), COMPOPT)),
        }
    }
    if names.is_empty() {
        names = words.to_vec();
    }
    if names.is_empty() {
        shell.complain_builtin("not currently executing completion function");
        return Ok(1);
    }
    let mut status = 0;
    for name in names {
        let Some((_, spec)) = shell.completions.iter_mut().find(|(known, _)| *known == name) else {
            shell.complain_builtin([&name[..], b": no completion specification"].concat());
            status = 1;
            continue;
        };
        if on.is_empty() && off.is_empty() {
            let line = spec.options_line(&name);
            shell.print(line);
            continue;
        }
        spec.options.extend(on.iter().copied());
        spec.options.retain(|option| !off.contains(option));
    }
    Ok(status)
}
