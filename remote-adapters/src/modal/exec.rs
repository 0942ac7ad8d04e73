//! Commands of one sandbox, sent to its router.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use prost::Message;
use tidebox_core::lock::Mutex;
use tidebox_core::shell_backend::quote;
use tidebox_core::{ErrorKind, OutputStream, Result, SandboxId, Secret};

use super::call::{self, Messages, RpcResult, Status, code};
use super::config::ModalConfig;
use super::messages::*;
use super::token::Token;
use super::wire::{self, RouterEndpoint, control, router};
use crate::transport::{Client, Request, RetryPolicy, sleep, spawn};

/// Client of the control plane.
#[derive(Debug)]
pub(super) struct ControlClient {
    pub(super) config: ModalConfig,
    pub(super) client: Client,
    pub(super) token: Token,
}

impl ControlClient {
    /// Sends a control plane call that requires the sandbox token. A rejected token is renewed once.
    pub(super) async fn call<R: Message + Default>(&self, path: &str, message: &impl Message) -> Result<RpcResult<R>> {
        self.call_for(path, message, None).await
    }

    /// Like [`call`](Self::call), for one sandbox, which may have its own credential.
    async fn call_for<R: Message + Default>(
        &self,
        path: &str,
        message: &impl Message,
        sandbox_token: Option<&Secret>,
    ) -> Result<RpcResult<R>> {
        for _ in 0..2 {
            let token = match self.token.get(&self.config, &self.client).await? {
                Ok(token) => token,
                Err(status) => return Ok(Err(status)),
            };
            let mut request = wire::control(&self.config, path, message, Some(&token));
            if let Some(own) = sandbox_token {
                request = request.secret("x-modal-sandbox-token", own.clone());
            }
            match call::unary(&self.client, &request).await? {
                Err(status) if status.code == code::UNAUTHENTICATED => self.token.invalidate().await,
                response => return Ok(response),
            }
        }
        let message = "Modal rejected a token that it issued".to_owned();
        Ok(Err(Status { code: code::UNAUTHENTICATED, message, retry_after: None }))
    }
}

/// Time that the service may wait for the tunnels of a new sandbox.
const TUNNEL_SECONDS: f32 = 50.0;

/// Client of one sandbox's router.
#[derive(Debug)]
pub(super) struct RouterClient {
    pub(super) account: Arc<ControlClient>,
    pub(super) id: SandboxId,
    /// Credential of this sandbox at the control plane, if it has one.
    pub(super) sandbox_token: Option<Secret>,
    task: Mutex<RouterEndpoint>,
}

impl RouterClient {
    pub(super) fn new(account: Arc<ControlClient>, id: SandboxId, own: Option<Secret>, task: RouterEndpoint) -> Self {
        Self { account, id, sandbox_token: own, task: Mutex::new(task) }
    }

    pub(super) fn task(&self) -> RouterEndpoint {
        self.task.lock().clone()
    }

    /// Fetches a new router credential.
    async fn renew(&self) -> Result<RpcResult<()>> {
        let message = RouterAccessRequest { sandbox_id: self.id.as_str().to_owned(), task_id: String::new() };
        match self.account.call_for::<RouterAccess>(control::ROUTER, &message, self.sandbox_token.as_ref()).await? {
            Ok(access) => {
                let mut task = self.task.lock();
                *task = RouterEndpoint::new(task.id.clone(), access);
                Ok(Ok(()))
            }
            Err(status) => Ok(Err(status)),
        }
    }

    /// Lists the tunnels to the sandbox's open ports.
    pub(super) async fn tunnels(&self) -> Result<RpcResult<Vec<Tunnel>>> {
        let message = TunnelsRequest { sandbox_id: self.id.as_str().to_owned(), timeout: TUNNEL_SECONDS };
        let reply = self.account.call_for::<TunnelsResponse>(control::TUNNELS, &message, self.sandbox_token.as_ref());
        Ok(reply.await?.map(|response| response.tunnels))
    }

    /// Sends a router call and renews a rejected credential.
    pub(super) async fn call<R: Message + Default>(
        &self,
        request: impl Fn(&RouterEndpoint) -> Request,
    ) -> Result<RpcResult<R>> {
        match call::unary(&self.account.client, &request(&self.task())).await? {
            Err(status) if status.code == code::UNAUTHENTICATED => match self.renew().await? {
                Ok(()) => call::unary(&self.account.client, &request(&self.task())).await,
                Err(status) => Ok(Err(status)),
            },
            response => Ok(response),
        }
    }

