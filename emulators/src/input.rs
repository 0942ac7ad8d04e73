//! Standard input of running commands: a FIFO in the sandbox.

use std::sync::Arc;
use std::time::Duration;

use tidebox_core::{ExecuteRequest, SandboxBackend, SandboxPath};

/// Maximum duration of a command with standard input.
const MAX_LENGTH: Duration = Duration::from_secs(48 * 60 * 60);

/// Maximum time until a command reads what is sent to it.
const SEND_TIME: Duration = Duration::from_secs(60);

/// Standard input of one command. It stays open until it is closed or the command ends.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    sandbox: Arc<dyn SandboxBackend>,
    fifo: String,
    /// Holds the FIFO open for writing.
    writer: tokio::task::AbortHandle,
    /// Held while bytes are sent.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Input {
    /// Creates the FIFO.
    ///
    /// # Errors
    /// The message of a failed command.
    pub(crate) async fn open(sandbox: &Arc<dyn SandboxBackend>) -> Result<Self, String> {
        let fifo = format!("/tmp/.stdin-{:016x}", fastrand::u64(..));
        run(sandbox, format!("mkfifo -m 600 {fifo}"), Vec::new(), SEND_TIME).await?;
        let (held, hold) = (Arc::clone(sandbox), format!("exec 9>{fifo}; sleep infinity"));
        // It ends with the input, or with the sandbox.
        let writer = tokio::spawn(async move { run(&held, hold, Vec::new(), MAX_LENGTH).await });
        Ok(Self { sandbox: Arc::clone(sandbox), fifo, writer: writer.abort_handle(), turn: Arc::default() })
    }

    /// Returns a command line that reads this input.
    pub(crate) fn redirect(&self, line: &str) -> String {
        format!("exec <{}; {line}", self.fifo)
    }

    /// Sends bytes. Returns once the command has received them, or its pipe holds them.
    ///
    /// # Errors
    /// The message of a failed command.
    pub(crate) async fn send(&self, bytes: Vec<u8>) -> Result<(), String> {
        let _turn = self.turn.lock().await;
        if self.writer.is_finished() {
            return Err("the standard input is closed".to_owned());
        }
        run(&self.sandbox, format!("cat >{}", self.fifo), bytes, SEND_TIME).await
    }

    /// Ends the input, after the bytes that are being sent.
    pub(crate) async fn close(&self) {
        let _turn = self.turn.lock().await;
        // A reader that has not opened the FIFO yet would wait for a writer. If this fails, the command has ended.
        let _ = run(&self.sandbox, format!(": >{}", self.fifo), Vec::new(), SEND_TIME).await;
        self.writer.abort();
    }

    /// Removes the FIFO after the end of the command.
    pub(crate) async fn remove(&self) {
        self.writer.abort();
        // The sandbox may be closed.
        let _ = run(&self.sandbox, format!("rm -f {}", self.fifo), Vec::new(), SEND_TIME).await;
    }
}

async fn run(sandbox: &Arc<dyn SandboxBackend>, command: String, stdin: Vec<u8>, time: Duration) -> Result<(), String> {
    let request = ExecuteRequest::new(command).with_cwd(SandboxPath::root()).with_stdin(stdin).with_timeout(time);
    let response = sandbox.execute(request).await.map_err(|error| error.to_string())?;
    match response.exit_code {
        Some(0) => Ok(()),
        _ => Err(response.stderr_text().trim_end().to_owned()),
    }
}
