//! `jobs`, `disown`, `fg`, `bg`, `suspend`, `logout`.

mod wait;

use tidebox_rt::Status;

use crate::builtins::letters::Letters;
use crate::eval::death_text;
use crate::ir::Bytes;
use crate::jobs::NoJob;
use crate::parse::plain_number;
use crate::state::{Run, Shell};

pub(super) use wait::wait;

const USAGE: &str = "jobs [-lnprs] [jobspec ...] or jobs -x command [args]";

pub(super) fn jobs(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    shell.reap();
    let (mut wanted, mut runs) = (Wanted::default(), false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'p' => wanted.pids = true,
            b'l' => wanted.long = true,
            b'r' => wanted.running = true,
            b's' => wanted.stopped = true,
            b'n' => wanted.changed = true,
            b'x' if wanted.pids || wanted.long || wanted.changed => {
                shell.complain_builtin("no other options allowed with `-x'");
                return Ok(1);
            }
            b'x' => runs = true,
            _ => return Ok(letters.refuse(shell, USAGE)),
        }
    }
    let words = letters.words();
    if runs {
        return execute(shell, words);
    }
    let (mut places, mut status) = (Vec::new(), 0);
    for word in words {
        match named(shell, word) {
            Some(at) => places.push(at),
            None => status = 1,
        }
    }
    if words.is_empty() {
        places = (0..shell.jobs.list.len()).collect();
    }
    let text = wanted.text(shell, &places);
    if !wanted.stopped && !wanted.running {
        forget_ended(shell, places);
    }
    Ok(shell.print(text).max(status))
}

/// Which jobs `jobs` tells of, and how.
#[derive(Default)]
struct Wanted {
    pids: bool,
    long: bool,
    running: bool,
    stopped: bool,
    changed: bool,
}

impl Wanted {
    fn text(&self, shell: &Shell, places: &[usize]) -> Bytes {
        let mut text = Bytes::new();
        for &at in places {
            let Some(job) = shell.jobs.list.get(at) else { continue };
            let ended = job.status().is_some();
            // Nothing stops here, and what changed is what has ended.
            if (self.running && ended) || self.stopped || (self.changed && !ended) {
                continue;
            }
            if self.pids {
                text.extend_from_slice(format!("{}\n", job.processes.first().map_or(0, |p| p.pid)).as_bytes());
            } else {
                text.extend(shell.job_line(at, self.long));
            }
        }
        text
    }
}

/// Of jobs that have ended `jobs` tells once.
fn forget_ended(shell: &mut Shell, mut places: Vec<usize>) {
    places.sort_unstable();
    places.dedup();
    for at in places.into_iter().rev() {
        if shell.jobs.list.get(at).is_some_and(|job| job.status().is_some()) {
            shell.jobs.finish(at);
        }
    }
}

/// `jobs -x`: runs a command whose words may name jobs.
fn execute(shell: &mut Shell, words: &[Bytes]) -> Run<u8> {
    let mut command = Vec::with_capacity(words.len());
    for word in words {
        let job = if word.first() == Some(&b'%') { shell.jobs.find(word).ok() } else { None };
        let pid = job.and_then(|at| shell.jobs.list.get(at)).and_then(|job| job.processes.first());
        command.push(pid.map_or_else(|| word.clone(), |process| process.pid.to_string().into_bytes()));
    }
    super::command::run(shell, &command)
}

/// The place of a job that a word names; complains when there is none.
pub(super) fn named(shell: &mut Shell, word: &[u8]) -> Option<usize> {
    let found = named_once(shell, word);
    if found.is_none() && shell.jobs.find(word) == Err(NoJob::Ambiguous) {
        shell.complain_builtin([word, b": no such job"].concat());
    }
    found
}

/// The same for a builtin that says no more of a word that names several jobs.
pub(super) fn named_once(shell: &mut Shell, word: &[u8]) -> Option<usize> {
    match shell.jobs.find(word) {
        Ok(at) => Some(at),
        Err(NoJob::Ambiguous) => {
            complain_of_several(shell, word);
            None
        }
        Err(NoJob::Unknown) => {
            shell.complain_builtin([word, b": no such job"].concat());
            None
        }
    }
}

fn complain_of_several(shell: &mut Shell, word: &[u8]) {
    let shown = word.strip_prefix(b"%").unwrap_or(word).to_vec();
    shell.complain_builtin([&shown[..], b": ambiguous job spec"].concat());
}