    /// Waits until a command has exited, without a timeout.
    pub(super) async fn wait(&self, exec_id: &str) -> Result<RpcResult<TaskExecEndResponse>> {
        let mut retry = RetryState::default();
        loop {
            match call::once(&self.account.client, &self.task().wait(exec_id)).await {
                // The server responds after a while in any case, so that connections stay alive.
                Ok(Err(status)) if status.code == code::DEADLINE_EXCEEDED => retry = RetryState::default(),
                Err(error) if error.kind() == ErrorKind::Timeout => retry = RetryState::default(),
                Ok(Err(status)) => {
                    if let Some(status) = retry.after(self, status).await? {
                        return Ok(Err(status));
                    }
                }
                Err(error) => retry.after_break(error).await?,
                Ok(Ok(end)) => return Ok(Ok(end)),
            }
        }
    }

    /// Sends all input to a command. Unread input is not an error.
    pub(super) async fn write_stdin(&self, exec_id: &str, input: &Bytes) -> Result<RpcResult<()>> {
        let mut retry = RetryState::default();
        let mut from = 0;
        loop {
            let sent = call::once::<Empty>(&self.account.client, &self.task().input(exec_id, input, from)).await;
            match sent {
                Ok(Ok(_)) => return Ok(Ok(())),
                Ok(Err(status)) if is_unread(&status) => return Ok(Ok(())),
                Ok(Err(status)) => {
                    if let Some(status) = retry.after(self, status).await? {
                        return Ok(Err(status));
                    }
                }
                Err(error) => retry.after_break(error).await?,
            }
            let polled =
                self.call::<TaskExecStdinStatusResponse>(|task| task.exec_request(router::WRITTEN, exec_id)).await?;
            match polled {
                Ok(written) if written.closed => return Ok(Ok(())),
                Ok(written) => {
                    from = usize::try_from(written.num_bytes_written).unwrap_or(input.len()).min(input.len())
                }
                Err(status) if is_unread(&status) => return Ok(Ok(())),
                Err(status) => return Ok(Err(status)),
            }
        }
    }

    /// Returns the output of one stream as chunks, from start to end.
    pub(super) fn read<'a>(
        &'a self,
        exec_id: &'a str,
        stream: OutputStream,
    ) -> impl Stream<Item = Result<Bytes>> + Send + 'a {
        let reading = OutputStreamReader {
            client: self,
            exec_id,
            stream,
            offset: 0,
            messages: None,
            retry: RetryState::default(),
        };
        stream::try_unfold(
            reading,
            |mut reading| async move { Ok(reading.next().await?.map(|chunk| (chunk, reading))) },
        )
    }

    /// Kills every process that has this variable in its environment. The API has no call for that.
    pub(super) async fn kill(&self, (name, value): &(String, String)) -> Result<()> {
        let exec_id = new_exec_id();
        let mark = quote(&format!("{name}={value}"));
        // Repeat until no process is found: a process may have forked in the meantime.
        let script = format!(
            "for again in 1 2 3 4 5; do found=; for p in /proc/[0-9]*; do \
             grep -qs {mark} $p/environ 2>/dev/null && kill -9 ${{p#/proc/}} 2>/dev/null && found=1; \
             done; [ -n \"$found\" ] || exit 0; done"
        );
        let words = ["sh", "-c", &script].map(str::to_owned).to_vec();
        let started =
            self.call::<Empty>(|task| task.call(router::START, &wire::start(task, &exec_id, words.clone(), &[])));
        match started.await? {
            Ok(_) => self.wait(&exec_id).await.map(drop),
            Err(status) => Err(status.error("kill a command")),
        }
    }
}

/// Returns whether the status means that the command exited without reading its input.
fn is_unread(status: &Status) -> bool {
    matches!(status.code, code::ABORTED | code::ALREADY_EXISTS | code::FAILED_PRECONDITION | code::NOT_FOUND)
}

