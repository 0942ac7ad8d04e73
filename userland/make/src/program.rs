//! Execution of recipe commands and of commands whose output is used in the makefile.

use tidebox_gnu::command::{Command, wait};
use tidebox_rt::{Errno, ExitStatus, Fd};

use crate::Make;
use crate::command::arguments_without_shell;
use crate::failure::Stop;
use crate::variable::{Origin, Variable};
use crate::words::{trim, words};

impl Make {
    /// Runs a program and waits for it. If it cannot be started, reports the error and returns its exit code.
    pub(super) fn run_program(
        &mut self,
        argv: &[Vec<u8>],
        environment: &[Vec<u8>],
        fds: &[(Fd, Fd)],
    ) -> Result<ExitStatus, u8> {
        let arguments: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let command = Command { environment: Some(environment), descriptors: fds, ..Command::new(&arguments) };
        match command.run() {
            Ok(status) => Ok(status),
            Err(error) => Err(self.cannot_start(&arguments, error)),
        }
    }

    fn cannot_start(&mut self, arguments: &[&[u8]], error: Errno) -> u8 {
        let name = String::from_utf8_lossy(arguments.first().copied().unwrap_or_default()).into_owned();
        self.error(&format!("{name}: {}", error.text()));
        127
    }

    /// The arguments of the program that runs a line: the command's own or the shell's.
    pub(super) fn argv(&mut self, command: &[u8]) -> Result<Vec<Vec<u8>>, Stop> {
        let shell = self.value(b"SHELL")?;
        let flags = self.value(b".SHELLFLAGS")?;
        let shell = if trim(&shell).is_empty() { b"/bin/sh".to_vec() } else { shell };
        let plain = trim(&shell) == b"/bin/sh" && matches!(trim(&flags), b"-c" | b"-ec") && !self.one_shell;
        if plain && let Some(argv) = arguments_without_shell(command) {
            return Ok(argv);
        }
        let mut argv: Vec<Vec<u8>> = words(&shell).map(<[u8]>::to_vec).collect();
        argv.extend(words(&flags).map(<[u8]>::to_vec));
        argv.push(command.to_vec());
        Ok(argv)
    }

    /// Output of a command. Sets `.SHELLSTATUS` to its exit code.
    pub(crate) fn output_of(&mut self, command: &[u8]) -> Result<Vec<u8>, Stop> {
        let command = command.strip_prefix(b"\n").unwrap_or(command);
        if trim(command).is_empty() {
            return Ok(Vec::new());
        }
        self.announce();
        let argv = self.argv(trim(command))?;
        let environment = self.shell_environment.clone();
        let arguments: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let Ok((read, write)) = tidebox_rt::pipe() else {
            return Err(self.fatal("pipe: Too many open files".to_owned()));
        };
        let fds: &[(Fd, Fd)] = &[(0, 0), (1, write), (2, 2)];
        let command = Command { environment: Some(&environment), descriptors: fds, ..Command::new(&arguments) };
        let started = command.spawn();
        // EOF arrives only after all write ends are closed.
        let _ = tidebox_rt::close(write);
        let output = tidebox_gnu::stream::Input::of(read).read_to_end().unwrap_or_default();
        let status = match started {
            Ok(pid) => wait(pid).map_or(1, ExitStatus::code),
            Err(error) => self.cannot_start(&arguments, error),
        };
        let status = Variable::new(status.to_string(), false, Origin::Override);
        self.globals.insert(b".SHELLSTATUS".to_vec(), status);
        Ok(output)
    }
}
