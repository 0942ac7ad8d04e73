//! `cd` and `pwd`.

use tidebox_rt as rt;

use crate::builtins::option_letters::Letters;
use crate::ir::{Bytes, Name};
use crate::state::{EvalResult, Shell};
use crate::vars::Key;

pub(super) fn pwd(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut physical = shell.options.physical;
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'P' => physical = true,
            b'L' => physical = false,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let mut path = match rt::getcwd() {
        Ok(path) if physical => path,
        Err(errno) if physical => {
            let why = "error retrieving current directory: getcwd: cannot access parent directories";
            let line = format!("pwd: {why}: {errno}\n");
            // A closed standard error is ignored.
            let _ = shell.io.write(2, line.as_bytes());
            return Ok(1);
        }
        _ => shell.dirs.cwd.clone(),
    };
    path.push(b'\n');
    Ok(shell.print(path))
}

pub(super) fn cd(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut physical = shell.options.physical;
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'P' => physical = true,
            b'L' => physical = false,
            b'e' => {}
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    Ok(go(shell, letters.words(), physical))
}

/// Changes to the directory that the arguments of `cd` or `pushd` name. Prints the new directory if the arguments do not
/// name it literally.
pub(super) fn go(shell: &mut Shell, words: &[Bytes], physical: bool) -> u8 {
    let Some(target) = target_of(shell, words) else { return 1 };
    // Without `-P`, an empty name is the working directory.
    if target.path.is_empty() && physical {
        shell.report_builtin_error(": No such file or directory");
        return 1;
    }
    match enter(shell, &target, physical) {
        Ok(change) => {
            let printed = change.shown.map_or(0, |path| shell.print([&path[..], b"\n"].concat()));
            printed | u8::from(!change.kept)
        }
        Err(errno) => {
            let name = crate::expand::message_quote(&target.path);
            shell.report_builtin_error([&name[..], b": ", errno.text().as_bytes()].concat());
            1
        }
    }
}

/// The target of `cd`.
struct Target {
    path: Bytes,
    /// Its name is printed, because the script did not write it.
    show: bool,
}

/// The directory that the arguments of `cd` name; `None` after an error message.
fn target_of(shell: &mut Shell, words: &[Bytes]) -> Option<Target> {
    let (path, show, unset) = match words {
        [] => (shell.lookup(b"HOME"), false, "HOME not set"),
        [word] if word == b"-" => (shell.lookup(b"OLDPWD"), true, "OLDPWD not set"),
        [word] => (Some(word.clone()), false, ""),
        _ => (None, false, "too many arguments"),
    };
    if path.is_none() {
        shell.report_builtin_error(unset);
    }
    path.map(|path| Target { path, show })
}

/// The result of changing the directory.
struct Change {
    /// The text to print.
    shown: Option<Bytes>,
    /// `PWD` and `OLDPWD` could be assigned to.
    kept: bool,
}

/// Changes to the directory: found by `CDPATH`, by its name, or, with `cdable_vars`, in a variable.
fn enter(shell: &mut Shell, target: &Target, physical: bool) -> rt::Result<Change> {
    let (path, found_elsewhere) = shell.search_cdpath(&target.path).unwrap_or_else(|| (target.path.clone(), false));
    let (kept, path, show) = match shell.change_dir(&path, physical) {
        Ok(kept) => (kept, path, target.show || found_elsewhere),
        Err(errno) => {
            let is_name = crate::parse::token::name_len(&target.path) == target.path.len();
            let value = if shell.options.cdable_vars && is_name { shell.lookup(&target.path) } else { None };
            let value = value.ok_or(errno)?;
            (shell.change_dir(&value, physical)?, value, true)
        }
    };
    let shown = show.then(|| match physical {
        true => path,
        false => shell.dirs.cwd.clone(),
    });
    Ok(Change { shown, kept })
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
                _ if dir.is_empty() && target.is_empty() => b".".to_vec(),
                _ if dir.is_empty() => target.to_vec(),
                dir => [dir, b"/", target].concat(),
            };
            if rt::stat(&path, true).is_ok_and(|stat| stat.kind() == rt::FileKind::Dir) {
                return Some((path, !dir.is_empty()));
            }
        }
        None
    }

    /// Changes the working directory, `PWD` and `OLDPWD`. Returns whether the variables could be assigned.
    pub(crate) fn change_dir(&mut self, path: &[u8], physical: bool) -> rt::Result<bool> {
        let whole = if path.first() == Some(&b'/') {
            path.to_vec()
        } else {
            [self.dirs.cwd.strip_suffix(b"/").unwrap_or(&self.dirs.cwd), b"/", path].concat()
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
        self.dirs.cwd.clone_from(&new);
        // The script may have changed it.
        let old = self.lookup(b"PWD").unwrap_or_default();
        let mut kept = true;
        for (name, value) in [(&b"OLDPWD"[..], old), (b"PWD", new)] {
            // A rejected assignment was reported; the directory has changed anyway.
            kept &= self.assign(&Name::from(name), Key::Whole, false, value).unwrap_or(false);
        }
        Ok(kept)
    }
}

/// Returns whether the path before each `..` of an absolute path is a directory.
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

/// Normalizes a path lexically: without empty components, `.` and `..`.
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
    // POSIX lets exactly two leading slashes have another meaning.
    if path.starts_with(b"//") && !path.starts_with(b"///") {
        out.insert(0, b'/');
        if out.len() == 1 {
            out.push(b'/');
        }
    }
    if out.is_empty() { b"/".to_vec() } else { out }
}
