//! `kill`.

use tidebox_rt as rt;

use crate::expand::lossy;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell};
use crate::trap::{signal_name, signal_number, signal_table};

pub(super) fn kill(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let mut signal = 15;
    if let Some((first, rest)) = words.split_first()
        && let Some(option) = first.strip_prefix(b"-")
    {
        words = rest;
        let name = match option {
            b"-" => b"TERM",
            b"l" | b"L" => {
                let after = rest.split_first().filter(|(word, _)| word.as_slice() == b"--");
                return Ok(list(shell, after.map_or(rest, |(_, after)| after)));
            }
            b"s" | b"n" => {
                let Some((name, rest)) = rest.split_first() else {
                    shell.report_builtin_error(format!("-{}: option requires an argument", lossy(option)));
                    return Ok(1);
                };
                words = rest;
                name.as_slice()
            }
            // A word attached to the letter, unless the whole is a signal itself.
            [b's' | b'n', attached @ ..] if signal_number(option).is_none() && signal_number(attached).is_some() => {
                attached
            }
            _ => option,
        };
        match signal_number(name).filter(|n| *n < 65) {
            Some(number) => signal = number,
            None => {
                shell.report_builtin_error(format!("{}: invalid signal specification", lossy(name)));
                return Ok(1);
            }
        }
        if words.first().is_some_and(|word| word == b"--") {
            words = words.get(1..).unwrap_or_default();
        }
    }
    if words.is_empty() {
        return Ok(shell.usage());
    }
    shell.io.flush();
    // An exited process is not a valid target.
    shell.reap();
    let mut status = 1;
    for word in words {
        if send(shell, word, signal) {
            status = 0;
        }
    }
    shell.status = status;
    if !shell.traps.holds {
        shell.run_pending_traps()?;
    }
    Ok(status)
}

fn send(shell: &mut Shell, word: &[u8], signal: u8) -> bool {
    let pids: Vec<i32> = if word.first() == Some(&b'%') {
        let Some(at) = super::jobs::named_once(shell, word) else { return false };
        match shell.jobs.list.get(at) {
            Some(job) if job.grouped => {
                job.processes.first().and_then(|p| i32::try_from(p.pid).ok()).map(|pid| vec![-pid])
            }
            Some(job) => Some(job.processes.iter().filter_map(|process| i32::try_from(process.pid).ok()).collect()),
            None => None,
        }
        .unwrap_or_default()
    } else {
        match plain_number(word).and_then(|n| i32::try_from(n).ok()) {
            Some(pid) => vec![pid],
            None => {
                let text = match word.first() {
                    None => "`': not a pid or valid job spec".to_owned(),
                    Some(_) => format!("{}: arguments must be process or job IDs", lossy(word)),
                };
                shell.report_builtin_error(text);
                return false;
            }
        }
    };
    let is_job = word.first() == Some(&b'%');
    let mut good = true;
    for pid in pids {
        if let Err(errno) = rt::kill(pid, u32::from(signal)) {
            shell.report_builtin_error(format!("({pid}) - {errno}"));
            good = false;
        }
        // The signal takes effect when a stopped job continues.
        let continues = is_job && pid < 0 && matches!(signal, 1 | 15);
        if continues {
            // The job has just got the other signal.
            let _ = rt::kill(pid, crate::job_control::CONT);
        }
        if continues || u32::from(signal) == crate::job_control::CONT {
            shell.note_continued(pid);
        }
    }
    good
}

/// `kill -l`: all names, or the other form of each one given.
fn list(shell: &mut Shell, words: &[Bytes]) -> u8 {
    if words.is_empty() {
        if shell.options.posix {
            let names: Vec<_> = (1..65).filter_map(signal_name).collect();
            return shell.print(names.join(" ") + "\n");
        }
        return shell.print(signal_table());
    }
    let mut status = 0;
    for word in words {
        let line = match plain_number(word) {
            Some(number) => {
                let number = if number > 128 { number - 128 } else { number };
                u8::try_from(number).ok().filter(|n| *n < 65).and_then(signal_name).map(std::borrow::Cow::into_owned)
            }
            None => signal_number(word).filter(|n| *n < 65).map(|number| number.to_string()),
        };
        match line {
            Some(line) => {
                shell.print(format!("{line}\n"));
            }
            None => {
                shell.report_builtin_error(format!("{}: invalid signal specification", lossy(word)));
                status = 1;
            }
        }
    }
    status
}
