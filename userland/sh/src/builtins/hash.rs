//! `hash`.

use crate::builtins::option_letters::Letters;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};
use crate::vars::Value;

#[derive(Debug, Default)]
struct HashOptions {
    reset: bool,
    show: bool,
    path: Option<Bytes>,
}

pub(super) fn hash(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    if !shell.options.hashall {
        shell.report_builtin_error("hashing disabled");
        return Ok(1);
    }
    let mut requested = HashOptions::default();
    let words = match options(shell, args, &mut requested) {
        Ok(words) => words,
        Err(status) => return Ok(status),
    };
    if requested.show && words.is_empty() {
        shell.needs_argument(b't');
        return Ok(1);
    }
    if words.is_empty() && !requested.reset {
        return Ok(list(shell));
    }
    if requested.reset {
        shell.forget_programs();
    }
    let mut status = 0;
    for name in words {
        if !one(shell, name, &requested, words.len() > 1) {
            status = 1;
        }
    }
    Ok(status)
}

fn options<'a>(shell: &mut Shell, args: &'a [Bytes], requested: &mut HashOptions) -> Result<&'a [Bytes], u8> {
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'r' => requested.reset = true,
            b'd' | b'l' => {
                shell.report_builtin_error(format!("-{}: option not supported", char::from(letter)));
                return Err(1);
            }
            b't' => requested.show = true,
            b'p' => match letters.argument() {
                Some(path) => requested.path = Some(path.to_vec()),
                None => return Err(letters.missing_argument(shell)),
            },
            _ => return Err(letters.invalid_option(shell)),
        }
    }
    Ok(letters.words())
}

/// Prints or adds one name. Returns whether it succeeded.
fn one(shell: &mut Shell, name: &[u8], requested: &HashOptions, several: bool) -> bool {
    let known = if let Some(path) = &requested.path {
        if tidebox_rt::stat(path, true).is_ok_and(|stat| stat.kind() == tidebox_rt::FileKind::Dir) {
            shell.report_builtin_error([&path[..], b": Is a directory"].concat());
            return false;
        }
        shell.remember_program(name, path.clone(), 0);
        return true;
    } else if requested.show {
        match shell.hashed_program(name) {
            Some(path) => {
                let line = if several { [name, b"\t", &path, b"\n"].concat() } else { [&path[..], b"\n"].concat() };
                shell.print(line);
                true
            }
            None => false,
        }
    } else if name.contains(&b'/') || super::find(name).is_some() || shell.functions.by_name.contains_key(name) {
        return true;
    } else {
        shell.forget_program(name);
        match shell.search_path(name).filter(|path| tidebox_rt::access(path, 1).is_ok()) {
            Some(path) => {
                shell.remember_program(name, path, 0);
                true
            }
            None => false,
        }
    };
    if !known {
        shell.report_builtin_error([name, b": not found"].concat());
    }
    known
}

/// The table in the order of bash's.
fn list(shell: &mut Shell) -> u8 {
    if shell.hash.is_empty() {
        return shell.print("hash: hash table empty\n");
    }
    let mut entries: Vec<_> = shell.hash.iter().collect();
    entries.sort_by_key(|(name, _)| (crate::vars::bash_hash(name) & 255, (*name).clone()));
    let mut text = b"hits\tcommand\n".to_vec();
    for (_, (path, hits)) in entries {
        text.extend_from_slice(format!("{hits:4}\t").as_bytes());
        text.extend([&path[..], b"\n"].concat());
    }
    shell.print(text)
}

impl Shell {
    /// The path of a program in the hash table. Counts as a use.
    pub(crate) fn hashed_program(&mut self, name: &[u8]) -> Option<Bytes> {
        let (path, hits) = self.hash.get_mut(name)?;
        *hits = hits.saturating_add(1);
        Some(path.clone())
    }

    /// Remembers where a program is, also in `BASH_CMDS`.
    pub(crate) fn remember_program(&mut self, name: &[u8], path: Bytes, hits: u32) {
        if let Some(Value::Assoc(map)) = self.vars.get_mut(b"BASH_CMDS").map(|var| &mut var.value) {
            map.insert(name.to_vec(), path.clone());
        }
        self.hash.insert(name.to_vec(), (path, hits));
    }

    /// Removes a program from the hash table. Returns whether it was known.
    pub(crate) fn forget_program(&mut self, name: &[u8]) -> bool {
        if let Some(Value::Assoc(map)) = self.vars.get_mut(b"BASH_CMDS").map(|var| &mut var.value) {
            map.remove(name);
        }
        self.hash.remove(name).is_some()
    }

    pub(crate) fn forget_programs(&mut self) {
        if !self.hash.is_empty() {
            if let Some(Value::Assoc(map)) = self.vars.get_mut(b"BASH_CMDS").map(|var| &mut var.value) {
                map.clear();
            }
            self.hash.clear();
        }
    }

    /// Applies changes that a script made to `BASH_CMDS`.
    pub(crate) fn apply_hash_changes(&mut self) {
        let Some(Value::Assoc(map)) = self.vars.get(b"BASH_CMDS").map(|var| &var.value) else { return };
        self.hash = map.entries().into_iter().map(|(name, path)| (name.clone(), (path.clone(), 0))).collect();
    }
}
