//! Commands in terminals: PTY sessions of the daemon, which run a login shell.
//!
//! The shell runs a file that prints a mark and replaces the shell by the command. What the shell has printed before the
//! mark, its prompt and the echo, is dropped.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::lock::Mutex;
use serde::Deserialize;
use tidebox_core::shell_backend::quote;
use tidebox_core::{Error, ErrorKind, OutputStream, Result, TerminalSize};

use super::sandbox::DaytonaSandbox;
use super::wire::Toolbox;
use crate::data_plane::{Command, CommandOutcome, NewTerminal, TerminalControl, Terminals};
use crate::output::OutputCollector;
use crate::transport::socket::{Message, Receiver, Sender, UpgradeResult};
use crate::transport::{Client, Request, spawn, timeout};

/// Maximum output of the login shell before the command starts.
const MAX_GREETING_BYTES: usize = 1 << 20;

/// A session and its connection.
struct DaytonaTerminal {
    toolbox: Toolbox,
    client: Client,
    name: String,
    sender: Mutex<Box<dyn Sender>>,
}

impl std::fmt::Debug for DaytonaTerminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DaytonaTerminal").field("name", &self.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl TerminalControl for DaytonaTerminal {
    async fn write(&self, keys: Vec<u8>) -> Result<()> {
        self.sender.lock().await.send_bytes(keys).await
    }

    async fn resize(&self, size: TerminalSize) -> Result<()> {
        let reply = self.client.send(&self.toolbox.resize_terminal(&self.name, size)).await?;
        let is_gone = reply.status == 404;
        if reply.is_success() || is_gone {
            return Ok(());
        }
        let message = "Daytona did not change the size of the terminal";
        Err(Error::new(ErrorKind::Unavailable, "resize_process", message)
            .with_context("status", reply.status.to_string()))
    }
}

/// Deletes a session on drop, which kills its processes.
struct SessionGuard<'a> {
    sandbox: &'a DaytonaSandbox,
    name: &'a str,
}

impl Drop for SessionGuard<'_> {
    fn drop(&mut self) {
        let (client, delete) = (self.sandbox.client.clone(), self.sandbox.toolbox.delete_terminal(self.name));
        spawn(async move {
            // Ignore errors: it may have ended, and no caller is left to report to.
            let _ = client.send(&delete).await;
        });
    }
}

/// Drops everything up to the mark.
struct Greeting {
    mark: Vec<u8>,
    seen: Option<Vec<u8>>,
}

impl Greeting {
    /// Returns the output of the command in these bytes.
    fn pass(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        let Some(seen) = &mut self.seen else { return Ok(bytes) };
        seen.extend(bytes);
        if let Some(at) = seen.windows(self.mark.len()).position(|window| window == self.mark) {
            let rest = seen.split_off(at.saturating_add(self.mark.len()));
            self.seen = None;
            return Ok(rest);
        }
        if seen.len() <= MAX_GREETING_BYTES {
            return Ok(Vec::new());
        }
        let message = "the login shell of Daytona's terminal did not start the command";
        Err(Error::new(ErrorKind::Protocol, "spawn", message))
    }
}

/// The end of a session, in the reason of the close.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionEnd {
    exit_code: Option<i32>,
}

impl DaytonaSandbox {
    async fn checked(&self, request: Request) -> Result<()> {
        let reply = self.client.send(&request).await?;
        if reply.is_success() { Ok(()) } else { Err(self.response_error("spawn", reply).await?) }
    }

