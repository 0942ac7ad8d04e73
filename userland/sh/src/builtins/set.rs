//! `set`.

use crate::ir::Bytes;
use crate::options;
use crate::state::{EvalResult, Shell};

pub(super) fn set(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    if args.len() == 1 {
        return Ok(list(shell));
    }
    let words = args.get(1..).unwrap_or_default();
    // Options are checked before any is set, so an invalid one has no effect.
    if let Some(status) = check(shell, words) {
        return Ok(status);
    }
    match take_options(shell, words) {
        Ok(Some(words)) => choose(shell, words),
        Ok(None) => {}
        Err(status) => return Ok(status),
    }
    Ok(0)
}

/// Sets the options. Returns the words that become the positional parameters, if any, or the status of an error.
fn take_options<'a>(shell: &mut Shell, words: &'a [Bytes]) -> Result<Option<&'a [Bytes]>, u8> {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        let (on, letters) = match first.split_first() {
            Some((b'-', letters)) => (true, letters),
            Some((b'+', letters)) => (false, letters),
            _ => break,
        };
        rest = after;
        match letters {
            b"-" => return Ok(Some(rest)),
            // A plus sign alone means nothing.
            b"" if !on => continue,
            b"" => {
                shell.options.xtrace = false;
                shell.options.verbose = false;
                break;
            }
            _ => {}
        }
        for letter in letters {
            match letter {
                b'o' => rest = set_named(shell, rest, on)?,
                _ => set_letter(shell, *letter, on)?,
            }
        }
    }
    Ok(Some(rest).filter(|rest| !rest.is_empty()))
}

/// `-o` with the following name. Returns the words after it.
fn set_named<'a>(shell: &mut Shell, rest: &'a [Bytes], on: bool) -> Result<&'a [Bytes], u8> {
    // Without a name, or before other options, it prints the current options.
    let Some((name, after)) = rest.split_first().filter(|(name, _)| !is_option(name)) else {
        let text = options_text(shell, on);
        shell.print(text);
        return Ok(rest);
    };
    if shell.set_option(name, on) {
        return Ok(after);
    }
    shell.report_builtin_error([name, &b": invalid option name"[..]].concat());
    shell.builtin.usage_error = true;
    Err(2)
}

fn set_letter(shell: &mut Shell, letter: u8, on: bool) -> Result<(), u8> {
    if !options::has_letter(letter) {
        let sign = if on { b'-' } else { b'+' };
        shell.bad_option(&[sign, letter]);
        return Err(1);
    }
    shell.options.set_letter(letter, on);
    Ok(())
}

/// Sets the positional parameters.
fn choose(shell: &mut Shell, words: &[Bytes]) {
    shell.positional = words.to_vec().into();
    shell.positional.chosen = true;
}

fn is_option(word: &[u8]) -> bool {
    matches!(word.first(), Some(b'-' | b'+'))
}

/// Reports the first invalid option. Returns its status.
fn check(shell: &mut Shell, words: &[Bytes]) -> Option<u8> {
    for word in words {
        let (sign, letters) =
            word.split_first().filter(|(sign, letters)| b"-+".contains(sign) && !letters.is_empty())?;
        if letters == b"-" {
            return None;
        }
        let may = |letter| letter == b'o' || options::has_letter(letter);
        // Letters after `o` are checked only when they are set.
        let before = letters.split(|letter| *letter == b'o').next().unwrap_or_default();
        let wrong = before.iter().find(|letter| !may(**letter));
        if let Some(letter) = wrong {
            return Some(shell.bad_option(&[*sign, *letter]));
        }
        if letters.contains(&b'o') {
            return None;
        }
    }
    None
}

/// The output of `set -o` and `set +o`.
pub(crate) fn options_text(shell: &Shell, table: bool) -> String {
    let mut text = String::new();
    for switch in options::SET {
        let is_on = (switch.get)(&shell.options);
        text.push_str(&option_line(switch.name, is_on, !table));
    }
    text
}

/// One option as `set -o` prints it, or as the command that sets it.
pub(super) fn option_line(name: &str, is_on: bool, command: bool) -> String {
    match command {
        true => format!("set {}o {name}\n", if is_on { '-' } else { '+' }),
        false => format!("{name:<15}\t{}\n", if is_on { "on" } else { "off" }),
    }
}

/// All variables and functions, as `set` alone prints them.
fn list(shell: &mut Shell) -> u8 {
    let mut text = super::declare::assignments(shell);
    if !shell.options.posix {
        text.extend(super::declare::functions_text(shell));
    }
    shell.print(text)
}