/// Returns a unique exec id.
pub(super) fn new_exec_id() -> String {
    let bits = fastrand::u128(..);
    let (a, b, c, d) = (bits >> 96, bits >> 80 & 0xffff, bits >> 68 & 0xfff, bits >> 54 & 0x3fff);
    format!("{a:08x}-{b:04x}-4{c:03x}-{:04x}-{:012x}", 0x8000 | d, bits & 0xffff_ffff_ffff)
}

/// Consecutive failures, and whether the credential was renewed.
#[derive(Debug, Default)]
struct RetryState {
    failures: u32,
    renewed: bool,
}

impl RetryState {
    /// Waits, or renews a rejected credential; returns the status if neither helps.
    async fn after(&mut self, client: &RouterClient, status: Status) -> Result<Option<Status>> {
        if status.code == code::UNAUTHENTICATED && !self.renewed {
            self.renewed = true;
            return Ok(client.renew().await?.err());
        }
        if !status.is_transient() || self.is_too_much() {
            return Ok(Some(status));
        }
        sleep(status.retry_after.unwrap_or_else(|| self.pause())).await;
        Ok(None)
    }

    /// Like [`after`](Self::after), for a lost connection.
    async fn after_break(&mut self, error: tidebox_core::Error) -> Result<()> {
        if !error.retryable() || self.is_too_much() {
            return Err(error);
        }
        sleep(self.pause()).await;
        Ok(())
    }

    fn is_too_much(&mut self) -> bool {
        self.failures += 1;
        self.failures > ATTEMPTS
    }

    fn pause(&self) -> Duration {
        RetryPolicy::default().pause(self.failures)
    }
}

/// Consecutive failures before a stream is abandoned.
const ATTEMPTS: u32 = 6;

/// An output stream that resumes after an interruption.
struct OutputStreamReader<'a> {
    client: &'a RouterClient,
    exec_id: &'a str,
    stream: OutputStream,
    offset: u64,
    messages: Option<Messages>,
    retry: RetryState,
}

impl OutputStreamReader<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            match self.message().await {
                Ok(Ok(Some(message))) => {
                    let chunk = TaskExecStdioReadResponse::decode(message);
                    let chunk = chunk.map_err(|error| call::decode_error(&error))?.data;
                    self.offset += chunk.len() as u64;
                    self.retry = RetryState::default();
                    if !chunk.is_empty() {
                        return Ok(Some(chunk));
                    }
                }
                Ok(Ok(None)) => return Ok(None),
                Ok(Err(status)) => {
                    self.messages = None;
                    if let Some(status) = self.retry.after(self.client, status).await? {
                        return Err(status.error("execute").with_context("sandbox", self.client.id.as_str()));
                    }
                }
                Err(error) => {
                    self.messages = None;
                    self.retry.after_break(error).await?;
                }
            }
        }
    }

    async fn message(&mut self) -> Result<RpcResult<Option<Bytes>>> {
        let messages = match &mut self.messages {
            Some(messages) => messages,
            None => {
                let request = self.client.task().read(self.exec_id, self.stream, self.offset);
                match Messages::begin(self.client.account.client.send(&request).await?)? {
                    Ok(messages) => self.messages.insert(messages),
                    Err(status) => return Ok(Err(status)),
                }
            }
        };
        messages.next().await
    }
}

/// A started command. Dropping it before it has exited kills it.
pub(super) struct RunningExec {
    pub(super) client: Arc<RouterClient>,
    pub(super) exec_id: String,
    /// Environment variable that identifies its processes.
    pub(super) kill_tag: (String, String),
    over: bool,
}

impl RunningExec {
    pub(super) fn new(client: &Arc<RouterClient>) -> Self {
        let exec_id = new_exec_id();
        let mark = ("TIDEBOX_EXEC_ID".to_owned(), exec_id.clone());
        Self { client: Arc::clone(client), exec_id, kill_tag: mark, over: false }
    }

    /// Disarms the guard: the command has exited and none of its processes is left.
    pub(super) fn disarm(&mut self) {
        self.over = true;
    }

    /// Kills the command and its child processes.
    pub(super) async fn kill(&mut self) -> Result<()> {
        self.client.kill(&self.kill_tag).await?;
        self.over = true;
        Ok(())
    }
}

impl Drop for RunningExec {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let (client, mark) = (Arc::clone(&self.client), self.kill_tag.clone());
        spawn(async move {
            // Ignore errors: the command may have exited, and no caller is left to report to.
            let _ = client.kill(&mark).await;
        });
    }
}
