//! The main command of a sandbox: `Sandbox.create("bash", "-c", ...)`. The sandbox ends with it, and its output can be
//! read afterwards.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use futures_util::future::{Either, select};
use tidebox_core::{ExecuteRequest, OutputStream};
use tidebox_remote_adapters::modal::messages::{Empty, ExitStatus, TaskExecStartRequest};

use super::command::{RunningCommand, line};
use super::grpc::{RpcResult, code, missing_feature, read, status, streamed, unary};
use super::messages::*;
use super::router::{output, write_stdin};
use super::sandboxes::{EndedSandbox, sandbox_of};
use super::{CHECK_INTERVAL, Shared};
use crate::registry::SandboxRecord;

/// Result status of a sandbox whose main command has ended.
const SUCCESS: i32 = 1;
const FAILURE: i32 = 2;

/// Time that the output of a main command is kept after the end of its sandbox.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);

/// Default interval of a readiness probe.
const PROBE_INTERVAL: Duration = Duration::from_millis(200);

/// The main command of a sandbox, and the credential of its router.
#[derive(Debug)]
pub(super) struct MainCommand {
    running: Arc<RunningCommand>,
    token: String,
    probe: Option<Probe>,
}

impl MainCommand {
    pub(super) fn running(&self) -> Arc<RunningCommand> {
        Arc::clone(&self.running)
    }
}

impl Shared {
    /// Starts the main command. A sandbox without one lives until it is terminated.
    pub(super) fn start_main(
        &self,
        sandbox_id: &str,
        sandbox: &SandboxRecord,
        command_args: Vec<String>,
        workdir: Option<String>,
        probe: Option<Probe>,
    ) {
        let running = if command_args.is_empty() {
            RunningCommand::idle()
        } else {
            let request = TaskExecStartRequest {
                command_args,
                workdir,
                stdout_config: 1,
                stderr_config: 1,
                ..TaskExecStartRequest::default()
            };
            RunningCommand::start_main(sandbox.clone(), request)
        };
        let main = MainCommand { running: Arc::clone(&running), token: sandbox.token.clone(), probe };
        {
            let mut known = self.state();
            let is_kept = |main: &MainCommand| main.running.state().ended.is_none_or(|end| end.elapsed() < REMEMBERED);
            known.main.retain(|_, main| is_kept(main));
            known.main.insert(sandbox_id.to_owned(), main);
        }
        tokio::spawn(self.clone().end_with_main(sandbox_id.to_owned(), running));
    }

    /// Ends the sandbox after its main command, or the main command after its sandbox.
    async fn end_with_main(self, sandbox_id: String, running: Arc<RunningCommand>) {
        let closed = async {
            while self.registry.find(&sandbox_id).await.is_some() {
                tokio::time::sleep(CHECK_INTERVAL).await;
            }
        };
        let exit = running.wait_until(|state| state.end);
        if let Either::Left((exit, _)) = select(Box::pin(exit), Box::pin(closed)).await
            && self.registry.find(&sandbox_id).await.is_some()
        {
            let exitcode = match exit {
                ExitStatus::Code(code) => code,
                ExitStatus::Signal(signal) => 128 + signal,
            };
            let status = if exitcode == 0 { SUCCESS } else { FAILURE };
            self.state().ended.entry(sandbox_id.clone()).or_insert(EndedSandbox { status, exitcode });
            self.registry.close(&sandbox_id).await;
        }
        running.change(|state| {
            state.end.get_or_insert(ExitStatus::Signal(super::command::KILLED));
            state.ended.get_or_insert_with(Instant::now);
        });
    }

    /// Records that a client has requested the task of a sandbox.
    pub(super) fn task_is_known(&self, sandbox_id: &str) {
        let running = self.state().main.get(sandbox_id).map(MainCommand::running);
        if let Some(running) = running {
            running.change(|state| state.is_known = true);
        }
    }

    fn main_command(&self, headers: &HeaderMap, task_id: &str) -> RpcResult<Arc<RunningCommand>> {
        let known = self.state();
        let missing = || status(code::NOT_FOUND, format!("task {task_id} is not here"));
        let main = known.main.get(&sandbox_of(task_id)).ok_or_else(missing)?;
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        match bearer {
            Some(token) if token == main.token => Ok(Arc::clone(&main.running)),
            _ => Err(status(code::UNAUTHENTICATED, "the token belongs to another task")),
        }
    }
}

/// `SandboxStdioReadV2`
pub(super) async fn read_output(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let found = || {
        let request: SandboxStdioReadRequest = read(&body)?;
        let running = shared.main_command(&headers, &request.task_id)?;
        Ok((request, running))
    };
    let (request, running) = match std::future::ready(found()).await {
        Ok(found) => found,
        Err(rpc_status) => return unary(Err::<Empty, _>(rpc_status)),
    };
    let stream = if request.file_descriptor == 0 { OutputStream::Stdout } else { OutputStream::Stderr };
    streamed(output(running, stream, request.offset, |data, offset| SandboxStdioReadResponse {
        data,
        starting_offset: offset,
    }))
}

/// `SandboxStdinWriteV2`
pub(super) async fn write_input(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = || {
        let request: SandboxStdinWriteRequest = read(&body)?;
        let running = shared.main_command(&headers, &request.task_id)?;
        write_stdin(&running, Some(request.offset), &request.data, request.eof).map(|()| Empty {})
    };
    std::future::ready(unary(reply())).await
}

/// `SandboxWaitUntilReady`: runs the probe until it succeeds.
pub(super) async fn wait_until_ready(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        let request: WaitUntilReadyRequest = read(&body)?;
        shared.main_command(&headers, &request.task_id)?;
        let id = sandbox_of(&request.task_id);
        let probe = shared.state().main.get(&id).and_then(|main| main.probe.clone());
        let no_probe = || status(code::FAILED_PRECONDITION, "the Sandbox has no readiness probe");
        let probe = probe.ok_or_else(no_probe)?;
        let command = probe.exec_command.ok_or_else(|| missing_feature("readiness probes of TCP ports"))?;
        let interval = probe.interval_ms.map_or(PROBE_INTERVAL, |millis| Duration::from_millis(millis.into()));
        let end = Instant::now() + Duration::try_from_secs_f32(request.timeout).unwrap_or_default();
        loop {
            let finished = || status(code::FAILED_PRECONDITION, format!("Sandbox '{id}' has finished"));
            let sandbox = shared.registry.find(&id).await.ok_or_else(finished)?;
            let response = sandbox.sandbox.execute(ExecuteRequest::new(line(&command.argv))).await;
            if response.is_ok_and(|response| response.exit_code == Some(0)) {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                return Ok(WaitUntilReadyResponse { ready_at: now.as_secs_f64() });
            }
            if Instant::now() >= end {
                return Err(status(code::DEADLINE_EXCEEDED, "the Sandbox is not ready yet"));
            }
            tokio::time::sleep(interval).await;
        }
    };
    unary(reply.await)
}
