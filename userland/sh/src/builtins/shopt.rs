//! `shopt`.

use super::set::option_line;
use crate::builtins::option_letters::Letters;
use crate::ir::Bytes;
use crate::options::{SET, SHOPT, Switch, switch};
use crate::state::{EvalResult, Shell};

#[derive(Debug, Default)]
struct ShoptOptions {
    on: bool,
    off: bool,
    quiet: bool,
    print: bool,
    set: bool,
}

pub(super) fn shopt(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut requested = ShoptOptions::default();
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b's' => requested.on = true,
            b'u' => requested.off = true,
            b'q' => requested.quiet = true,
            b'p' => requested.print = true,
            b'o' => requested.set = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if requested.on && requested.off {
        shell.report_builtin_error("cannot set and unset shell options simultaneously");
        return Ok(1);
    }
    let table = if requested.set { SET } else { SHOPT };
    if words.is_empty() {
        let change = (requested.on || requested.off).then_some(requested.on);
        let text = if requested.set {
            let chosen = table.iter().map(|switch| (switch.name, (switch.get)(&shell.options)));
            let chosen = chosen.filter(|(_, on)| change.is_none_or(|requested| requested == *on));
            chosen.map(|(name, on)| option_line(name, on, requested.print)).collect()
        } else {
            shopt_text(shell, change, requested.print)
        };
        return Ok(if requested.quiet { 0 } else { shell.print(text) });
    }
    let mut status = 0;
    for name in words {
        match switch(table, name) {
            Some(switch) => status |= one(shell, switch, &requested),
            None => {
                let why = if requested.set { ": invalid option name" } else { ": invalid shell option name" };
                shell.report_builtin_error([name, why.as_bytes()].concat());
                // An error while setting options of `set` does not affect the status.
                if !(requested.set && (requested.on || requested.off)) {
                    status = 1;
                }
            }
        }
    }
    Ok(status)
}

/// Sets or prints one option.
fn one(shell: &mut Shell, switch: &'static Switch, requested: &ShoptOptions) -> u8 {
    if requested.on || requested.off {
        // It describes the shell and cannot be changed.
        if switch.name == "login_shell" {
            return 1;
        }
        if switch.name == "restricted_shell" {
            return 0;
        }
        if requested.set {
            if !shell.set_option(switch.name.as_bytes(), requested.on) {
                shell.report_builtin_error(format!("{}: option not supported", switch.name));
                return 1;
            }
        } else {
            shell.options.apply(switch, requested.on);
            if shell.options.extdebug {
                shell.store_start_args();
            }
        }
        return 0;
    }
    let on = (switch.get)(&shell.options);
    if !requested.quiet {
        let line = if requested.set {
            option_line(switch.name, on, requested.print)
        } else {
            line(switch.name, on, requested.print)
        };
        shell.print(line);
    }
    u8::from(!on)
}

/// The output of `shopt` for all options, or for those with the state `change`.
pub(crate) fn shopt_text(shell: &Shell, change: Option<bool>, print: bool) -> String {
    let states = SHOPT.iter().map(|switch| (switch.name, (switch.get)(&shell.options)));
    let chosen = states.filter(|(_, on)| change.is_none_or(|requested| requested == *on));
    chosen.map(|(name, on)| line(name, on, print)).collect()
}

fn line(name: &str, on: bool, print: bool) -> String {
    if print {
        format!("shopt -{} {name}\n", if on { 's' } else { 'u' })
    } else {
        format!("{name:<15}\t{}\n", if on { "on" } else { "off" })
    }
}
