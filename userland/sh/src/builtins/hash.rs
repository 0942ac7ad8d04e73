//! `hash`.

use crate::ir::Bytes;
use crate::state::{Run, Shell};

pub(super) fn hash(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    if words.is_empty() {
        if shell.hash.is_empty() {
            return Ok(shell.print("hash: hash table empty\n"));
        }
        let mut lines: Vec<_> = shell.hash.values().map(|(path, hits)| (path.clone(), *hits)).collect();
        lines.sort();
        let mut text = b"hits\tcommand\n".to_vec();
        for (path, hits) in lines {
            text.extend_from_slice(format!("{hits:4}\t").as_bytes());
            text.extend_from_slice(&path);
            text.push(b'\n');
        }
        return Ok(shell.print(text));
    }
    let (mut delete, mut show) = (false, false);
    while let Some((first, rest)) = words.split_first() {
        match first.as_slice() {
            b"-r" => shell.hash.clear(),
            b"-d" => delete = true,
            b"-t" => show = true,
            b"-l" => {}
            b"-p" => {
                let [path, name] = rest else {
                    return Ok(shell.bad_option(first, "hash [-lr] [-p pathname] [-dt] [name ...]"));
                };
                shell.hash.insert(name.clone(), (path.clone(), 0));
                return Ok(0);
            }
            _ if first.first() == Some(&b'-') => {
                return Ok(shell.bad_option(first, "hash [-lr] [-p pathname] [-dt] [name ...]"));
            }
            _ => break,
        }
        words = rest;
    }
    let mut status = 0;
    for name in words {
        if super::find(name).is_some() || shell.functions.contains_key(name.as_slice()) {
            continue;
        }
        let known = if delete {
            shell.hash.remove(name).is_some()
        } else if show {
            match shell.hash.get(name) {
                Some((path, _)) => {
                    let line = [&path[..], b"\n"].concat();
                    shell.print(line) == 0
                }
                None => false,
            }
        } else {
            shell.hash.remove(name);
            match shell.search_path(name) {
                Some(path) => shell.hash.insert(name.clone(), (path, 0)).is_none(),
                None => false,
            }
        };
        if !known {
            shell.complain_builtin([name, &b": not found"[..]].concat());
            status = 1;
        }
    }
    Ok(status)
}
