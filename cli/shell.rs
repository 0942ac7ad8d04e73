//! `tidebox shell`: an interactive session in one sandbox. What lasts from line to line is the sandbox's own shell
//! session.

mod input;

use std::time::Duration;

use anyhow::{Result, bail};
use tidebox::{ExecuteRequest, Sandbox, SandboxBackend, ShellMode};
use tokio::runtime::Runtime;
use tokio::signal;

use crate::arguments::Setting;
use crate::exec::{self, Ended};
use crate::session;
use input::{Input, Line};

/// As a shell reports a command that Ctrl-C ended.
const INTERRUPTED: u8 = 128 + 2;

/// What bash says about a text that ends too early.
const UNFINISHED: [&str; 3] = ["unexpected end of file", "unexpected EOF while", "delimited by end-of-file"];

/// Reads and runs lines until the end of input, and returns the exit code of the last one.
pub(crate) fn shell(setting: Setting) -> Result<u8> {
    let runtime = session::runtime()?;
    let mut shell = Shell { runtime: &runtime, sandbox: open(&setting)?, timeout: setting.timeout, last: 0 };
    if let Some(cwd) = &setting.cwd {
        shell.start_in(cwd)?;
    }
    let mut input = Input::open()?;
    input.greet(
        "Files, the working directory, variables, functions and aliases persist between lines. Ctrl-C ends a command, \
         Ctrl-D the session.",
    );
    loop {
        let text = match input.read(&shell.prompt()?, |text| shell.is_unfinished(text))? {
            Line::Text(text) => text,
            Line::Dropped => continue,
            Line::End => return Ok(shell.last),
        };
        match leaving(&text) {
            Some(code) => return Ok(code.unwrap_or(shell.last)),
            None => shell.run(&text)?,
        }
    }
}

/// The exit code when a line asks to leave the session: `exit`, `exit N` or `logout` alone.
fn leaving(text: &str) -> Option<Option<u8>> {
    let mut words = text.split_whitespace();
    match (words.next()?, words.next(), words.next()) {
        ("exit" | "logout", None, _) => Some(None),
        ("exit", Some(code), None) => code.parse().ok().map(Some),
        _ => None,
    }
}

/// A sandbox whose commands make one session. The options' variables are the sandbox's, so that a line may change them.
fn open(setting: &Setting) -> Result<Sandbox> {
    let variables = setting.env.iter();
    let sandbox = variables.fold(session::builder(setting)?, |sandbox, (name, value)| sandbox.env(name, value));
    Ok(sandbox.shell_mode(ShellMode::Persistent).build()?)
}

struct Shell<'a> {
    runtime: &'a Runtime,
    sandbox: Sandbox,
    /// For each line.
    timeout: Option<Duration>,
    last: u8,
}

impl Shell<'_> {
    /// Moves the session to the directory of `--cwd`.
    fn start_in(&self, cwd: &str) -> Result<()> {
        let request = ExecuteRequest::new("cd -- \"$DIR\"; unset OLDPWD; export OLDPWD").with_env("DIR", cwd);
        let moved = self.runtime.block_on(self.sandbox.execute(request))?;
        if !moved.stderr.is_empty() {
            bail!("cannot start in {cwd}: {}", moved.stderr_text().trim_end());
        }
        Ok(())
    }

    /// The prompt shows where the session is, which only the session knows. A directory that is gone is told here.
    fn prompt(&self) -> Result<String> {
        let response = self.runtime.block_on(self.sandbox.execute(ExecuteRequest::new("builtin pwd")))?;
        eprint!("{}", response.stderr_text());
        Ok(format!("tidebox:{}$ ", response.stdout_text().trim_end_matches('\n')))
    }

    /// Whether the shell inside would go on reading: an open quote, a loop or a here-document without its end.
    fn is_unfinished(&self, text: &str) -> bool {
        let request =
            ExecuteRequest::new("sh -n -c \"$TEXT\"").with_env("TEXT", text).with_shell_mode(ShellMode::Fresh);
        self.runtime.block_on(self.sandbox.execute(request)).is_ok_and(|response| {
            let complaint = response.stderr_text();
            UNFINISHED.iter().any(|end| complaint.contains(end))
        })
    }

    /// Runs a line, its output going to ours.
    fn run(&mut self, text: &str) -> Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let mut request = ExecuteRequest::new(text);
        request.timeout = self.timeout;
        let interrupt = async {
            // Without a handler Ctrl-C would end the whole session, which is what the caller gets then.
            if signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        match self.runtime.block_on(exec::stream(&self.sandbox, request, interrupt))? {
            Ended::Response(response) => self.last = session::exit_code(&response)?,
            Ended::Stopped => {
                self.last = INTERRUPTED;
                eprintln!();
            }
            Ended::ReaderGone => bail!("nobody reads the output of this session any more"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::leaving;

    #[test]
    fn a_session_is_left_by_exit_alone() {
        assert_eq!(leaving("exit"), Some(None));
        assert_eq!(leaving("  exit 3 "), Some(Some(3)));
        assert_eq!(leaving("logout"), Some(None));
        for stays in ["", "exit 3 4", "exit now", "exit 300", "exit; echo", "echo exit"] {
            assert_eq!(leaving(stays), None, "{stays:?}");
        }
    }
}
