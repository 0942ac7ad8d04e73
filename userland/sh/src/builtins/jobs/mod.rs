//! `jobs`, `disown`, `fg`, `bg`, `suspend`, `logout`.

mod wait;

use tidebox_rt::ExitStatus;

use crate::builtins::option_letters::Letters;
use crate::eval::death_text;
use crate::ir::Bytes;
use crate::jobs::JobLookupError;
use crate::parse::plain_number;
use crate::state::{EvalResult, Shell};

pub(super) use wait::wait;

pub(super) fn jobs(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    shell.reap();
    let (mut requested, mut runs) = (JobsOptions::default(), false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'p' => requested.pids = true,
            b'l' => requested.long = true,
            b'r' => requested.running = true,
            b's' => requested.stopped = true,
            b'n' => requested.changed = true,
            b'x' if requested.pids || requested.long || requested.changed => {
                shell.report_builtin_error("no other options allowed with `-x'");
                return Ok(1);
            }
            b'x' => runs = true,
            _ => return Ok(letters.invalid_option(shell)),
        }
    }
    let words = letters.words();
    if runs {
        return execute(shell, words);
    }
    let (mut indices, mut status) = (Vec::new(), 0);
    for word in words {
        match named(shell, word) {
            Some(at) => indices.push(at),
            None => status = 1,
        }
    }
    if words.is_empty() {
        indices = (0..shell.jobs.list.len()).collect();
    }
    let text = requested.text(shell, &indices);
    if !requested.stopped && !requested.running {
        forget_ended(shell, indices);
    }
    Ok(shell.print(text).max(status))
}

/// The options of `jobs`.
#[derive(Default)]
struct JobsOptions {
    pids: bool,
    long: bool,
    running: bool,
    stopped: bool,
    changed: bool,
}

