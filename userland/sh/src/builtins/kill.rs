//! `kill`.

use tidebox_rt as rt;

use crate::expand::lossy;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{Run, Shell};
use crate::trap::{SIGNALS, signal_name, signal_number};

const USAGE: &str = "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]";

pub(super) fn kill(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let mut signal = 15;
    if let Some((first, rest)) = words.split_first()
        && let Some(option) = first.strip_prefix(b"-").filter(|option| !option.is_empty())
    {
        let name = match option {
            b"l" | b"L" => return Ok(list(shell, rest)),
            b"-" => {
                words = rest;
                None
            }
            b"s" | b"n" => {
                let Some((name, rest)) = rest.split_first() else {
                    shell.complain_builtin(format!("-{}: option requires an argument", lossy(option)));
                    return Ok(1);
                };
                words = rest;
                Some(name.as_slice())
            }
            _ => {
                words = rest;
                Some(option)
            }
        };
        if let Some(name) = name {
            match signal_number(name).filter(|n| *n < 65) {
                Some(number) => signal = number,
                None => {
                    shell.complain_builtin(format!("{}: invalid signal specification", lossy(name)));
                    return Ok(1);
                }
            }
        }
        if words.first().is_some_and(|word| word == b"--") {
            words = words.get(1..).unwrap_or_default();
        }
    }
    if words.is_empty() {
        let line = format!("kill: usage: {USAGE}\n");
        // Where standard error is closed there is nobody to tell.
        let _ = shell.io.write(2, line.as_bytes());
        return Ok(2);
    }
    shell.io.flush();
    let mut status = 0;
    for word in words {
        if !send(shell, word, signal) {
            status = 1;
        }
    }
    shell.status = status;
    shell.run_pending_traps()?;
    Ok(status)
}

fn send(shell: &mut Shell, word: &[u8], signal: u8) -> bool {
    let pids: Vec<i32> = if word.first() == Some(&b'%') {
        match shell.jobs.find(word).and_then(|at| shell.jobs.list.get(at)) {
            Some(job) => job.processes.iter().filter_map(|process| i32::try_from(process.pid).ok()).collect(),
            None => {
                shell.complain_builtin([word, b": no such job"].concat());
                return false;
            }
        }
    } else {
        match plain_number(word).and_then(|n| i32::try_from(n).ok()) {
            Some(pid) => vec![pid],
            None => {
                shell.complain_builtin([word, b": arguments must be process or job IDs"].concat());
                return false;
            }
        }
    };
    let mut good = true;
    for pid in pids {
        if let Err(errno) = rt::kill(pid, u32::from(signal)) {
            shell.complain_builtin(format!("({pid}) - {errno}"));
            good = false;
        }
    }
    good
}

/// `kill -l`: all names, or the other form of each one given.
fn list(shell: &mut Shell, words: &[Bytes]) -> u8 {
    if words.is_empty() {
        let mut text = String::new();
        for (number, name) in SIGNALS {
            text.push_str(&format!("{number:2}) SIG{name}{}", if number % 5 == 0 { "\n" } else { "\t" }));
        }
        text.push('\n');
        return shell.print(text);
    }
    let mut status = 0;
    for word in words {
        let line = match plain_number(word) {
            Some(number) => {
                let number = if number > 128 { number - 128 } else { number };
                u8::try_from(number).ok().and_then(signal_name).map(str::to_owned)
            }
            None => signal_number(word).map(|number| number.to_string()),
        };
        match line {
            Some(line) => {
                shell.print(format!("{line}\n"));
            }
            None => {
                shell.complain_builtin(format!("{}: invalid signal specification", lossy(word)));
                status = 1;
            }
        }
    }
    status
}
