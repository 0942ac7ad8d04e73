//! Checkpoints: messages and actions after a number of records.

use tidebox_gnu::command::Command;

use crate::message::warn;

/// Default number of records between two checkpoints.
const DEFAULT: u64 = 10;

/// A checkpoint action.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Bell,
    Dot,
    /// A message, with optional custom text.
    Say(Option<Vec<u8>>),
    Run(Vec<u8>),
    Sleep(u64),
    Totals,
}

/// The interval in records, and the actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoints {
    every: u64,
    actions: Vec<Action>,
    /// Number of the last checkpoint.
    last: u64,
}

impl Checkpoints {
    /// Returns the checkpoints of the options, created on first use.
    pub(crate) fn of(slot: &mut Option<Self>) -> &mut Self {
        slot.get_or_insert_with(|| Self { every: DEFAULT, actions: Vec::new(), last: 0 })
    }

    /// `--checkpoint=N`; `.N` prints dots.
    pub(crate) fn every(&mut self, text: &str) -> Result<(), Vec<u8>> {
        let digits = text.strip_prefix('.').unwrap_or(text);
        if digits.len() < text.len() {
            self.actions.push(Action::Dot);
        }
        if !digits.is_empty() {
            let number = digits.parse().ok().filter(|number| *number > 0);
            self.every = number.ok_or_else(|| b"--checkpoint value is not an integer".to_vec())?;
        }
        Ok(())
    }

    /// `--checkpoint-action=ACTION`.
    pub(crate) fn action(&mut self, text: &[u8]) -> Result<(), Vec<u8>> {
        let sleep = |value: &[u8]| std::str::from_utf8(value).ok()?.parse().ok();
        let action = match text {
            b"." | b"dot" => Action::Dot,
            b"bell" => Action::Bell,
            b"echo" => Action::Say(None),
            b"totals" => Action::Totals,
            _ => {
                let unknown = || [text, b": unknown checkpoint action"].concat();
                let at = text.iter().position(|byte| *byte == b'=').ok_or_else(unknown)?;
                let value = text.get(at + 1..).unwrap_or_default();
                match text.get(..at).unwrap_or_default() {
                    b"echo" => Action::Say(Some(value.to_vec())),
                    b"exec" => Action::Run(value.to_vec()),
                    b"sleep" => Action::Sleep(sleep(value).ok_or_else(|| [text, b": not a valid timeout"].concat())?),
                    b"ttyout" | b"wait" => {
                        return Err([text, b": this checkpoint action is not supported by this tar"].concat());
                    }
                    _ => return Err(unknown()),
                }
            }
        };
        self.actions.push(action);
        Ok(())
    }

    /// Updates the number of records read or written.
    pub(crate) fn reached(&mut self, records: u64, writes: bool, bytes: u64) {
        let number = records - records % self.every;
        while self.last < number {
            self.last += self.every;
            let at = self.last;
            if self.actions.is_empty() {
                say(at, writes, None, bytes);
            }
            for action in &self.actions {
                match action {
                    // Ignore errors: the descriptor may be closed.
                    Action::Bell => drop(tidebox_rt::write_all(2, b"\x07")),
                    Action::Dot => drop(tidebox_rt::write_all(1, b".")),
                    Action::Say(text) => say(at, writes, text.as_deref(), bytes),
                    Action::Run(command) => run(command, at),
                    Action::Sleep(seconds) => std::thread::sleep(std::time::Duration::from_secs(*seconds)),
                    Action::Totals => {
                        let what: &[u8] = if writes { b"written" } else { b"read" };
                        crate::totals(what, bytes, 0);
                    }
                }
            }
        }
    }
}

fn say(number: u64, writes: bool, text: Option<&[u8]>, bytes: u64) {
    let Some(text) = text else {
        let what = if writes { "Write" } else { "Read" };
        warn(&[format!("{what} checkpoint {number}").as_bytes()]);
        return;
    };
    let mut out = Vec::new();
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        match (byte, if *byte == b'%' { rest.next() } else { None }) {
            (b'%', Some(b'u')) => out.extend_from_slice(number.to_string().as_bytes()),
            (b'%', Some(b's')) => out.extend_from_slice(if writes { b"write" } else { b"read" }),
            (b'%', Some(b'%')) => out.push(b'%'),
            (b'%', Some(b'b')) => out.extend_from_slice(bytes.to_string().as_bytes()),
            (b'%', Some(other)) => out.extend_from_slice(&[b'%', *other]),
            (byte, _) => out.push(*byte),
        }
    }
    warn(&[&out]);
}

/// Runs a shell command; environment variables describe the state of the run.
fn run(command: &[u8], number: u64) {
    let mut environment = tidebox_rt::environ();
    environment.push(format!("TAR_CHECKPOINT={number}").into_bytes());
    environment.push(b"TAR_VERSION=1.34".to_vec());
    let arguments: [&[u8]; 3] = [b"/bin/sh", b"-c", command];
    let command = Command { environment: Some(&environment), ..Command::new(&arguments) };
    if let Err(errno) = command.run() {
        warn(&[b"/bin/sh: Cannot exec: ", errno.text().as_bytes()]);
    }
}
