//! The options that `complete` and `compgen` share.

use super::spec::{ACTIONS, Spec, option};
use super::{DEFAULT, EMPTY, INITIAL};
use crate::builtins::letters::Letters;
use crate::expand::lossy;
use crate::ir::Bytes;
use crate::state::Shell;

/// What the arguments ask for.
#[derive(Debug)]
pub(super) struct Parsed<'a> {
    pub(super) spec: Spec,
    pub(super) words: &'a [Bytes],
    /// Anything of the specification was given.
    pub(super) given: bool,
    pub(super) print: bool,
    pub(super) remove: bool,
    /// What `-D`, `-E`, `-I` stand for.
    pub(super) kinds: Vec<Bytes>,
}

/// Reads the options; an error is the status. `names` says that they are those of `complete`.
pub(super) fn parse<'a>(shell: &mut Shell, args: &'a [Bytes], usage: &str, names: bool) -> Result<Parsed<'a>, u8> {
    let mut letters = Letters::of(args);
    let mut parsed =
        Parsed { spec: Spec::default(), words: &[], given: false, print: false, remove: false, kinds: Vec::new() };
    while let Some(letter) = letters.next() {
        if names && flag(&mut parsed, letter) {
            continue;
        }
        if let Some((_, action)) = ACTIONS.iter().find(|(known, _)| *known == Some(letter)) {
            parsed.spec.actions.insert(action);
            parsed.given = true;
            continue;
        }
        if !b"oAGWFCXPS".contains(&letter) {
            return Err(letters.refuse(shell, usage));
        }
        let Some(value) = letters.argument() else { return Err(letters.wants_argument(shell, usage)) };
        set(shell, &mut parsed.spec, letter, value.to_vec())?;
        parsed.given = true;
    }
    parsed.words = letters.words();
    Ok(parsed)
}

/// Options that only `complete` has.
fn flag(parsed: &mut Parsed<'_>, letter: u8) -> bool {
    match letter {
        b'p' => parsed.print = true,
        b'r' => parsed.remove = true,
        b'D' => parsed.kinds = vec![DEFAULT.to_vec()],
        b'E' if parsed.kinds.is_empty() => parsed.kinds = vec![EMPTY.to_vec()],
        b'I' if parsed.kinds.is_empty() => parsed.kinds = vec![INITIAL.to_vec()],
        b'E' | b'I' => {}
        _ => return false,
    }
    true
}

fn set(shell: &mut Shell, spec: &mut Spec, letter: u8, value: Bytes) -> Result<(), u8> {
    match letter {
        b'o' => match option(&value) {
            Some(option) => drop(spec.options.insert(option)),
            None => {
                shell.complain_builtin([&value[..], b": invalid option name"].concat());
                return Err(2);
            }
        },
        b'A' => match ACTIONS.iter().find(|(_, action)| action.as_bytes() == value) {
            Some((_, action)) => drop(spec.actions.insert(action)),
            None => {
                shell.complain_builtin([&value[..], b": invalid action name"].concat());
                return Err(2);
            }
        },
        b'F' if value.iter().any(|b| b" \t\n;&|<>()$`\\\"'*?[]#~=%!{}".contains(b)) => {
            shell.complain_builtin(format!("`{}': not a valid identifier", lossy(&value)));
            return Err(2);
        }
        b'F' => spec.function = Some(value),
        b'G' => spec.glob = Some(value),
        b'W' => spec.words = Some(value),
        b'C' => spec.command = Some(value),
        b'X' => spec.filter = Some(value),
        b'P' => spec.prefix = Some(value),
        _ => spec.suffix = Some(value),
    }
    Ok(())
}
