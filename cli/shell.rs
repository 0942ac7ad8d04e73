//! `tidebox shell`: an interactive session in one sandbox. State is kept by the sandbox's shell session.

mod commands;
mod completion;
mod input;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::{ExecuteRequest, ExecuteResponse, Limits, Sandbox, SandboxBackend as _, ShellMode, Snapshot};
use anyhow::{Result, bail};

use crate::cli::args::SandboxArgs;
use crate::cli::exec::{self, StreamEnd};
use crate::cli::exit_code;
use crate::cli::sandbox;
use completion::{Session, SessionHelper};
use input::{Input, Line};

/// Messages of bash for incomplete input.
const INCOMPLETE_MESSAGES: [&str; 3] = ["unexpected end of file", "unexpected EOF while", "delimited by end-of-file"];

/// Reads and runs lines until the end of input, and returns the exit code of the last one.
pub(crate) fn shell(options: SandboxArgs) -> Result<u8> {
    let session = Rc::new(Session::new(sandbox::runtime()?, Arc::new(open(&options)?)));
    let mut input = Input::open(SessionHelper::new(Rc::clone(&session)))?;
    let mut shell = Shell::new(session, &options);
    if let Some(cwd) = &options.cwd {
        shell.change_dir(cwd)?;
    }
    shell.remember_start()?;
    input.print_banner(
        "Files, the working directory, variables, functions and aliases persist between lines. Tab completes, Ctrl-C \
         stops a command, Ctrl-D ends the session, :help lists more.",
    );
    loop {
        let text = match input.read(&shell.prompt()?, |text| shell.is_unfinished(text))? {
            Line::Text(text) => text,
            Line::Cancelled => continue,
            Line::End => return Ok(shell.last),
        };
        match parse_exit(&text) {
            Some(code) => return Ok(code.unwrap_or(shell.last)),
            None if commands::is_command(&text) => shell.run_command(&text)?,
            None => shell.run(&text)?,
        }
    }
}

/// Returns the exit code if a line only leaves the session: `exit`, `exit N` or `logout`.
fn parse_exit(text: &str) -> Option<Option<u8>> {
    let mut words = text.split_whitespace();
    match (words.next()?, words.next(), words.next()) {
        ("exit" | "logout", None, _) => Some(None),
        ("exit", Some(code), None) => code.parse().ok().map(Some),
        _ => None,
    }
}

/// Creates a sandbox with a persistent shell session. Variables of the options belong to the sandbox, so that a line may change
/// them.
fn open(options: &SandboxArgs) -> Result<Sandbox> {
    let variables = options.env.iter();
    let sandbox = variables.fold(sandbox::builder(options)?, |sandbox, (name, value)| sandbox.env(name, value));
    Ok(sandbox.shell_mode(ShellMode::Persistent).build()?)
}

struct Shell {
    session: Rc<Session>,
    /// Timeout of each line.
    timeout: Option<Duration>,
    limits: Limits,
    last: u8,
    /// `:time on`
    shows_time: bool,
    snapshots: BTreeMap<String, Snapshot>,
    /// The originals of the current copy, the first one first.
    originals: Vec<Arc<Sandbox>>,
}

impl Shell {
    fn new(session: Rc<Session>, options: &SandboxArgs) -> Self {
        let (snapshots, originals) = (BTreeMap::new(), Vec::new());
        Self {
            session,
            timeout: options.timeout,
            limits: options.limits(),
            last: 0,
            shows_time: false,
            snapshots,
            originals,
        }
    }

    fn execute(&self, request: ExecuteRequest) -> crate::Result<ExecuteResponse> {
        self.session.runtime.block_on(self.session.sandbox().execute(request))
    }

    /// Changes the session to the directory of `--cwd`.
    fn change_dir(&self, cwd: &str) -> Result<()> {
        let request = ExecuteRequest::new("cd -- \"$DIR\"; unset OLDPWD; export OLDPWD").with_env("DIR", cwd);
        let moved = self.execute(request)?;
        if !moved.stderr.is_empty() {
            bail!("cannot start in {cwd}: {}", moved.stderr_text().trim_end());
        }
        Ok(())
    }

    /// Returns the prompt with the working directory of the session. Prints an error if the directory was deleted.
    fn prompt(&self) -> Result<String> {
        let response = self.execute(ExecuteRequest::new("builtin pwd"))?;
        eprint!("{}", response.stderr_text());
        let copy = "+".repeat(self.originals.len());
        Ok(format!("tidebox{copy}:{}$ ", response.stdout_text().trim_end_matches('\n')))
    }

    /// Returns whether the shell would read more: an open quote, loop or here-document.
    fn is_unfinished(&self, text: &str) -> bool {
        if commands::is_command(text) {
            return false;
        }
        let request =
            ExecuteRequest::new("sh -n -c \"$TEXT\"").with_env("TEXT", text).with_shell_mode(ShellMode::Fresh);
        self.execute(request).is_ok_and(|response| {
            let message = response.stderr_text();
            INCOMPLETE_MESSAGES.iter().any(|end| message.contains(end))
        })
    }

    /// Runs a line and prints its output.
    fn run(&mut self, text: &str) -> Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let mut request = ExecuteRequest::new(text);
        request.timeout = self.timeout;
        let sandbox = self.session.sandbox();
        match self.session.runtime.block_on(exec::stream(&*sandbox, request, exec::interrupt()))? {
            StreamEnd::Response(response) => {
                if self.shows_time {
                    commands::print_figures(&response);
                }
                self.last = sandbox::exit_code(&response)?;
            }
            StreamEnd::Stopped => {
                self.last = exit_code::INTERRUPTED;
                eprintln!();
            }
            StreamEnd::OutputClosed => bail!("cannot continue the session: its output was closed"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::parse_exit;

    #[test]
    fn only_exit_and_logout_leave_the_session() {
        assert_eq!(parse_exit("exit"), Some(None));
        assert_eq!(parse_exit("  exit 3 "), Some(Some(3)));
        assert_eq!(parse_exit("logout"), Some(None));
        for stays in ["", "exit 3 4", "exit now", "exit 300", "exit; echo", "echo exit"] {
            assert_eq!(parse_exit(stays), None, "{stays:?}");
        }
    }
}
