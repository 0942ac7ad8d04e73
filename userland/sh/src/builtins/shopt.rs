//! `shopt`.

use crate::ir::Bytes;
use crate::options::{SET, SHOPT, switch};
use crate::state::{Run, Shell};

pub(super) fn shopt(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let (mut change, mut quiet, mut print, mut table) = (None, false, false, SHOPT);
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        words = rest;
        for letter in letters {
            match letter {
                b's' => change = Some(true),
                b'u' => change = Some(false),
                b'q' => quiet = true,
                b'p' => print = true,
                b'o' => table = SET,
                _ => return Ok(shell.bad_option(first, "shopt [-pqsu] [-o] [optname ...]")),
            }
        }
    }
    if words.is_empty() {
        let mut text = String::new();
        for switch in table {
            let on = (switch.get)(&shell.options);
            if change.is_none_or(|wanted| wanted == on) {
                text.push_str(&line(switch.name, on, print));
            }
        }
        return Ok(if quiet { 0 } else { shell.print(text) });
    }
    let mut status = 0;
    for name in words {
        let Some(switch) = switch(table, name) else {
            shell.complain_builtin([name, &b": invalid shell option name"[..]].concat());
            status = 1;
            continue;
        };
        match change {
            Some(on) => {
                shell.options.apply(switch, on);
            }
            None => {
                let on = (switch.get)(&shell.options);
                if !on {
                    status = 1;
                }
                if !quiet {
                    shell.print(line(switch.name, on, print));
                }
            }
        }
    }
    Ok(status)
}

fn line(name: &str, on: bool, print: bool) -> String {
    if print {
        format!("shopt -{} {name}\n", if on { 's' } else { 'u' })
    } else {
        format!("{name:<15}\t{}\n", if on { "on" } else { "off" })
    }
}
