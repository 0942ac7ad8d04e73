//! `hash`.

use crate::builtins::letters::Letters;
use crate::ir::Bytes;
use crate::state::{Run, Shell};
use crate::vars::Value;

const USAGE: &str = "hash [-lr] [-p pathname] [-dt] [name ...]";

#[derive(Debug, Default)]
struct Wanted {
    reset: bool,
    delete: bool,
    show: bool,
    reusable: bool,
    path: Option<Bytes>,
}

pub(super) fn hash(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    if !shell.options.hashall {
        shell.complain_builtin("hashing disabled");
        return Ok(1);
    }
    let mut wanted = Wanted::default();
    let words = match options(shell, args, &mut wanted) {
        Ok(words) => words,
        Err(status) => return Ok(status),
    };
    if (wanted.delete || wanted.show) && words.is_empty() {
        shell.needs_argument(if wanted.delete { b'd' } else { b't' });
        return Ok(1);
    }
    if words.is_empty() && !wanted.reset {
        return Ok(list(shell, wanted.reusable));
    }
    if wanted.reset {
        shell.forget_programs();
    }
    let mut status = 0;
    for name in words {
        if !one(shell, name, &wanted, words.len() > 1) {
            status = 1;
        }
    }
    Ok(status)
}

fn options<'a>(shell: &mut Shell, args: &'a [Bytes], wanted: &mut Wanted) -> Result<&'a [Bytes], u8> {
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'r' => wanted.reset = true,
            b'd' => wanted.delete = true,
            b't' => wanted.show = true,
            b'l' => wanted.reusable = true,
            b'p' => match letters.argument() {
                Some(path) => wanted.path = Some(path.to_vec()),
                None => return Err(letters.wants_argument(shell, USAGE)),
            },
            _ => return Err(letters.refuse(shell, USAGE)),
        }
    }
    Ok(letters.words())
}

/// Shows, forgets or remembers one name; says whether that was possible.
fn one(shell: &mut Shell, name: &[u8], wanted: &Wanted, several: bool) -> bool {
    let known = if let Some(path) = &wanted.path {
        if shell.refuses_path(path) {
            return false;
        }
        if shell.options.restricted && shell.search_path(path).is_none() {
            shell.complain_builtin([&path[..], b": not found"].concat());
            return false;
        }
        if tidebox_rt::stat(path, true).is_ok_and(|stat| stat.kind() == tidebox_rt::FileKind::Dir) {
            shell.complain_builtin([&path[..], b": Is a directory"].concat());
            return false;
        }
        shell.remember_program(name, path.clone(), 0);
        return true;
    } else if wanted.show {
        match shell.hashed_program(name) {
            Some(path) if wanted.reusable => {
                shell.print([b"builtin hash -p ", &path[..], b" ", name, b"\n"].concat());
                true
            }
            Some(path) => {
                let line = if several { [name, b"\t", &path, b"\n"].concat() } else { [&path[..], b"\n"].concat() };
                shell.print(line);
                true
            }
            None => false,
        }
    } else if wanted.delete {
        // A table that never held anything has nothing to miss.
        shell.hash.capacity() == 0 || shell.forget_program(name)
    } else if name.contains(&b'/') || super::find(name).is_some() || shell.functions.contains_key(name) {
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
        shell.complain_builtin([name, b": not found"].concat());
    }
    known
}

/// The table in the order of bash's.
fn list(shell: &mut Shell, reusable: bool) -> u8 {
    if shell.hash.is_empty() {
        return if reusable { 0 } else { shell.print("hash: hash table empty\n") };
    }
    let mut entries: Vec<_> = shell.hash.iter().collect();
    entries.sort_by_key(|(name, _)| (crate::vars::bash_hash(name) & 255, (*name).clone()));
    let mut text = if reusable { Bytes::new() } else { b"hits\tcommand\n".to_vec() };
    for (name, (path, hits)) in entries {
        if reusable {
            text.extend([b"builtin hash -p ", &path[..], b" ", name, b"\n"].concat());
        } else {
            text.extend_from_slice(format!("{hits:4}\t").as_bytes());
            text.extend([&path[..], b"\n"].concat());
        }
    }
    shell.print(text)
}

impl Shell {
    /// Where the hash table has a program, which counts as a use of it.
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

    /// Forgets where a program is; says whether that was known.
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

    /// Takes over what a script made of `BASH_CMDS`.
    pub(crate) fn take_commands(&mut self) {
        self.keep_commands_found();
        let Some(Value::Assoc(map)) = self.vars.get(b"BASH_CMDS").map(|var| &var.value) else { return };
        self.hash = map.entries().into_iter().map(|(name, path)| (name.clone(), (path.clone(), 0))).collect();
    }
}
