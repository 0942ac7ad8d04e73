//! `jobs`, `wait`, `disown`, `fg`, `bg`.

use tidebox_rt::{self as rt, Errno, Status};

use crate::eval::death_text;
use crate::expand::lossy;
use crate::ir::{Bytes, Name};
use crate::parse::plain_number;
use crate::state::{Run, Shell};
use crate::vars::Key;

pub(super) fn jobs(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    shell.reap();
    let (mut pids, mut long, mut running) = (false, false, false);
    for arg in args.iter().skip(1) {
        match arg.as_slice() {
            b"-p" => pids = true,
            b"-l" => long = true,
            b"-r" => running = true,
            b"-s" | b"-n" | b"-x" => {}
            _ => {
                if shell.jobs.find(arg).is_none() {
                    shell.complain_builtin([arg, &b": no such job"[..]].concat());
                    return Ok(1);
                }
            }
        }
    }
    let mut text = Bytes::new();
    let count = shell.jobs.list.len();
    for (at, job) in shell.jobs.list.iter_mut().enumerate() {
        let status = job.status();
        if job.reported {
            continue;
        }
        if running && status.is_some() {
            continue;
        }
        if pids {
            text.extend_from_slice(format!("{}\n", job.pid()).as_bytes());
            continue;
        }
        let mark = match count - at {
            1 => '+',
            2 => '-',
            _ => ' ',
        };
        let state = match status {
            None => "Running".to_owned(),
            Some(Status::Exited(0)) => "Done".to_owned(),
            Some(Status::Exited(code)) => format!("Exit {code}"),
            Some(Status::Killed(signal)) => death_text(signal),
        };
        let pid = if long { format!("{} ", job.pid()) } else { String::new() };
        text.extend_from_slice(format!("[{}]{mark}  {pid}{state:<24}", job.number).as_bytes());
        text.extend_from_slice(&job.text);
        text.extend_from_slice(if status.is_none() { b" &\n" } else { b"\n" });
        job.reported = status.is_some();
    }
    shell.jobs.list.retain(|job| !job.reported || job.status().is_none());
    Ok(shell.print(text))
}

pub(super) fn wait(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let (mut any, mut variable) = (false, None);
    while let Some((first, rest)) = words.split_first() {
        match first.as_slice() {
            b"-n" => any = true,
            b"-f" => {}
            b"-p" => {
                let Some((name, rest)) = rest.split_first() else {
                    return Ok(shell.bad_option(first, "wait [-fn] [-p var] [id ...]"));
                };
                variable = Some(Name::from(name.as_slice()));
                words = rest;
                continue;
            }
            b"--" => {
                words = rest;
                break;
            }
            _ if first.first() == Some(&b'-') => return Ok(shell.bad_option(first, "wait [-fn] [-p var] [id ...]")),
            _ => break,
        }
        words = rest;
    }
    if any {
        return wait_any(shell, words, variable);
    }
    if words.is_empty() {
        for at in 0..shell.jobs.list.len() {
            if shell.wait_job(at)?.is_none() {
                return Ok(shell.status);
            }
        }
        shell.jobs.list.clear();
        return Ok(0);
    }
    let mut status = 0;
    for word in words {
        status = wait_one(shell, word)?;
        if let Some(name) = &variable {
            shell.assign(name, Key::Whole, false, word.clone())?;
        }
    }
    Ok(status)
}

fn wait_one(shell: &mut Shell, word: &[u8]) -> Run<u8> {
    let at = if word.first() == Some(&b'%') {
        let found = shell.jobs.find(word);
        if found.is_none() {
            shell.complain_builtin([word, b": no such job"].concat());
            return Ok(127);
        }
        found
    } else {
        let Some(pid) = plain_number(word).and_then(|n| u32::try_from(n).ok()) else {
            shell.complain_builtin(format!("`{}': not a pid or valid job spec", lossy(word)));
            return Ok(1);
        };
        if shell.jobs.substituted.contains(&pid) {
            return Ok(shell.wait_pid(pid)?.code());
        }
        let found = shell.jobs.list.iter().position(|job| job.processes.iter().any(|process| process.pid == pid));
        if found.is_none() {
            shell.complain_builtin(format!("pid {pid} is not a child of this shell"));
            return Ok(127);
        }
        found
    };
    let Some(at) = at else { return Ok(127) };
    match shell.wait_job(at)? {
        Some(status) => {
            // bash remembers the status for as long as the job could be asked for again.
            if let Some(job) = shell.jobs.list.get_mut(at) {
                job.reported = true;
            }
            Ok(status.code())
        }
        None => Ok(shell.status),
    }
}

/// `wait -n`: the next job to end, of those named or of all.
fn wait_any(shell: &mut Shell, words: &[Bytes], variable: Option<Name>) -> Run<u8> {
    shell.io.flush();
    loop {
        shell.reap();
        let named = |job: &crate::jobs::Job| {
            words.is_empty()
                || words.iter().any(|word| {
                    plain_number(word).is_some_and(|n| n == i64::from(job.pid()))
                        || word.strip_prefix(b"%").and_then(plain_number).is_some_and(|n| n == i64::from(job.number))
                })
        };
        let ended = shell.jobs.list.iter().position(|job| !job.reported && named(job) && job.status().is_some());
        if let Some(at) = ended {
            let job = shell.jobs.list.remove(at);
            if let Some(name) = &variable {
                shell.assign(name, Key::Whole, false, job.pid().to_string().into_bytes())?;
            }
            return Ok(job.status().map_or(127, Status::code));
        }
        if !shell.jobs.list.iter().any(|job| named(job) && job.status().is_none()) {
            return Ok(127);
        }
        match rt::wait(-1, true) {
            Ok(Some(waited)) => shell.jobs.note(waited.pid, waited.status),
            Ok(None) => {}
            Err(Errno::INTR) => {
                if let Some(signal) = shell.take_signals().first() {
                    shell.run_trap(*signal)?;
                    return Ok(128_u8.saturating_add(*signal));
                }
            }
            Err(_) => return Ok(127),
        }
    }
}

pub(super) fn disown(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let words: Vec<&Bytes> = args.iter().skip(1).filter(|arg| arg.first() != Some(&b'-')).collect();
    if words.is_empty() {
        if args.iter().any(|arg| arg == b"-a") {
            shell.jobs.list.clear();
        } else {
            shell.jobs.list.pop();
        }
        return Ok(0);
    }
    let mut status = 0;
    for word in words {
        let pid = plain_number(word);
        let found =
            shell.jobs.find(word).or_else(|| shell.jobs.list.iter().position(|job| pid == Some(i64::from(job.pid()))));
        match found {
            Some(at) => {
                shell.jobs.list.remove(at);
            }
            None => {
                shell.complain_builtin([word, &b": no such job"[..]].concat());
                status = 1;
            }
        }
    }
    Ok(status)
}

pub(super) fn foreground(shell: &mut Shell, _: &[Bytes]) -> Run<u8> {
    shell.complain_builtin("no job control");
    Ok(1)
}

pub(super) fn background(shell: &mut Shell, _: &[Bytes]) -> Run<u8> {
    shell.complain_builtin("no job control");
    Ok(1)
}
