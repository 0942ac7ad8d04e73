//! Processes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, OutputChunk, OutputStream};
use tokio::sync::{oneshot, watch};

use super::rpc::{CallResult, RpcConnection};
use super::{HOME, error, path};
use crate::input::{Input, InputQueue};

/// Running and exited processes of one client.
pub(super) type Processes = BTreeMap<u64, Process>;

/// One process.
#[derive(Debug)]
pub(super) struct Process {
    kill: Option<oneshot::Sender<String>>,
    ended: watch::Receiver<Option<Value>>,
}

/// Maximum duration of a command.
const MAX_LENGTH: Duration = Duration::from_secs(24 * 60 * 60);

/// Process ids, above those of any process in a sandbox.
static NEXT_PID: AtomicU64 = AtomicU64::new(3_000_000);

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spawn {
    command: String,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    clear_env: Option<bool>,
    cwd: Option<String>,
    stdin_stream_id: Option<u64>,
    stdout: String,
    stderr: String,
}

impl Spawn {
    /// Returns the process as a command line for the sandbox's shell. A shell command is not wrapped in another shell.
    fn line(&self) -> String {
        let args = self.args.as_deref().unwrap_or_default();
        match args {
            [option, script]
                if option == "-c" && self.command.ends_with("bash") && !self.clear_env.unwrap_or_default() =>
            {
                script.clone()
            }
            args => {
                let words = std::iter::once(&self.command).chain(args).map(|word| quote(word));
                let line = words.collect::<Vec<_>>().join(" ");
                if self.clear_env.unwrap_or_default() {
                    let env = self.env.iter().flatten().map(|(name, value)| quote(&format!("{name}={value}")));
                    format!("exec env -i {} {line}", env.collect::<Vec<_>>().join(" "))
                } else {
                    format!("exec {line}")
                }
            }
        }
    }
}

impl RpcConnection {
    fn processes(&self) -> std::sync::MutexGuard<'_, Processes> {
        self.processes.lock()
    }

    /// `spawn`
    pub(super) async fn spawn(self: &Arc<Self>, params: &Value) -> CallResult {
        let spawn: Spawn =
            serde_json::from_value(params.clone()).map_err(|wrong| error("TypeError", "EINVAL", &wrong.to_string()))?;
        let cwd = spawn.cwd.as_deref().unwrap_or(HOME);
        let directory = path(cwd)?;
        if !self.stat(&directory.to_text(), true).await.is_ok_and(|stat| stat["isDirectory"] == true) {
            let message = format!("Failed to spawn '{}': No such cwd '{cwd}'", spawn.command);
            return Err(error("NotFound", "ENOENT", &message));
        }
        let mut env = self.shared.sandboxes().get(&self.id).map(|sandbox| sandbox.env.clone()).unwrap_or_default();
        env.extend(spawn.env.clone().unwrap_or_default());
        let input = match spawn.stdin_stream_id {
            Some(stream) => {
                let opened = Input::open(&self.sandbox.sandbox).await;
                let input = opened.map_err(|message| error("Error", "EIO", &message))?;
                self.read_into(stream, InputQueue::new(input.clone()));
                Some(input)
            }
            None => None,
        };
        let line = input.as_ref().map_or_else(|| spawn.line(), |input| input.redirect(&spawn.line()));
        let mut request = ExecuteRequest::new(line).with_timeout(MAX_LENGTH).with_cwd(directory);
        request.env = env.into_iter().collect();
        let pid = NEXT_PID.fetch_add(1, Ordering::Relaxed);
        let stream = |wanted: &str| (wanted == "piped").then(|| self.stream());
        let (stdout, stderr) = (stream(&spawn.stdout), stream(&spawn.stderr));
        let (kill, killed) = oneshot::channel();
        let (ending, ended) = watch::channel(None);
        self.processes().insert(pid, Process { kill: Some(kill), ended });
        let running = Running { peer: Arc::clone(self), stdout, stderr, input };
        let (begin, begun) = oneshot::channel();
        let first = running.run(request, killed, begun);
        tokio::spawn(async move {
            let end = first.await;
            ending.send_replace(Some(end));
        });
        // A command that starts immediately could write before the response is sent.
        let _ = begin.send(());
        if self.early {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        Ok(json!({ "pid": pid, "stdoutStreamId": stdout, "stderrStreamId": stderr }))
    }

    /// `processWait`
    pub(super) async fn process_wait(&self, params: &Value) -> CallResult {
        let pid = params["pid"].as_u64().unwrap_or_default();
        let Some(mut ended) = self.processes().get(&pid).map(|process| process.ended.clone()) else {
            return Err(error("NotFound", "ENOENT", &format!("no process {pid}")));
        };
        match ended.wait_for(Option::is_some).await {
            Ok(end) => Ok(end.clone().unwrap_or_default()),
            Err(_) => Err(error("Error", "ECHILD", &format!("process {pid} does not exist any more"))),
        }
    }

    /// `processKill`: any signal kills the command and its child processes.
    pub(super) fn process_kill(&self, params: &Value) -> CallResult {
        let pid = params["pid"].as_u64().unwrap_or_default();
        let signal = params["signal"].as_str().unwrap_or("SIGTERM").to_owned();
        let kill = self.processes().get_mut(&pid).and_then(|process| process.kill.take());
        match kill.map(|kill| kill.send(signal)) {
            Some(Ok(())) => Ok(Value::Null),
            _ => Err(error("TypeError", "ENOENT", "Child process has already terminated")),
        }
    }
}

/// A command, its input and the streams of its output.
struct Running {
    peer: Arc<RpcConnection>,
    stdout: Option<u64>,
    stderr: Option<u64>,
    input: Option<Input>,
}

impl Running {
    async fn run(
        self,
        request: ExecuteRequest,
        killed: oneshot::Receiver<String>,
        begun: oneshot::Receiver<()>,
    ) -> Value {
        // Starts after the call has returned.
        let _ = begun.await;
        for stream in self.stdout.into_iter().chain(self.stderr) {
            self.peer.begin_stream(stream);
        }
        let (peer, stdout, stderr) = (Arc::clone(&self.peer), self.stdout, self.stderr);
        let mut sink = move |event: OutputChunk| {
            let stream = if event.stream == OutputStream::Stdout { stdout } else { stderr };
            if let Some(stream) = stream {
                peer.enqueue(stream, &event.bytes);
            }
        };
        let end = {
            let running = self.peer.sandbox.sandbox.execute_streaming(request, &mut sink);
            match select(running, killed).await {
                Either::Left((Ok(response), _)) => json_end(response.exit_code, None),
                Either::Left((Err(_), _)) => json_end(None, None),
                Either::Right((signal, _)) => json_end(None, signal.ok()),
            }
        };
        if let Some(input) = &self.input {
            input.remove().await;
        }
        for stream in self.stdout.into_iter().chain(self.stderr) {
            self.peer.end_stream(stream);
        }
        end
    }
}

/// Response to `processWait`. Like a shell, the service reports a signal as an exit code.
fn json_end(code: Option<i32>, signal: Option<String>) -> Value {
    let number = match signal.as_deref() {
        None => code.unwrap_or(1),
        Some("SIGKILL") => 137,
        Some("SIGINT") => 130,
        Some(_) => 143,
    };
    json!({ "success": number == 0, "code": number, "signal": signal, "oom": null })
}
