//! The arguments of the shell itself.

use super::Source;
use crate::ir::Bytes;
use crate::options::{SET, SHOPT, switch};
use crate::state::Shell;

/// Arguments of the shell besides the options of `set`.
#[derive(Debug, Default)]
pub(super) struct Start {
    pub(super) login: bool,
    /// `--norc`
    pub(super) skip_rc: bool,
    pub(super) skip_profile: bool,
    pub(super) rc_file: Option<Bytes>,
    /// `-c`, `-s`
    string: bool,
    stdin: bool,
}

/// Options of more than one letter, and whether a word belongs to them.
const LONG: &[(&str, bool)] = &[
    ("debug", false),
    ("debugger", false),
    ("dump-po-strings", false),
    ("dump-strings", false),
    ("help", false),
    ("init-file", true),
    ("login", false),
    ("noediting", false),
    ("noprofile", false),
    ("norc", false),
    ("posix", false),
    ("pretty-print", false),
    ("rcfile", true),
    ("verbose", false),
    ("version", false),
];

/// Reads the arguments; an error is the exit code.
pub(super) fn read(shell: &mut Shell, args: &[Bytes], start: &mut Start) -> Result<Source, u8> {
    let mut rest = args;
    long_options(shell, &mut rest, start)?;
    while let Some((first, after)) = rest.split_first() {
        let (on, letters) = match first.split_first() {
            Some((b'-', letters)) => (true, letters),
            Some((b'+', letters)) => (false, letters),
            _ => break,
        };
        rest = after;
        if matches!(first.as_slice(), b"--" | b"-") {
            break;
        }
        for letter in letters {
            match letter {
                b'c' => start.string = true,
                b's' => start.stdin = true,
                b'l' => start.login = true,
                b'i' => shell.options.interactive = on,
                b'o' | b'O' => named(shell, *letter == b'o', on, &mut rest)?,
                _ if crate::options::has_letter(*letter) => drop(shell.options.set_letter(*letter, on)),
                _ => {
                    let option = [if on { b'-' } else { b'+' }, *letter];
                    report_invalid(shell, &option, ": invalid option");
                    usage(shell, 2);
                    return Err(2);
                }
            }
        }
    }
    source(shell, rest, start)
}

fn long_options(shell: &mut Shell, rest: &mut &[Bytes], start: &mut Start) -> Result<(), u8> {
    while let Some((first, after)) = rest.split_first() {
        let long = first.strip_prefix(b"--").or_else(|| first.strip_prefix(b"-")).unwrap_or_default();
        let Some((name, takes_word)) = LONG.iter().find(|(name, _)| name.as_bytes() == long) else {
            if first.len() > 2 && first.starts_with(b"--") {
                report_invalid(shell, first, ": invalid option");
                usage(shell, 2);
                return Err(2);
            }
            return Ok(());
        };
        *rest = after;
        let mut word = None;
        if *takes_word {
            let Some((value, after)) = rest.split_first() else {
                report_invalid(shell, name.as_bytes(), ": option requires an argument");
                return Err(2);
            };
            word = Some(value.clone());
            *rest = after;
        }
        match *name {
            "login" => start.login = true,
            "norc" => start.skip_rc = true,
            "noprofile" => start.skip_profile = true,
            "rcfile" | "init-file" => start.rc_file = word,
            "posix" => drop(shell.options.set_named(b"posix", true)),
            "verbose" => shell.options.verbose = true,
            "help" => {
                usage(shell, 1);
                return Err(0);
            }
            "version" => return Err(version(shell)),
            "debugger" | "dump-po-strings" | "dump-strings" | "pretty-print" => {
                report_invalid(shell, first, ": this shell has no such mode");
                return Err(2);
            }
            _ => {}
        }
    }
    Ok(())
}

/// `-o name` and `-O name`; without a name the state of all of them is shown.
fn named(shell: &mut Shell, set: bool, on: bool, rest: &mut &[Bytes]) -> Result<(), u8> {
    let table = if set { SET } else { SHOPT };
    let Some((name, after)) = rest.split_first() else {
        let text =
            if set { crate::builtins::options_text(shell, on) } else { crate::builtins::shopt_text(shell, None, !on) };
        shell.print(text);
        return Err(0);
    };
    *rest = after;
    match switch(table, name) {
        Some(switch) => {
            shell.options.apply(switch, on);
            Ok(())
        }
        None if set => {
            let name = [b"line 0: ", &shell.invocation.name[..], b": ", name].concat();
            report_invalid(shell, &name, ": invalid option name");
            Err(2)
        }
        None => {
            report_invalid(shell, name, ": invalid shell option name");
            Err(2)
        }
    }
}

fn source(shell: &mut Shell, rest: &[Bytes], start: &Start) -> Result<Source, u8> {
    if start.string {
        let Some((text, words)) = rest.split_first() else {
            report_invalid(shell, b"-c", ": option requires an argument");
            return Err(2);
        };
        if let Some((name, words)) = words.split_first() {
            shell.invocation.name = name.clone();
            shell.positional = words.to_vec().into();
        }
        return Ok(Source::Text(text.clone()));
    }
    match rest.split_first() {
        Some((path, words)) if !start.stdin => {
            shell.positional = words.to_vec().into();
            Ok(Source::File(path.clone()))
        }
        _ => {
            shell.positional = rest.to_vec().into();
            Ok(Source::Stdin)
        }
    }
}

fn report_invalid(shell: &mut Shell, what: &[u8], why: &str) {
    let line = [&shell.invocation.name[..], b": ", what, why.as_bytes(), b"\n"].concat();
    // A closed standard error is ignored.
    let _ = shell.io.write(2, &line);
}

fn version(shell: &mut Shell) -> u8 {
    let (version, machine) = (crate::expand::BASH_VERSION, crate::expand::MACHINE);
    let text = format!(
        "GNU bash, version {version} ({machine})\nThis is the shell of Tidebox, which does what that version does.\n\
         License: MIT or Apache-2.0\n"
    );
    shell.print(text)
}

fn usage(shell: &mut Shell, number: u32) {
    let name = crate::expand::lossy(&shell.invocation.name).into_owned();
    let mut text = String::new();
    if number == 1 {
        let (version, machine) = (crate::expand::BASH_VERSION, crate::expand::MACHINE);
        text.push_str(&format!("GNU bash, version {version}-({machine})\n"));
    }
    text.push_str(&format!("Usage:\t{name} [GNU long option] [option] ...\n"));
    text.push_str(&format!("\t{name} [GNU long option] [option] script-file ...\nGNU long options:\n"));
    LONG.iter().for_each(|(name, _)| text.push_str(&format!("\t--{name}\n")));
    text.push_str("Shell options:\n\t-ilrsD or -c command or -O shopt_option\t\t(invocation only)\n");
    text.push_str("\t-abefhkmnptuvxBCEHPT or -o option\n");
    if number == 1 {
        text.push_str(&format!("Type `{name} -c \"help set\"' for more information about shell options.\n"));
        text.push_str(&format!("Type `{name} -c help' for more information about shell builtin commands.\n"));
    }
    // A closed stream is ignored.
    let _ = shell.io.write(number, text.as_bytes());
}
