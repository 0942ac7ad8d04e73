//! Execution of the commands.

use std::io::{BufRead, BufReader, Write};

use tidebox_gnu::command::Command;
use tidebox_gnu::message::{path_label, print_error};
use tidebox_rt::{Errno, ExitStatus, Fd, Open, WaitResult};

use crate::options::Options;

/// Runs commands, in parallel if requested.
pub(crate) struct Runner<'a> {
    options: &'a Options,
    /// Process ids by slot; a free slot is `None`.
    running: Vec<Option<u32>>,
    code: i32,
    /// No further command is started.
    stopped: bool,
    /// Standard input of the commands.
    input: Option<Fd>,
    answers: Option<BufReader<std::fs::File>>,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self { options, running: Vec::new(), code: 0, stopped: false, input: None, answers: None }
    }

    /// Records an exit code; the first one is kept.
    pub(crate) fn fail(&mut self, code: i32) {
        if self.code == 0 {
            self.code = code;
        }
    }

    /// Starts a command once a slot is free. Returns `false` if no further command may start.
    pub(crate) fn start(&mut self, words: &[Vec<u8>]) -> bool {
        let most = if self.options.parallel == 0 { usize::MAX } else { self.options.parallel };
        while self.running.iter().flatten().count() >= most {
            self.wait();
        }
        if self.stopped || !self.announce(words) {
            return !self.stopped;
        }
        loop {
            match self.spawn(words) {
                Ok(()) => break,
                // Retry after a command exits.
                Err(Errno::AGAIN) if self.running.iter().any(Option::is_some) => self.wait(),
                Err(error) => {
                    self.cannot_run(words, error);
                    break;
                }
            }
        }
        if self.options.parallel == 1 {
            while self.running.iter().any(Option::is_some) {
                self.wait();
            }
        }
        !self.stopped
    }

    fn cannot_run(&mut self, words: &[Vec<u8>], error: Errno) {
        let name = String::from_utf8_lossy(words.first().map_or(b"".as_slice(), Vec::as_slice)).into_owned();
        print_error("xargs", &format!("{name}: {}", error.text()));
        self.fail(if error == Errno::NOENT { 127 } else { 126 });
        self.stopped = true;
    }

    fn spawn(&mut self, words: &[Vec<u8>]) -> Result<(), Errno> {
        let input = match self.input {
            Some(input) => input,
            None => *self.input.insert(self.open_input()?),
        };
        let slot = self.running.iter().position(Option::is_none).unwrap_or(self.running.len());
        let environment = self.options.slot_variable.as_ref().map(|name| {
            let mut environment = tidebox_rt::environ();
            environment.retain(|entry| !entry.strip_prefix(name.as_slice()).is_some_and(|rest| rest.starts_with(b"=")));
            environment.push([name.as_slice(), b"=", slot.to_string().as_bytes()].concat());
            environment
        });
        let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let descriptors = [(0, input), (1, 1), (2, 2)];
        let command =
            Command { environment: environment.as_deref(), descriptors: &descriptors, ..Command::new(&arguments) };
        let pid = command.spawn()?;
        match self.running.get_mut(slot) {
            Some(free) => *free = Some(pid),
            None => self.running.push(Some(pid)),
        }
        Ok(())
    }

    /// Returns the standard input of commands: empty, the terminal, or standard input if items come from a file.
    fn open_input(&self) -> Result<Fd, Errno> {
        let read = Open { read: true, ..Open::default() };
        if self.options.terminal {
            return tidebox_rt::open(b"/dev/tty", read);
        }
        if self.options.file.is_some() {
            return Ok(0);
        }
        tidebox_rt::open(b"/dev/null", read)
    }

    fn wait(&mut self) {
        match tidebox_rt::wait(-1, true) {
            Ok(Some(waited)) => self.ended(waited),
            Ok(None) | Err(Errno::INTR) => {}
            // No child process is left; clear the list.
            Err(_) => self.running.clear(),
        }
    }

    fn ended(&mut self, waited: WaitResult) {
        let Some(slot) = self.running.iter_mut().find(|slot| **slot == Some(waited.pid)) else {
            return;
        };
        *slot = None;
        let name = String::from_utf8_lossy(self.options.command.first().map_or(b"".as_slice(), Vec::as_slice));
        match waited.status {
            ExitStatus::Exited(0) => {}
            ExitStatus::Exited(255) => {
                print_error("xargs", &format!("{name}: exited with status 255; aborting"));
                self.fail(124);
                self.stopped = true;
            }
            ExitStatus::Exited(_) => self.fail(123),
            ExitStatus::Killed(signal) => {
                print_error("xargs", &format!("{name}: terminated by signal {signal}"));
                self.fail(125);
                self.stopped = true;
            }
        }
    }

    /// Prints the command with `-t`, and prompts with `-p`. Returns whether to run it.
    fn announce(&mut self, words: &[Vec<u8>]) -> bool {
        if !self.options.prints {
            return true;
        }
        let mut line: Vec<u8> = words.iter().map(|word| path_label(word).into_bytes()).collect::<Vec<_>>().join(&b' ');
        if !self.options.prompts {
            line.push(b'\n');
        }
        // Ignore the error: stderr may be closed.
        let _ = std::io::stderr().write_all(&line);
        !self.options.prompts || self.is_allowed()
    }

    fn is_allowed(&mut self) -> bool {
        if self.answers.is_none() {
            match std::fs::File::open("/dev/tty") {
                Ok(terminal) => self.answers = Some(BufReader::new(terminal)),
                Err(error) => {
                    let reason = tidebox_gnu::message::error_text(&error);
                    print_error("xargs", &format!("failed to open /dev/tty for reading: {reason}"));
                    self.fail(1);
                    self.stopped = true;
                    return false;
                }
            }
        }
        tidebox_gnu::eprint_part!("?...");
        let mut answer = String::new();
        let read = self.answers.as_mut().is_some_and(|answers| answers.read_line(&mut answer).is_ok());
        read && answer.starts_with(['y', 'Y'])
    }

    /// Waits for all commands and returns the exit code.
    pub(crate) fn end(mut self) -> i32 {
        while self.running.iter().any(Option::is_some) {
            self.wait();
        }
        self.code
    }
}
