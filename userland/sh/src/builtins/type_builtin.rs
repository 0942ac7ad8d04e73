//! `type`.

use crate::builtins::option_letters::Letters;
use crate::ir::Bytes;
use crate::parse::token::is_reserved;
use crate::state::{EvalResult, Shell};

/// The requested output about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// A sentence, as `type` does.
    Long,
    /// A word or a path, as `command -v` does.
    Command,
    /// The kind alone, as `type -t` does.
    Kind,
    /// The path alone, as `type -p` does.
    Path,
}

pub(super) fn type_builtin(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut how, mut all, mut skip_functions, mut only_path) = (How::Long, false, false, false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b't' => how = How::Kind,
            b'p' => how = How::Path,
            b'P' => {
                how = How::Path;
                only_path = true;
            }
            b'a' => all = true,
            b'f' => skip_functions = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    let mut status = 0;
    for name in words {
        let found = if only_path {
            let hashed = shell.hashed_program(name);
            match hashed.or_else(|| shell.search_path(name)) {
                Some(path) => shell.print([&path[..], b"\n"].concat()) == 0,
                None => false,
            }
        } else if all {
            describe_all(shell, name, how, skip_functions)?
        } else if skip_functions {
            let saved = shell.functions.by_name.remove(name.as_slice());
            let found = describe(shell, name, how);
            if let Some(function) = saved {
                shell.functions.by_name.insert(name.as_slice().into(), function);
            }
            found?
        } else {
            describe(shell, name, how)?
        };
        if !found {
            status = 1;
            if how == How::Long {
                shell.report_builtin_error([name, &b": not found"[..]].concat());
            }
        }
    }
    Ok(status)
}

fn line(name: &[u8], how: How, kind: &str, sentence: &str) -> Bytes {
    match how {
        How::Kind => format!("{kind}\n").into_bytes(),
        How::Path => Bytes::new(),
        How::Command => [name, b"\n"].concat(),
        How::Long => [name, sentence.as_bytes(), b"\n"].concat(),
    }
}

/// Prints a name as an alias. Returns whether it is an alias that is expanded.
fn alias(shell: &mut Shell, name: &[u8], how: How) -> bool {
    if !shell.options.expand_aliases {
        return false;
    }
    let Some(value) = shell.aliases.get(name) else { return false };
    let text = match how {
        How::Command => super::alias::definition(name, value),
        _ => line(name, how, "alias", &format!(" is aliased to `{}'", crate::expand::lossy(value))),
    };
    shell.print(text);
    true
}

/// Prints the first meaning of a name. Returns whether it has one.
pub(super) fn describe(shell: &mut Shell, name: &[u8], how: How) -> EvalResult<bool> {
    if alias(shell, name, how) {
        return Ok(true);
    }
    if is_reserved(name) {
        let text = line(name, how, "keyword", " is a shell keyword");
        shell.print(text);
        return Ok(true);
    }
    if shell.functions.by_name.contains_key(name) {
        function(shell, name, how);
        return Ok(true);
    }
    if super::find(name).is_some_and(|builtin| !shell.builtin.disabled.contains(builtin.name)) {
        let text = line(name, how, "builtin", builtin_text(shell, name));
        shell.print(text);
        return Ok(true);
    }
    let hashed = shell.hash.contains_key(name);
    let path = if name.contains(&b'/') {
        tidebox_rt::access(name, 1).is_ok().then(|| name.to_vec())
    } else {
        match shell.hashed_program(name) {
            Some(path) => Some(path),
            None => shell.search_path(name).filter(|path| tidebox_rt::access(path, 1).is_ok()),
        }
    };
    let Some(path) = path else { return Ok(false) };
    file(shell, name, &path, how, hashed);
    Ok(true)
}

fn function(shell: &mut Shell, name: &[u8], how: How) {
    let mut text = line(name, how, "function", " is a function");
    if how == How::Long
        && let Some(function) = shell.functions.by_name.get(name)
    {
        text.extend(crate::print::function(function));
    }
    shell.print(text);
}

fn file(shell: &mut Shell, name: &[u8], path: &[u8], how: How, hashed: bool) {
    let text = match how {
        How::Kind => b"file\n".to_vec(),
        How::Path | How::Command => [path, b"\n"].concat(),
        How::Long if hashed => [name, b" is hashed (", path, b")\n"].concat(),
        How::Long => [name, b" is ", path, b"\n"].concat(),
    };
    shell.print(text);
}

fn describe_all(shell: &mut Shell, name: &[u8], how: How, skip_functions: bool) -> EvalResult<bool> {
    let mut found = alias(shell, name, how);
    if is_reserved(name) {
        let text = line(name, how, "keyword", " is a shell keyword");
        shell.print(text);
        found = true;
    }
    if !skip_functions && shell.functions.by_name.contains_key(name) {
        function(shell, name, how);
        found = true;
    }
    if super::find(name).is_some_and(|builtin| !shell.builtin.disabled.contains(builtin.name)) {
        let text = line(name, how, "builtin", builtin_text(shell, name));
        shell.print(text);
        found = true;
    }
    let dirs = shell.lookup(b"PATH").unwrap_or_default();
    for dir in dirs.split(|&b| b == b':') {
        let path = [dir, b"/", name].concat();
        let is_program = tidebox_rt::stat(&path, true).is_ok_and(|stat| stat.kind() == tidebox_rt::FileKind::File);
        if is_program && tidebox_rt::access(&path, 1).is_ok() {
            file(shell, name, &path, how, false);
            found = true;
        }
    }
    Ok(found)
}

/// The description of a builtin; in posix mode special ones are marked.
fn builtin_text(shell: &Shell, name: &[u8]) -> &'static str {
    if shell.options.posix && super::is_special(name) { " is a special shell builtin" } else { " is a shell builtin" }
}
