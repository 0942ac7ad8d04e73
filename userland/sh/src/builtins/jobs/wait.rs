//! `wait`.

use tidebox_rt::{self as rt, Errno, ExitStatus};

use crate::builtins::option_letters::Letters;
use crate::expand::lossy;
use crate::ir::Bytes;
use crate::jobs::Job;
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell};

pub(in crate::builtins) fn wait(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    if std::mem::take(&mut shell.jobs.inherited) {
        shell.jobs.list.clear();
    }
    let (mut any, mut variable) = (false, None);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'n' => any = true,
            b'f' => {}
            b'p' => match letters.argument() {
                Some(name) => variable = Some(name.to_vec()),
                None => return Ok(letters.missing_argument(shell)),
            },
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if let Some(word) = &variable {
        let Some(index) = shell.parse_element_name(word) else {
            shell.report_builtin_error(format!("`{}': not a valid identifier", lossy(word)));
            return Ok(1);
        };
        if index.subscript.is_none() {
            shell.vars.remove(&index.name);
        }
    }
    let name = variable;
    if any {
        return wait_any(shell, words, name);
    }
    if words.is_empty() {
        return wait_all(shell);
    }
    let mut status = 0;
    for word in words {
        let (code, pid) = wait_one(shell, word)?;
        status = code;
        if let (Some(name), Some(pid)) = (&name, pid) {
            shell.assign_element_name(name, pid.to_string().into_bytes())?;
        }
    }
    Ok(status)
}

fn wait_all(shell: &mut Shell) -> EvalResult<u8> {
    while !shell.jobs.list.is_empty() {
        if shell.wait_job(0)?.is_none() {
            return Ok(shell.status);
        }
        if !shell.jobs.list.is_empty() {
            shell.report_exit(0);
            shell.jobs.finish(0);
        }
    }
    for pid in std::mem::take(&mut shell.jobs.substituted) {
        shell.wait_pid(pid)?;
    }
    Ok(0)
}

/// Waits for one job or process. Returns its status and process number.
fn wait_one(shell: &mut Shell, word: &[u8]) -> EvalResult<(u8, Option<u32>)> {
    let at = if word.first() == Some(&b'%') {
        match super::named_once(shell, word) {
            Some(at) => at,
            None => return Ok((127, None)),
        }
    } else {
        let Some(pid) = plain_number(word).and_then(|n| u32::try_from(n).ok()) else {
            shell.report_builtin_error(format!("`{}': not a pid or valid job spec", lossy(word)));
            return Ok((1, None));
        };
        let found = shell.jobs.list.iter().position(|job| job.processes.iter().any(|process| process.pid == pid));
        match found {
            Some(at) => at,
            None => return wait_gone(shell, pid),
        }
    };
    let pid = shell.jobs.list.get(at).map(Job::pid);
    match shell.wait_job(at)? {
        Some(status) => {
            let here = shell.jobs.list.iter().position(|job| Some(job.pid()) == pid);
            if let Some(at) = here {
                shell.report_exit(at);
                shell.jobs.finish(at);
            }
            Ok((status.code(), pid))
        }
        None => Ok((shell.status, pid)),
    }
}

/// A process that belongs to no job: one of a process substitution, or one whose end is remembered.
fn wait_gone(shell: &mut Shell, pid: u32) -> EvalResult<(u8, Option<u32>)> {
    if let Some(at) = shell.jobs.substituted.iter().position(|known| *known == pid) {
        let status = shell.wait_pid(pid)?;
        shell.jobs.substituted.remove(at);
        shell.jobs.remember(pid, status);
        return Ok((status.code(), Some(pid)));
    }
    match shell.jobs.ended(pid) {
        Some(status) => Ok((status.code(), Some(pid))),
        None => {
            shell.report_builtin_error(format!("pid {pid} is not a child of this shell"));
            Ok((127, None))
        }
    }
}

/// `wait -n`: the next job to end, of those named or of all.
fn wait_any(shell: &mut Shell, words: &[Bytes], variable: Option<Bytes>) -> EvalResult<u8> {
    shell.io.flush();
    let mut pids = Vec::new();
    for word in words {
        match index(shell, word) {
            Some(pid) => pids.push(pid),
            None => {
                if let Some(status) = remembered(shell, word) {
                    return Ok(status);
                }
                shell.report_builtin_error([word, &b": no such job"[..]].concat());
            }
        }
    }
    if !words.is_empty() && pids.is_empty() {
        return Ok(127);
    }
    loop {
        shell.reap();
        let named = |job: &Job| words.is_empty() || pids.contains(&job.pid());
        let ended = shell.jobs.list.iter().position(|job| named(job) && job.status().is_some());
        if let Some(at) = ended {
            let (pid, status) = shell.jobs.list.get(at).map_or((0, None), |job| (job.pid(), job.status()));
            shell.report_exit(at);
            shell.jobs.finish(at);
            if let Some(name) = &variable {
                shell.assign_element_name(name, pid.to_string().into_bytes())?;
            }
            return Ok(status.map_or(127, ExitStatus::code));
        }
        if !shell.jobs.list.iter().any(|job| named(job) && job.status().is_none()) {
            return Ok(127);
        }
        match rt::wait(-1, true) {
            Ok(Some(waited)) => shell.record_end(waited.pid, waited.status),
            Ok(None) => {}
            Err(Errno::INTR) => {
                if let Some(signal) = shell.signal_that_ends_waiting()? {
                    shell.handle_signal(signal)?;
                    return Ok(128_u8.saturating_add(signal));
                }
            }
            Err(_) => return Ok(127),
        }
    }
}

/// The process whose job a word names.
fn index(shell: &Shell, word: &[u8]) -> Option<u32> {
    let at = match plain_number(word).and_then(|n| u32::try_from(n).ok()) {
        Some(pid) => shell.jobs.list.iter().position(|job| job.processes.iter().any(|p| p.pid == pid))?,
        None => shell.jobs.find(word).ok()?,
    };
    shell.jobs.list.get(at).map(Job::pid)
}

fn remembered(shell: &Shell, word: &[u8]) -> Option<u8> {
    let pid = u32::try_from(plain_number(word)?).ok()?;
    shell.jobs.ended(pid).map(ExitStatus::code)
}
