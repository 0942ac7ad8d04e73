//! `alias` and `unalias`.

use std::rc::Rc;

use crate::builtins::option_letters::Letters;
use crate::expand::single_quote;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};
use crate::vars::Value;

/// A definition in the reusable format of `alias -p`.
pub(super) fn definition(name: &[u8], value: &[u8]) -> Bytes {
    [b"alias ", name, b"=", &single_quote(value), b"\n"].concat()
}

pub(super) fn alias(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut print = args.len() == 1;
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'p' => print = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    let mut status = 0;
    if print {
        let mut all: Vec<_> = shell.aliases.iter().collect();
        all.sort();
        // In posix mode aliases are printed without the command name, unless `-p` is given.
        let bare = shell.options.posix && words.len() + 1 == args.len();
        let line = |name: &Bytes, value: &Bytes| match bare {
            true => definition(name, value).split_off(b"alias ".len()),
            false => definition(name, value),
        };
        let text = all.into_iter().map(|(name, value)| line(name, value)).collect::<Vec<_>>().concat();
        status |= shell.print(text);
    }
    for word in words {
        // A definition needs a name: `=x` looks up an alias of that name.
        match word.iter().skip(1).position(|&b| b == b'=') {
            Some(at) => {
                let (name, value) = word.split_at(at + 1);
                status |= define(shell, name, value.get(1..).unwrap_or_default());
            }
            None => match shell.aliases.get(word) {
                Some(value) => {
                    let mut line = definition(word, value);
                    if shell.options.posix {
                        line.drain(..b"alias ".len());
                    }
                    status |= shell.print(line);
                }
                None => {
                    shell.report_builtin_error([word, &b": not found"[..]].concat());
                    status = 1;
                }
            },
        }
    }
    Ok(status)
}

fn define(shell: &mut Shell, name: &[u8], value: &[u8]) -> u8 {
    let bad = |b: &u8| b" \t\n;&|<>()'\"\\$`/=".contains(b);
    if name.iter().any(bad) {
        shell.report_builtin_error([b"`", name, b"': invalid alias name"].concat());
        return 1;
    }
    shell.set_alias(name, value.to_vec());
    0
}

impl Shell {
    /// Defines an alias, also in `BASH_ALIASES`.
    pub(crate) fn set_alias(&mut self, name: &[u8], value: Bytes) {
        if let Some(Value::Assoc(map)) = self.vars.get_mut(b"BASH_ALIASES").map(|var| &mut var.value) {
            map.insert(name.to_vec(), value.clone());
        }
        Rc::make_mut(&mut self.aliases).insert(name.to_vec(), value);
    }

    /// Applies changes that a script made to `BASH_ALIASES`.
    pub(crate) fn apply_alias_changes(&mut self) {
        let aliases = match self.vars.get(b"BASH_ALIASES").map(|var| &var.value) {
            Some(Value::Assoc(map)) => {
                map.entries().into_iter().map(|(name, text)| (name.clone(), text.clone())).collect()
            }
            _ => crate::vars::Map::default(),
        };
        self.aliases = Rc::new(aliases);
    }

    fn remove_alias(&mut self, name: &[u8]) -> bool {
        if let Some(Value::Assoc(map)) = self.vars.get_mut(b"BASH_ALIASES").map(|var| &mut var.value) {
            map.remove(name);
        }
        Rc::make_mut(&mut self.aliases).remove(name).is_some()
    }

    pub(crate) fn clear_aliases(&mut self) {
        if let Some(Value::Assoc(map)) = self.vars.get_mut(b"BASH_ALIASES").map(|var| &mut var.value) {
            map.clear();
        }
        self.aliases = Rc::default();
    }
}

pub(super) fn unalias(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut all = false;
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'a' => all = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    if all {
        shell.clear_aliases();
        return Ok(0);
    }
    let words = letters.words();
    if words.is_empty() {
        return Ok(shell.print_usage());
    }
    let mut status = 0;
    for word in words {
        if !shell.remove_alias(word) {
            shell.report_builtin_error([word, &b": not found"[..]].concat());
            status = 1;
        }
    }
    Ok(status)
}
