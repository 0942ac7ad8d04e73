//! `cd` and `pwd`.

use tidebox_rt as rt;

use crate::builtins::letters::Letters;
use crate::ir::{Bytes, Name};
use crate::state::{Run, Shell};
use crate::vars::Key;

pub(super) fn pwd(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut physical = shell.options.physical;
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'P' => physical = true,
            b'L' => physical = false,
            _ => return Ok(letters.refuse(shell, "pwd [-LP]")),
        }
    }
    let mut path = match rt::getcwd() {
        Ok(path) if physical => path,
        Err(errno) if physical => {
            let why = "error retrieving current directory: getcwd: cannot access parent directories";
            let line = format!("pwd: {why}: {errno}\n");
            // Where standard error is closed there is nobody to tell.
            let _ = shell.io.write(2, line.as_bytes());
            return Ok(1);
        }
        _ => shell.cwd.clone(),
    };
    path.push(b'\n');
    Ok(shell.print(path))
}

pub(super) fn cd(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    if shell.refuses() {
        return Ok(1);
    }
    let mut physical = shell.options.physical;
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'P' => physical = true,
            b'L' => physical = false,
            b'e' => {}
            _ => return Ok(letters.refuse(shell, "cd [-L|[-P [-e]] [-@]] [dir]")),
        }
    }
    let words = letters.words();
    if words.len() > 1 {
        shell.complain_builtin("too many arguments");
        return Ok(1);
    }
    let (target, mut show) = match words.first().map(Vec::as_slice) {
        None => match shell.lookup(b"HOME") {
            Some(home) => (home, false),
            None => {
                shell.complain_builtin("HOME not set");
                return Ok(1);
            }
        },
        Some(b"-") => match shell.lookup(b"OLDPWD") {
            Some(old) => (old, true),
            None => {
                shell.complain_builtin("OLDPWD not set");
                return Ok(1);
            }
        },
        Some(path) => (path.to_vec(), false),
    };
    if target.is_empty() {
        if physical {
            shell.complain_builtin(": No such file or directory");
        }
        return Ok(u8::from(physical));
    }
    let mut path = target.clone();
    if let Some(found) = shell.search_cdpath(&target) {
        show |= found.1;
        path = found.0;
    }
    let mut shown = path.clone();
    let mut changed = shell.change_dir(&path, physical);
    if changed.is_err()
        && shell.options.cdable_vars
        && crate::parse::token::name_len(&target) == target.len()
        && let Some(value) = shell.lookup(&target)
    {
        // The word names a variable that holds the directory.
        changed = shell.change_dir(&value, physical);
        shown = value;
        show |= changed.is_ok();
    }
    let kept = match changed {
        Ok(kept) => kept,
        Err(errno) => {
            shell.complain_builtin(
                [&crate::expand::message_quote(&target)[..], b": ", errno.text().as_bytes()].concat(),
            );
            return Ok(1);
        }
    };
    if show {
        let mut line = if physical { shown } else { shell.cwd.clone() };
        line.push(b'\n');
        return Ok(shell.print(line) | u8::from(!kept));
    }
    Ok(u8::from(!kept))
}

impl Shell {
    /// The directory that `CDPATH` finds, and whether its name should be shown.
    fn search_cdpath(&mut self, target: &[u8]) -> Option<(Bytes, bool)> {
        if target.starts_with(b"/")
            || matches!(target, b"." | b"..")
            || target.starts_with(b"./")
            || target.starts_with(b"../")
        {
            return None;
        }
        let dirs = self.lookup(b"CDPATH")?;
        for dir in dirs.split(|&b| b == b':') {
            let path = match dir.strip_suffix(b"/").unwrap_or(dir) {
                _ if dir.is_empty() => target.to_vec(),
                dir => [dir, b"/", target].concat(),
            };
            if rt::stat(&path, true).is_ok_and(|stat| stat.kind() == rt::FileKind::Dir) {
                return Some((path, !dir.is_empty()));
            }
        }
        None
    }

    /// Changes the working directory, and with it `PWD` and `OLDPWD`; says whether those could be assigned to.
    pub(crate) fn change_dir(&mut self, path: &[u8], physical: bool) -> rt::Result<bool> {
        let whole = if path.first() == Some(&b'/') {
            path.to_vec()
        } else {
            [self.cwd.strip_suffix(b"/").unwrap_or(&self.cwd), b"/", path].concat()
        };
        let logical = normal(&whole);
        let sound = parents_exist(&whole);
        if self.options.posix && !physical {
            sound?;
        }
        let new = if physical || sound.is_err() || rt::chdir(&logical).is_err() {
            rt::chdir(path)?;
            if physical { rt::getcwd()? } else { rt::getcwd().unwrap_or(logical) }
        } else {
            logical
        };
        self.cwd.clone_from(&new);
        // Whatever the script has made of it.
        let old = self.lookup(b"PWD").unwrap_or_default();
        let mut kept = true;
        for (name, value) in [(&b"OLDPWD"[..], old), (b"PWD", new)] {
            // A refusal was complained about; the directory has changed all the same.
            kept &= self.assign(&Name::from(name), Key::Whole, false, value).unwrap_or(false);
        }
        Ok(kept)
    }
}

/// Whether what stands before each `..` of an absolute path is a directory.
fn parents_exist(path: &[u8]) -> rt::Result<()> {
    let mut from = 0;
    while let Some(at) = path.get(from..).and_then(|rest| rest.windows(3).position(|part| part == b"/..")) {
        let (start, end) = (from + at, from + at + 3);
        from = end;
        if start > 0 && matches!(path.get(end), None | Some(b'/')) {
            let stat = rt::stat(path.get(..start).unwrap_or_default(), true)?;
            if stat.kind() != rt::FileKind::Dir {
                return Err(rt::Errno::NOTDIR);
            }
        }
    }
    Ok(())
}

/// A path without empty components, `.` and `..`, taken as text.
fn normal(path: &[u8]) -> Bytes {
    let mut components: Vec<&[u8]> = Vec::new();
    for component in path.split(|&b| b == b'/') {
        match component {
            b"" | b"." => {}
            b".." => {
                components.pop();
            }
            name => components.push(name),
        }
    }
    let mut out = Bytes::new();
    for component in components {
        out.push(b'/');
        out.extend_from_slice(component);
    }
    // Two slashes at the start, and no more, may mean something else than one.
    if path.starts_with(b"//") && !path.starts_with(b"///") {
        out.insert(0, b'/');
        if out.len() == 1 {
            out.push(b'/');
        }
    }
    if out.is_empty() { b"/".to_vec() } else { out }
}