impl JobsOptions {
    fn text(&self, shell: &Shell, indices: &[usize]) -> Bytes {
        let mut text = Bytes::new();
        for &at in indices {
            let Some(job) = shell.jobs.list.get(at) else { continue };
            let (ended, stopped) = (job.status().is_some(), job.stop().is_some());
            let has_changed = ended || (stopped && job.reports_stop);
            if (self.running && (ended || stopped)) || (self.stopped && !stopped) || (self.changed && !has_changed) {
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

/// `jobs` reports an ended job once.
fn forget_ended(shell: &mut Shell, mut indices: Vec<usize>) {
    indices.sort_unstable();
    indices.dedup();
    for at in indices.into_iter().rev() {
        if shell.jobs.list.get(at).is_some_and(|job| job.status().is_some()) {
            shell.jobs.finish(at);
        }
    }
}

/// `jobs -x`: runs a command whose words may name jobs.
fn execute(shell: &mut Shell, words: &[Bytes]) -> EvalResult<u8> {
    let mut command = Vec::with_capacity(words.len());
    for word in words {
        let job = if word.first() == Some(&b'%') { shell.jobs.find(word).ok() } else { None };
        let pid = job.and_then(|at| shell.jobs.list.get(at)).and_then(|job| job.processes.first());
        command.push(pid.map_or_else(|| word.clone(), |process| process.pid.to_string().into_bytes()));
    }
    super::command::run(shell, &command)
}

/// The index of the job that a word names; `None` after an error message.
pub(super) fn named(shell: &mut Shell, word: &[u8]) -> Option<usize> {
    let found = named_once(shell, word);
    if found.is_none() && shell.jobs.find(word) == Err(JobLookupError::Ambiguous) {
        shell.report_builtin_error([word, b": no such job"].concat());
    }
    found
}

/// Like [`named`], but an ambiguous word has no additional message.
pub(super) fn named_once(shell: &mut Shell, word: &[u8]) -> Option<usize> {
    match shell.jobs.find(word) {
        Ok(at) => Some(at),
        Err(JobLookupError::Ambiguous) => {
            report_ambiguous(shell, word);
            None
        }
        Err(JobLookupError::Unknown) => {
            shell.report_builtin_error([word, b": no such job"].concat());
            None
        }
    }
}

fn report_ambiguous(shell: &mut Shell, word: &[u8]) {
    let shown = word.strip_prefix(b"%").unwrap_or(word).to_vec();
    shell.report_builtin_error([&shown[..], b": ambiguous job spec"].concat());
}

impl Shell {
    /// A job as `jobs` prints it.
    pub(crate) fn job_line(&self, at: usize, long: bool) -> Bytes {
        let Some(job) = self.jobs.list.get(at) else { return Bytes::new() };
        let mark = if self.jobs.current() == Some(at) {
            '+'
        } else if self.jobs.previous() == Some(at) {
            '-'
        } else {
            ' '
        };
        let (status, stop) = (job.status(), job.stop());
        let state = match status {
            None if stop.is_some() => self.stop_text(stop),
            None => "Running".to_owned(),
            Some(ExitStatus::Exited(0)) => "Done".to_owned(),
            Some(ExitStatus::Exited(code)) if self.options.posix => format!("Done({code})"),
            Some(ExitStatus::Exited(code)) => format!("Exit {code}"),
            Some(ExitStatus::Killed(signal)) => death_text(signal),
        };
        let start = if long {
            format!("[{}]{mark} {:5} {state:<24}", job.number, job.pid())
        } else {
            format!("[{}]{mark}  {state:<24}", job.number)
        };
        let end: &[u8] = if status.is_none() && stop.is_none() { b" &\n" } else { b"\n" };
        [start.as_bytes(), &job.text, end].concat()
    }

    fn stop_text(&self, signal: Option<u8>) -> String {
        let name = signal.and_then(crate::trap::signal_name).filter(|_| self.options.posix);
        name.map_or_else(|| "Stopped".to_owned(), |name| format!("Stopped(SIG{name})"))
    }
}

pub(super) fn disown(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let (mut all, mut running, mut keep) = (false, false, false);
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'a' => all = true,
            b'r' => running = true,
            b'h' => keep = true,
            _ => return Ok(letters.invalid_option(shell)),
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
            // The sandbox sends no SIGHUP from which a job could be protected.
            Some(_) if keep => {}
            Some(at) => drop(shell.jobs.list.remove(at)),
            None => {
                if shell.jobs.find(word) == Err(JobLookupError::Ambiguous) {
                    report_ambiguous(shell, word);
                }
                shell.report_builtin_error([word, &b": no such job"[..]].concat());
                status = 1;
            }
        }
    }
    Ok(status)
}

pub(super) fn foreground(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let at = match controlled(shell, args) {
        Ok(at) => at,
        Err(status) => return Ok(status),
    };
    let text = shell.jobs.list.get(at).map(|job| [&job.text[..], b"\n"].concat()).unwrap_or_default();
    shell.print(text);
    let group = shell.jobs.list.get(at).map_or(0, crate::jobs::Job::group);
    shell.give_foreground(group);
    shell.continue_job(at);
    let waited = shell.wait_job(at);
    shell.take_foreground();
    if waited == Ok(Some(ExitStatus::Killed(crate::trap::INT))) && shell.has_terminal() {
        // After the echo of the key. A closed standard error is ignored.
        let _ = shell.io.write(2, b"\n");
    }
    let Some(status) = waited? else {
        if shell.jobs.list.get(at).is_some_and(|job| job.stop().is_some()) {
            shell.report_stop(at);
        }
        return Ok(shell.status);
    };
    if at < shell.jobs.list.len() {
        shell.jobs.finish(at);
    }
    Ok(status.code())
}

pub(super) fn background(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let at = match controlled(shell, args) {
        Ok(at) => at,
        Err(status) => return Ok(status),
    };
    let Some(job) = shell.jobs.list.get(at) else { return Ok(1) };
    let number = job.number;
    if job.stop().is_none() {
        shell.report_builtin_error(format!("job {number} already in background"));
        return Ok(0);
    }
    let mark = if shell.jobs.current() == Some(at) { "+" } else { " " };
    let line = [format!("[{number}]{mark} ").as_bytes(), &job.text, b" &\n"].concat();
    shell.continue_job(at);
    Ok(shell.print(line))
}

/// The index of the job for `fg` or `bg`, or the status if the job or job control is missing.
fn controlled(shell: &mut Shell, args: &[Bytes]) -> Result<usize, u8> {
    if !shell.options.monitor || shell.jobs.uncontrolled {
        shell.report_builtin_error("no job control");
        return Err(1);
    }
    let mut letters = Letters::of(args);
    if letters.next().is_some() {
        return Err(letters.invalid_option(shell));
    }
    shell.reap();
    let found = match letters.words().first() {
        Some(word) => named(shell, word),
        None => {
            let newest = shell.jobs.find(b"%+").ok();
            if newest.is_none() {
                shell.report_builtin_error("current: no such job");
            }
            newest
        }
    };
    let at = found.ok_or(1)?;
    if shell.jobs.inherited {
        shell.report_builtin_error("no current jobs");
        return Err(1);
    }
    if let Some(job) = shell.jobs.list.get(at).filter(|job| !job.grouped) {
        let number = job.number;
        shell.report_builtin_error(format!("job {number} started without job control"));
        return Err(1);
    }
    Ok(at)
}

pub(super) fn suspend(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        if letter != b'f' {
            return Ok(letters.invalid_option(shell));
        }
    }
    if !letters.words().is_empty() {
        return super::flow::too_many(shell);
    }
    shell.report_builtin_error("cannot suspend: no job control");
    Ok(1)
}

pub(super) fn logout(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    if !shell.options.login_shell {
        shell.report_builtin_error("not login shell: use `exit'");
        return Ok(1);
    }
    super::flow::exit(shell, args)
}