    async fn run_session(
        &self,
        name: &str,
        command: Command,
        terminal: NewTerminal,
        output: &mut OutputCollector<'_>,
    ) -> Result<CommandOutcome> {
        let mark = format!("\u{1e}{name}\u{1e}");
        let file = format!("/tmp/.{name}");
        // The mark is written in parts, because the file may be shown.
        let script = format!(
            "rm -f {file}; printf '\\036%s\\036' {name}; stty sane; exec {} -c {}\n",
            quote(&self.shell),
            quote(&command.script)
        );
        self.checked(self.toolbox.upload(vec![(file.clone(), Bytes::from(script))])).await?;
        self.checked(self.toolbox.create_terminal(name, &command, terminal.size)).await?;
        let socket = match self.client.open(&self.toolbox.connect_terminal(name)).await? {
            UpgradeResult::Open(socket) => socket,
            UpgradeResult::Rejected(reply) => return Err(self.response_error("spawn", reply).await?),
        };
        let mut sender = socket.sender;
        sender.send_bytes(format!(". {file}\r").into_bytes()).await?;
        let (toolbox, client) = (self.toolbox.clone(), self.client.clone());
        let control = DaytonaTerminal { toolbox, client, name: name.to_owned(), sender: Mutex::new(sender) };
        let greeting = Greeting { mark: mark.into_bytes(), seen: Some(Vec::new()) };
        follow(socket.receiver, greeting, (terminal, control), output).await
    }
}

/// Passes the output on until the session has ended.
async fn follow(
    mut receiver: Box<dyn Receiver>,
    mut greeting: Greeting,
    opened: (NewTerminal, DaytonaTerminal),
    output: &mut OutputCollector<'_>,
) -> Result<CommandOutcome> {
    let mut opened = Some(opened);
    loop {
        match receiver.next().await? {
            Some(Message::Binary(bytes)) => output.push(OutputStream::Stdout, &greeting.pass(bytes)?),
            // States of the connection.
            Some(Message::Text(_)) => {}
            Some(Message::Closed(_, reason)) => {
                let end: Option<SessionEnd> = serde_json::from_str(&reason).ok();
                let code = end.and_then(|end| end.exit_code).filter(|code| *code >= 0);
                return Ok(code.map_or(CommandOutcome::Unknown, CommandOutcome::Exit));
            }
            None => {
                let message = "the connection to the terminal was closed before the command exited";
                return Err(Error::new(ErrorKind::Unavailable, "spawn", message));
            }
        }
        // Keys that are typed earlier would go to the login shell.
        if greeting.seen.is_none()
            && let Some((terminal, control)) = opened.take()
        {
            // The process may be forgotten already.
            let _ = terminal.opened.send(Arc::new(control));
        }
    }
}

#[async_trait]
impl Terminals for DaytonaSandbox {
    async fn run_in_terminal(
        &self,
        command: Command,
        terminal: NewTerminal,
        output: &mut OutputCollector<'_>,
    ) -> Result<CommandOutcome> {
        let name = format!("tidebox-{:016x}", fastrand::u64(..));
        let _session = SessionGuard { sandbox: self, name: &name };
        let time = command.timeout;
        let ran = timeout(time, self.run_session(&name, command, terminal, output)).await;
        ran.unwrap_or(Ok(CommandOutcome::Timeout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_before_the_mark_is_dropped() {
        let mut greeting = Greeting { mark: b"\x1em\x1e".to_vec(), seen: Some(Vec::new()) };
        let mut pass =
            |bytes: &[u8]| greeting.pass(bytes.to_vec()).map(|rest| String::from_utf8_lossy(&rest).into_owned());
        assert_eq!(pass(b"user@box:~$ . /tmp/.m\r\n").ok().as_deref(), Some(""));
        assert_eq!(pass(b"\x1em").ok().as_deref(), Some(""));
        assert_eq!(pass(b"\x1efirst").ok().as_deref(), Some("first"));
        assert_eq!(pass(b"\x1em\x1e").ok().as_deref(), Some("\x1em\x1e"));
        let mut greeting = Greeting { mark: b"\x1em\x1e".to_vec(), seen: Some(Vec::new()) };
        assert!(greeting.pass(vec![b'x'; MAX_GREETING_BYTES + 1]).is_err());
    }
}
