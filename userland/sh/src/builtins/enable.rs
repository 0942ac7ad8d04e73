//! `enable`.

use crate::ir::Bytes;
use crate::state::{Run, Shell};

const USAGE: &str = "enable [-a] [-dnps] [-f filename] [name ...]";

pub(super) fn enable(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let (mut all, mut off, mut special, mut print) = (false, false, false, false);
    let mut words = args.get(1..).unwrap_or_default();
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        words = rest;
        if letters == b"-" {
            break;
        }
        for letter in letters {
            match letter {
                b'a' => all = true,
                b'n' => off = true,
                b'p' => print = true,
                b's' => special = true,
                b'f' | b'd' => {
                    if shell.refuses() {
                        return Ok(1);
                    }
                    shell.complain_builtin("dynamic loading not available");
                    return Ok(1);
                }
                other => return Ok(shell.bad_option(&[b'-', *other], USAGE)),
            }
        }
    }
    if words.is_empty() || print {
        let shown = super::BUILTINS.iter().map(|builtin| builtin.name).filter(|name| {
            let is_off = shell.disabled.contains(name);
            (all || is_off == off) && (!special || super::is_special(name.as_bytes()))
        });
        let line = |name: &str| format!("enable {}{name}\n", if shell.disabled.contains(name) { "-n " } else { "" });
        let text: String = shown.map(line).collect();
        return Ok(shell.print(text));
    }
    let mut status = 0;
    for word in words {
        match super::find(word).filter(|builtin| !special || super::is_special(builtin.name.as_bytes())) {
            Some(builtin) if off => drop(shell.disabled.insert(builtin.name)),
            Some(_) if shell.refuses() => return Ok(1),
            Some(builtin) => drop(shell.disabled.remove(builtin.name)),
            None => {
                shell.complain_builtin([word, &b": not a shell builtin"[..]].concat());
                status = 1;
            }
        }
    }
    Ok(status)
}
