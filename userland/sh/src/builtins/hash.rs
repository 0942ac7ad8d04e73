//! `hash`.

use crate::builtins::option_letters::Letters;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

pub(super) fn hash(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    if !shell.options.hashall {
        shell.report_builtin_error("hashing disabled");
        return Ok(1);
    }
    let mut reset = false;
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'r' => reset = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if reset {
        shell.forget_programs();
    } else if words.is_empty() {
        return Ok(list(shell));
    }
    let mut status = 0;
    for name in words {
        if !find(shell, name) {
            shell.report_builtin_error([name, &b": not found"[..]].concat());
            status = 1;
        }
    }
    Ok(status)
}

/// Searches a command and remembers where it is. Returns whether it exists.
fn find(shell: &mut Shell, name: &[u8]) -> bool {
    if name.contains(&b'/') || super::find(name).is_some() || shell.functions.by_name.contains_key(name) {
        return true;
    }
    shell.forget_program(name);
    match shell.search_path(name).filter(|path| tidebox_rt::access(path, 1).is_ok()) {
        Some(path) => {
            shell.remember_program(name, path, 0);
            true
        }
        None => false,
    }
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
        text.extend([format!("{hits:4}\t").as_bytes(), path, b"\n"].concat());
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

    /// Remembers where a program is.
    pub(crate) fn remember_program(&mut self, name: &[u8], path: Bytes, hits: u32) {
        self.hash.insert(name.to_vec(), (path, hits));
    }

    /// Removes a program from the hash table.
    pub(crate) fn forget_program(&mut self, name: &[u8]) {
        self.hash.remove(name);
    }

    pub(crate) fn forget_programs(&mut self) {
        self.hash.clear();
    }
}