impl Shell {
    /// A job as `jobs` prints it.
    pub(crate) fn job_line(&self, at: usize, long: bool) -> Bytes {
        let Some(job) = self.jobs.list.get(at) else { return Bytes::new() };
        let mark = if at + 1 == self.jobs.list.len() {
            '+'
        } else if self.jobs.previous() == Some(at) {
            '-'
        } else {
            ' '
        };
        let status = job.status();
        let state = match status {
            None => "Running".to_owned(),
            Some(Status::Exited(0)) => "Done".to_owned(),
            Some(Status::Exited(code)) if self.options.posix => format!("Done({code})"),
            Some(Status::Exited(code)) => format!("Exit {code}"),
            Some(Status::Killed(signal)) => death_text(signal),
        };
        let start = if long {
            format!("[{}]{mark} {:5} {state:<24}", job.number, job.pid())
        } else {
            format!("[{}]{mark}  {state:<24}", job.number)
        };
        let end: &[u8] = if status.is_none() { b" &\n" } else { b"\n" };
        [start.as_bytes(), &job.text, end].concat()
    }
}

pub(super) fn disown(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let (mut all, mut running, mut keep) = (false, false, false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'a' => all = true,
            b'r' => running = true,
            b'h' => keep = true,
            _ => return Ok(letters.refuse(shell, "disown [-h] [-ar] [jobspec ... | pid ...]")),
        }
    }
    let words = letters.words();
    if words.is_empty() && (all || running) {
        if !keep {
            shell.jobs.list.retain(|job| running && job.status().is_some());
        }
        return Ok(0);
    }
    let newest = [b"current".to_vec()];
    let mut status = 0;
    for word in if words.is_empty() { &newest[..] } else { words } {
        let pid = plain_number(word);
        let found = match words.is_empty() {
            true => shell.jobs.find(b"%+").ok(),
            false if pid.is_some() => shell.jobs.list.iter().position(|job| pid == Some(i64::from(job.pid()))),
            false => shell.jobs.find(word).ok(),
        };
        match found {
            // There is no hangup that a job could be kept from.
            Some(_) if keep => {}
            Some(at) => drop(shell.jobs.list.remove(at)),
            None => {
                if shell.jobs.find(word) == Err(NoJob::Ambiguous) {
                    complain_of_several(shell, word);
                }
                shell.complain_builtin([word, &b": no such job"[..]].concat());
                status = 1;
            }
        }
    }
    Ok(status)
}

pub(super) fn foreground(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let at = match controlled(shell, args, "fg [job_spec]") {
        Ok(at) => at,
        Err(status) => return Ok(status),
    };
    let text = shell.jobs.list.get(at).map(|job| [&job.text[..], b"\n"].concat()).unwrap_or_default();
    shell.print(text);
    let Some(status) = shell.wait_job(at)? else { return Ok(shell.status) };
    if at < shell.jobs.list.len() {
        shell.jobs.finish(at);
    }
    Ok(status.code())
}

pub(super) fn background(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let at = match controlled(shell, args, "bg [job_spec ...]") {
        Ok(at) => at,
        Err(status) => return Ok(status),
    };
    let number = shell.jobs.list.get(at).map_or(0, |job| job.number);
    shell.complain_builtin(format!("job {number} already in background"));
    Ok(0)
}

/// The place of the job that `fg` or `bg` means, or their status where there is none or no job control.
fn controlled(shell: &mut Shell, args: &[Bytes], usage: &str) -> Result<usize, u8> {
    if !shell.options.monitor || shell.jobs.uncontrolled {
        shell.complain_builtin("no job control");
        return Err(1);
    }
    let mut letters = Letters::of(args);
    if letters.next().is_some() {
        return Err(letters.refuse(shell, usage));
    }
    shell.reap();
    let found = match letters.words().first() {
        Some(word) => named(shell, word),
        None => {
            let newest = shell.jobs.find(b"%+").ok();
            if newest.is_none() {
                shell.complain_builtin("current: no such job");
            }
            newest
        }
    };
    let at = found.ok_or(1)?;
    if shell.jobs.inherited {
        shell.complain_builtin("no current jobs");
        return Err(1);
    }
    if let Some(job) = shell.jobs.list.get(at).filter(|job| !job.grouped) {
        let number = job.number;
        shell.complain_builtin(format!("job {number} started without job control"));
        return Err(1);
    }
    Ok(at)
}

pub(super) fn suspend(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        if letter != b'f' {
            return Ok(letters.refuse(shell, "suspend [-f]"));
        }
    }
    if !letters.words().is_empty() {
        return super::flow::too_many(shell);
    }
    shell.complain_builtin("cannot suspend: no job control");
    Ok(1)
}

pub(super) fn logout(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    if !shell.options.login_shell {
        shell.complain_builtin("not login shell: use `exit'");
        return Ok(1);
    }
    super::flow::exit(shell, args)
}
