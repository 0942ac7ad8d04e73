//! `pushd`, `popd`, `dirs`.

use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{Run, Shell};

/// The place in the stack that `+n` or `-n` means; 0 is the working directory.
fn place(shell: &Shell, arg: &[u8]) -> Option<usize> {
    let size = shell.dir_stack.len() + 1;
    let number = |digits: &[u8]| plain_number(digits).and_then(|n| usize::try_from(n).ok());
    let at = match arg.split_first()? {
        (b'+', digits) => number(digits)?,
        (b'-', digits) => size.checked_sub(number(digits)? + 1)?,
        _ => return None,
    };
    (at < size).then_some(at)
}

fn shorten(shell: &mut Shell, path: &[u8]) -> Bytes {
    match shell.lookup(b"HOME") {
        Some(home)
            if !home.is_empty() && path.starts_with(&home) && matches!(path.get(home.len()), None | Some(b'/')) =>
        {
            [b"~", path.get(home.len()..).unwrap_or_default()].concat()
        }
        _ => path.to_vec(),
    }
}

fn show(shell: &mut Shell) -> u8 {
    let mut paths = vec![shell.cwd.clone()];
    paths.extend(shell.dir_stack.iter().cloned());
    let mut line: Bytes = paths.iter().map(|path| shorten(shell, path)).collect::<Vec<_>>().join(&b' ');
    line.push(b'\n');
    shell.print(line)
}

pub(super) fn dirs(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let (mut lines, mut numbers, mut long) = (false, false, false);
    for arg in args.iter().skip(1) {
        match arg.as_slice() {
            b"-c" => {
                shell.dir_stack.clear();
                return Ok(0);
            }
            b"-p" => lines = true,
            b"-v" => numbers = true,
            b"-l" => long = true,
            _ => {
                let Some(at) = place(shell, arg) else {
                    shell.complain_builtin([arg, &b": directory stack index out of range"[..]].concat());
                    return Ok(1);
                };
                let path = if at == 0 { Some(&shell.cwd) } else { shell.dir_stack.get(at - 1) };
                let mut line = path.cloned().unwrap_or_default();
                line = shorten(shell, &line);
                line.push(b'\n');
                return Ok(shell.print(line));
            }
        }
    }
    if !lines && !numbers && !long {
        return Ok(show(shell));
    }
    let mut paths = vec![shell.cwd.clone()];
    paths.extend(shell.dir_stack.iter().cloned());
    let mut text = Bytes::new();
    for (at, path) in paths.iter().enumerate() {
        let path = if long { path.clone() } else { shorten(shell, path) };
        if numbers {
            text.extend_from_slice(format!("{at:2}  ").as_bytes());
        }
        text.extend_from_slice(&path);
        let last = at + 1 == paths.len();
        text.push(if lines || numbers || last { b'\n' } else { b' ' });
    }
    Ok(shell.print(text))
}

pub(super) fn pushd(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let words: Vec<&Bytes> = args.iter().skip(1).filter(|arg| arg.as_slice() != b"-n").collect();
    let before = shell.cwd.clone();
    let target = match words.first() {
        None => match shell.dir_stack.pop_front() {
            Some(top) => top,
            None => {
                shell.complain_builtin("no other directory");
                return Ok(1);
            }
        },
        Some(arg) => match place(shell, arg) {
            Some(at) => {
                let mut all = std::mem::take(&mut shell.dir_stack);
                all.push_front(before);
                all.rotate_left(at);
                let target = all.pop_front().unwrap_or_default();
                shell.dir_stack = all;
                return finish(shell, &target);
            }
            None => (*arg).clone(),
        },
    };
    if let Err(errno) = shell.change_dir(&target, false) {
        shell.complain_builtin([&target[..], b": ", errno.text().as_bytes()].concat());
        return Ok(1);
    }
    shell.dir_stack.push_front(before);
    Ok(show(shell))
}

fn finish(shell: &mut Shell, target: &[u8]) -> Run<u8> {
    if let Err(errno) = shell.change_dir(target, false) {
        shell.complain_builtin([target, b": ", errno.text().as_bytes()].concat());
        return Ok(1);
    }
    Ok(show(shell))
}

pub(super) fn popd(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    if shell.dir_stack.is_empty() {
        shell.complain_builtin("directory stack empty");
        return Ok(1);
    }
    let arg = args.iter().skip(1).find(|arg| arg.as_slice() != b"-n");
    match arg.map(|arg| place(shell, arg)) {
        Some(None) => {
            let arg = arg.cloned().unwrap_or_default();
            shell.complain_builtin([&arg[..], b": directory stack index out of range"].concat());
            Ok(1)
        }
        Some(Some(at)) if at > 0 => {
            shell.dir_stack.remove(at - 1);
            Ok(show(shell))
        }
        _ => {
            let target = shell.dir_stack.pop_front().unwrap_or_default();
            finish(shell, &target)
        }
    }
}
