//! Standard input of running commands: a FIFO in the sandbox.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use tidebox_core::{ExecuteRequest, SandboxBackend, SandboxPath};
use tokio::sync::{mpsc, watch};

/// Maximum duration of a command with standard input. A command that does not read may block a write this long.
const MAX_LENGTH: Duration = Duration::from_secs(48 * 60 * 60);

/// Maximum duration of commands that create, close and remove the FIFO.
const SHORT_TIME: Duration = Duration::from_secs(60);

/// Standard input of one command. It stays open until it is closed or the command ends.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    sandbox: Arc<dyn SandboxBackend>,
    fifo: String,
    /// Holds the FIFO open for writing.
    writer: tokio::task::AbortHandle,
    /// Held while bytes are sent.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// True after the end of the command.
    over: Arc<watch::Sender<bool>>,
}

impl Input {
    /// Creates the FIFO and opens it for writing, so that no other writer is the last one.
    ///
    /// # Errors
    /// The message of a failed command.
    pub(crate) async fn open(sandbox: &Arc<dyn SandboxBackend>) -> Result<Self, String> {
        let fifo = format!("/tmp/.stdin-{:016x}", fastrand::u64(..));
        run(sandbox, format!("mkfifo -m 600 {fifo}"), Vec::new(), SHORT_TIME).await?;
        let (held, hold) = (Arc::clone(sandbox), format!("exec >{fifo}; echo; exec sleep infinity"));
        // It ends with the input, or with the sandbox.
        let mut writer = tokio::spawn(async move { run(&held, hold, Vec::new(), MAX_LENGTH).await });
        // Its line shows that it has opened the FIFO. Bytes of a writer that comes earlier would end with that writer.
        let opened = pin!(run(sandbox, format!("read -r _ <{fifo}"), Vec::new(), SHORT_TIME));
        match select(&mut writer, opened).await {
            Either::Left((Ok(Err(message)), _)) => return Err(message),
            Either::Left(_) => return Err("the writer of the standard input has ended".to_owned()),
            Either::Right((opened, _)) => opened.inspect_err(|_| writer.abort())?,
        }
        Ok(Self {
            sandbox: Arc::clone(sandbox),
            fifo,
            writer: writer.abort_handle(),
            turn: Arc::default(),
            over: Arc::new(watch::Sender::new(false)),
        })
    }

    /// Returns a command line that reads this input.
    pub(crate) fn redirect(&self, line: &str) -> String {
        format!("exec <{}; {line}", self.fifo)
    }

    /// Sends bytes. Returns once the command has received them, or its pipe holds them.
    ///
    /// # Errors
    /// The message of a failed command, also if the command with this input has ended.
    pub(crate) async fn send(&self, bytes: Vec<u8>) -> Result<(), String> {
        let _turn = self.turn.lock().await;
        if self.writer.is_finished() {
            return Err("the standard input is closed".to_owned());
        }
        self.write(format!("cat >{}", self.fifo), bytes, MAX_LENGTH).await
    }

    /// Ends the input, after the bytes that are being sent.
    pub(crate) async fn close(&self) {
        let _turn = self.turn.lock().await;
        // A reader that has not opened the FIFO yet would wait for a writer. If this fails, the command has ended.
        let _ = self.write(format!(": >{}", self.fifo), Vec::new(), SHORT_TIME).await;
        self.writer.abort();
    }

    /// Removes the FIFO after the end of the command.
    pub(crate) async fn remove(&self) {
        self.over.send_replace(true);
        self.writer.abort();
        // A write that opens the path after its removal would create a file.
        let _turn = self.turn.lock().await;
        // The sandbox may be closed.
        let _ = run(&self.sandbox, format!("rm -f {}", self.fifo), Vec::new(), SHORT_TIME).await;
    }

    /// Runs a command that writes to the FIFO. It is killed if the reader ends, because it would wait for another one.
    async fn write(&self, command: String, bytes: Vec<u8>, time: Duration) -> Result<(), String> {
        let mut over = self.over.subscribe();
        let ended = pin!(over.wait_for(|over| *over));
        match select(ended, pin!(run(&self.sandbox, command, bytes, time))).await {
            Either::Left(_) => Err("the command has ended".to_owned()),
            Either::Right((written, _)) => written,
        }
    }
}

/// Sends input in the order of its arrival, without letting the caller wait for the command to read it.
#[derive(Clone, Debug)]
pub(crate) struct InputQueue(mpsc::UnboundedSender<Option<Vec<u8>>>);

impl InputQueue {
    /// Starts the task that sends. It ends when the input is closed, a write fails, or the last clone is dropped.
    pub(crate) fn new(input: Input) -> Self {
        let (parts, mut queued) = mpsc::unbounded_channel::<Option<Vec<u8>>>();
        tokio::spawn(async move {
            let mut closes = false;
            while !closes {
                let Some(first) = queued.recv().await else { break };
                let (mut bytes, mut next) = (Vec::new(), Some(first));
                // Every write is a command of the sandbox, so parts that wait are sent together.
                while let Some(part) = next {
                    match part {
                        Some(part) => bytes.extend(part),
                        None => closes = true,
                    }
                    next = if closes { None } else { queued.try_recv().ok() };
                }
                if !bytes.is_empty() && input.send(bytes).await.is_err() {
                    break;
                }
            }
            input.close().await;
        });
        Self(parts)
    }

    /// Adds bytes. Returns false if the command does not receive them, because it has ended or its input is closed.
    pub(crate) fn push(&self, bytes: Vec<u8>) -> bool {
        self.0.send(Some(bytes)).is_ok()
    }

    /// Ends the input, after all bytes that were added.
    pub(crate) fn close(&self) {
        // The task ends before that if the command has ended.
        let _ = self.0.send(None);
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
