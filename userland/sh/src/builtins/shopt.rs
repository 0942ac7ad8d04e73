//! `shopt`.

use super::set::option_line;
use crate::builtins::letters::Letters;
use crate::ir::Bytes;
use crate::options::{SET, SHOPT, Switch, switch};
use crate::state::{Run, Shell};

#[derive(Debug, Default)]
struct Wanted {
    on: bool,
    off: bool,
    quiet: bool,
    print: bool,
    set: bool,
}

pub(super) fn shopt(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut wanted = Wanted::default();
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b's' => wanted.on = true,
            b'u' => wanted.off = true,
            b'q' => wanted.quiet = true,
            b'p' => wanted.print = true,
            b'o' => wanted.set = true,
            _ => return Ok(letters.refuse(shell, "shopt [-pqsu] [-o] [optname ...]")),
        }
    }
    let words = letters.words();
    if wanted.on && wanted.off {
        shell.complain_builtin("cannot set and unset shell options simultaneously");
        return Ok(1);
    }
    let table = if wanted.set { SET } else { SHOPT };
    if words.is_empty() {
        let change = (wanted.on || wanted.off).then_some(wanted.on);
        let text = if wanted.set {
            let chosen = table.iter().map(|switch| (switch.name, (switch.get)(&shell.options)));
            let chosen = chosen.filter(|(_, on)| change.is_none_or(|wanted| wanted == *on));
            chosen.map(|(name, on)| option_line(name, on, wanted.print)).collect()
        } else {
            shopt_text(shell, change, wanted.print)
        };
        return Ok(if wanted.quiet { 0 } else { shell.print(text) });
    }
    let mut status = 0;
    for name in words {
        match switch(table, name) {
            Some(switch) => status |= one(shell, switch, &wanted),
            None => {
                let why = if wanted.set { ": invalid option name" } else { ": invalid shell option name" };
                shell.complain_builtin([name, why.as_bytes()].concat());
                // Setting options of `set` does not hear of its own failure.
                if !(wanted.set && (wanted.on || wanted.off)) {
                    status = 1;
                }
            }
        }
    }
    Ok(status)
}

/// Sets one option or tells of it.
fn one(shell: &mut Shell, switch: &'static Switch, wanted: &Wanted) -> u8 {
    if wanted.on || wanted.off {
        // What kind of shell this is cannot be switched.
        if switch.name == "login_shell" {
            return 1;
        }
        if switch.name == "restricted_shell" {
            // Trying makes it what it is.
            shell.options.restricted_shell |= shell.options.restricted;
            return 0;
        }
        if wanted.set {
            shell.set_option(switch.name.as_bytes(), wanted.on);
        } else {
            shell.options.apply(switch, wanted.on);
            if shell.options.extdebug {
                shell.note_start_args();
            }
        }
        return 0;
    }
    let on = (switch.get)(&shell.options);
    if !wanted.quiet {
        let line =
            if wanted.set { option_line(switch.name, on, wanted.print) } else { line(switch.name, on, wanted.print) };
        shell.print(line);
    }
    u8::from(!on)
}

/// What `shopt` prints of all options, or of those that are as `change` says.
pub(crate) fn shopt_text(shell: &Shell, change: Option<bool>, print: bool) -> String {
    let states = SHOPT.iter().map(|switch| (switch.name, (switch.get)(&shell.options)));
    let chosen = states.filter(|(_, on)| change.is_none_or(|wanted| wanted == *on));
    chosen.map(|(name, on)| line(name, on, print)).collect()
}

fn line(name: &str, on: bool, print: bool) -> String {
    if print {
        format!("shopt -{} {name}\n", if on { 's' } else { 'u' })
    } else {
        format!("{name:<15}\t{}\n", if on { "on" } else { "off" })
    }
}
