//! `alias` and `unalias`.

use std::rc::Rc;

use crate::builtins::option_letters::Letters;
use crate::expand::single_quote;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

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
        let text = all.into_iter().map(|(name, value)| definition(name, value)).collect::<Vec<_>>().concat();
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
                Some(value) => status |= shell.print(definition(word, value)),
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
    pub(crate) fn set_alias(&mut self, name: &[u8], value: Bytes) {
        Rc::make_mut(&mut self.aliases).insert(name.to_vec(), value);
    }

    fn remove_alias(&mut self, name: &[u8]) -> bool {
        Rc::make_mut(&mut self.aliases).remove(name).is_some()
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
        shell.aliases = Rc::default();
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
