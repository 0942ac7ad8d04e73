//! A process in a terminal, and its output for clients.

use std::time::Duration;

use tidebox_core::{
    OutputCursor, Process, ProcessState, ReadOutput, Result, SandboxBackend, SandboxPath, SpawnRequest, TerminalSize,
};

/// Time for which one read waits for output.
const LONG_POLL: Duration = Duration::from_secs(20);

/// A process to start in a terminal.
#[derive(Debug)]
pub(crate) struct NewTerminal {
    /// Program and arguments.
    pub(crate) arguments: Vec<String>,
    pub(crate) cwd: SandboxPath,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) size: TerminalSize,
    pub(crate) timeout: Duration,
}

/// A process in a terminal.
#[derive(Clone, Debug)]
pub(crate) struct Terminal(Process);

impl Terminal {
    /// Starts the process.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::spawn`].
    pub(crate) async fn start(sandbox: &std::sync::Arc<dyn SandboxBackend>, new: NewTerminal) -> Result<Self> {
        let mut request = SpawnRequest::from_arguments(new.arguments)?
            .with_cwd(new.cwd)
            .with_timeout(new.timeout)
            .with_terminal(new.size);
        request.env = new.env;
        Process::spawn(std::sync::Arc::clone(sandbox), request).await.map(Self)
    }

    /// Returns the output after a cursor, or waits for some. Empty output with an ended state is the end.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::read_process`].
    pub(crate) async fn read(&self, after: &mut OutputCursor) -> Result<(Vec<u8>, ProcessState)> {
        let page = self.0.read(ReadOutput::after(*after).with_wait(LONG_POLL)).await?;
        *after = page.next;
        Ok((page.bytes(), page.state))
    }

    /// Returns the position after all output until now.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::read_process`].
    pub(crate) async fn position(&self) -> Result<OutputCursor> {
        self.0.read(ReadOutput::after(OutputCursor::new(u64::MAX))).await.map(|page| page.next)
    }

    /// Types keys.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::write_process`].
    pub(crate) async fn write(&self, keys: &[u8]) -> Result<()> {
        self.0.write_all(keys).await
    }

    /// Changes the size.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::resize_process`].
    pub(crate) async fn resize(&self, size: TerminalSize) -> Result<()> {
        self.0.resize(size).await
    }

    /// Kills the process.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::signal_process`].
    pub(crate) async fn kill(&self) -> Result<()> {
        self.0.kill().await
    }

    /// Asks the process to end.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::signal_process`].
    pub(crate) async fn terminate(&self) -> Result<()> {
        self.0.signal(tidebox_core::ProcessSignal::Term).await
    }
}
