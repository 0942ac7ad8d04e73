//! `tidebox shell`: an interactive session in one sandbox.

mod input;

use anyhow::Result;
use tidebox::{ExecuteRequest, SandboxBackend, SandboxPath};
use tokio::runtime::Runtime;
use tokio::signal;

use crate::arguments::Setting;
use crate::exec::{self, Ended};
use crate::session;
use input::{Input, Line};

/// As a shell reports a command that Ctrl-C ended.
const INTERRUPTED: u8 = 128 + 2;

/// Where a line leaves its last working directory for the next one. A file, because a response has no place for it.
const CWD_FILE: &str = "/tmp/.tidebox-shell-cwd";

/// What bash says about a text that ends too early.
const UNFINISHED: [&str; 3] = ["unexpected end of file", "unexpected EOF while", "delimited by end-of-file"];

/// Reads and runs lines until the end of input, and returns the exit code of the last one.
pub(crate) fn shell(setting: Setting) -> Result<u8> {
    let runtime = session::runtime()?;
    let sandbox = session::open(&setting)?;
    let mut shell = Shell { runtime: &runtime, sandbox: &*sandbox, setting, last: 0 };
    let mut input = Input::open()?;
    input.greet("Files and the working directory persist between lines. Ctrl-C ends a command, Ctrl-D the session.");
    loop {
        let text = match input.read(&shell.prompt(), |text| shell.is_unfinished(text))? {
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

struct Shell<'a> {
    runtime: &'a Runtime,
    sandbox: &'a dyn SandboxBackend,
    /// Its directory moves with `cd`.
    setting: Setting,
    last: u8,
}

impl Shell<'_> {
    fn prompt(&self) -> String {
        format!("tidebox:{}$ ", self.setting.cwd.as_deref().unwrap_or(session::WORKSPACE))
    }

    /// Whether the shell inside would go on reading: an open quote, a loop or a here-document without its end.
    fn is_unfinished(&self, text: &str) -> bool {
        let request = ExecuteRequest::new("sh -n -c \"$TEXT\"").with_env("TEXT", text);
        self.runtime.block_on(self.sandbox.execute(request)).is_ok_and(|response| {
            let complaint = response.stderr_text();
            UNFINISHED.iter().any(|end| complaint.contains(end))
        })
    }

    /// Runs a line, its output going to ours, and takes over the directory that it ends in.
    fn run(&mut self, text: &str) -> Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        // On the same line, so that the shell counts lines as the user does.
        let command = format!("trap '[ -d \"$PWD\" ] && pwd >{CWD_FILE} || : >{CWD_FILE}' EXIT; {text}");
        let request = session::request(&self.setting, command)?;
        let interrupt = async {
            // Without a handler Ctrl-C would end the whole session, which is what the caller gets then.
            if signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        match self.runtime.block_on(exec::stream(self.sandbox, request, interrupt))? {
            Ended::Response(response) => self.last = session::exit_code(&response)?,
            Ended::Stopped => {
                self.last = INTERRUPTED;
                eprintln!();
            }
            Ended::ReaderGone => anyhow::bail!("nobody reads the output of this session any more"),
        }
        self.follow()
    }

    /// Reads where the last line ended. A line that could not say so leaves the directory as it was.
    fn follow(&mut self) -> Result<()> {
        let results = self.runtime.block_on(self.sandbox.download_files(vec![CWD_FILE.into()]))?;
        for download in results {
            let Ok(bytes) = download.result else { continue };
            let path = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
            if path.is_empty() {
                eprintln!("tidebox: the working directory is gone; going back to {}", session::WORKSPACE);
                self.setting.cwd = None;
            } else if let (Ok(text), Ok(_)) = (std::str::from_utf8(path), SandboxPath::parse(path)) {
                self.setting.cwd = Some(text.to_owned());
            }
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
