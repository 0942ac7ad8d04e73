//! `mapfile` and `readarray`.

use std::collections::BTreeMap;

use crate::ir::{Bytes, Name};
use crate::parse::plain_number;
use crate::state::{Run, Shell};
use crate::vars::{Value, Var};

const USAGE: &str =
    "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]";

pub(super) fn mapfile(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let (mut delimiter, mut most, mut origin, mut skip, mut trim) = (b'\n', 0, None, 0, false);
    let (mut number, mut callback, mut quantum) = (0, None, 5000);
    while let Some((first, rest)) = words.split_first() {
        let Some((&letter, attached)) = first.strip_prefix(b"-").and_then(<[u8]>::split_first) else { break };
        words = rest;
        if letter == b'-' {
            break;
        }
        if letter == b't' {
            trim = true;
            if let Some(next) = attached.first() {
                return Ok(shell.bad_option(&[b'-', *next], USAGE));
            }
            continue;
        }
        if !b"dnOsuCc".contains(&letter) {
            return Ok(shell.bad_option(first, USAGE));
        }
        let value = if attached.is_empty() {
            let Some((value, rest)) = words.split_first() else {
                shell.complain_builtin(format!("-{}: option requires an argument", char::from(letter)));
                return Ok(2);
            };
            words = rest;
            value.clone()
        } else {
            attached.to_vec()
        };
        let count = plain_number(&value).and_then(|n| usize::try_from(n).ok());
        match (letter, count) {
            (b'd', _) => delimiter = value.first().copied().unwrap_or(0),
            (b'C', _) => callback = Some(value),
            (b'n', Some(count)) => most = count,
            (b'O', Some(count)) => origin = Some(count as u64),
            (b's', Some(count)) => skip = count,
            (b'u', Some(count)) => number = u32::try_from(count).unwrap_or(u32::MAX),
            (b'c', Some(count)) => quantum = count.max(1),
            _ => {
                shell.complain_builtin([&value[..], b": invalid number"].concat());
                return Ok(1);
            }
        }
    }
    let name: Name = words.first().map_or(&b"MAPFILE"[..], Vec::as_slice).into();
    if crate::parse::token::name_len(&name) != name.len() {
        shell.complain_builtin([b"`", &name[..], b"': not a valid identifier"].concat());
        return Ok(1);
    }
    let Some(fd) = shell.io.fd(number) else {
        shell.complain_builtin(format!("{number}: invalid file descriptor: Bad file descriptor"));
        return Ok(1);
    };
    if !shell.may_assign(&name) {
        return Ok(1);
    }
    shell.io.flush();
    let text = shell.read_all(fd);
    let mut map = match (origin, shell.vars.get(&name).map(|var| &var.value)) {
        (Some(_), Some(Value::Indexed(map))) => map.clone(),
        _ => BTreeMap::new(),
    };
    let mut at = origin.unwrap_or(0);
    for (count, line) in lines(&text, delimiter).skip(skip).enumerate() {
        if most > 0 && count >= most {
            break;
        }
        let line = if trim { line.strip_suffix(&[delimiter]).unwrap_or(line) } else { line };
        let line: Bytes = line.iter().copied().filter(|&b| b != 0).collect();
        if let Some(callback) = &callback
            && (count + 1) % quantum == 0
        {
            let quoted = crate::expand::single_quote(&line);
            let command = [&callback[..], b" ", at.to_string().as_bytes(), b" ", &quoted].concat();
            shell.run_text(&command, shell.line)?;
        }
        map.insert(at, line);
        at = at.saturating_add(1);
    }
    let flags = shell.vars.get(&name).map_or(0, |var| var.flags);
    shell.vars.insert(name, Var { value: Value::Indexed(map), flags });
    Ok(0)
}

fn lines(text: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(move |&b| b == delimiter)
}
