//! Commands of one sandbox, by its router.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use prost::Message;
use tidebox_core::shell_backend::quote;
use tidebox_core::{ErrorKind, OutputStream, Result, SandboxId, Secret};

use super::call::{self, Answer, Messages, Status, code};
use super::config::ModalConfig;
use super::messages::*;
use super::token::Token;
use super::wire::{self, Task, control, router};
use crate::transport::{Client, Request, RetryPolicy, sleep, spawn};

/// What the control plane is spoken to with.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) config: ModalConfig,
    pub(super) client: Client,
    pub(super) token: Token,
}

impl Account {
    /// A call of the control plane that needs the token of sandboxes. One that was refused is fetched anew, once.
    pub(super) async fn call<R: Message + Default>(&self, path: &str, message: &impl Message) -> Result<Answer<R>> {
        self.call_for(path, message, None).await
    }

    /// The same for one sandbox, which may have a credential of its own.
    async fn call_for<R: Message + Default>(
        &self,
        path: &str,
        message: &impl Message,
        own: Option<&Secret>,
    ) -> Result<Answer<R>> {
        for _ in 0..2 {
            let token = match self.token.get(&self.config, &self.client).await? {
                Ok(token) => token,
                Err(status) => return Ok(Err(status)),
            };
            let mut request = wire::control(&self.config, path, message, Some(&token));
            if let Some(own) = own {
                request = request.secret("x-modal-sandbox-token", own.clone());
            }
            match call::unary(&self.client, &request).await? {
                Err(status) if status.code == code::UNAUTHENTICATED => self.token.forget().await,
                answer => return Ok(answer),
            }
        }
        let message = "the token that it gave itself is not accepted".to_owned();
        Ok(Err(Status { code: code::UNAUTHENTICATED, message, retry_after: None }))
    }
}

/// The way to the router of one sandbox.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) account: Arc<Account>,
    pub(super) id: SandboxId,
    /// The credential of this sandbox at the control plane, where it has one.
    pub(super) own: Option<Secret>,
    task: Mutex<Task>,
}

impl Way {
    pub(super) fn new(account: Arc<Account>, id: SandboxId, own: Option<Secret>, task: Task) -> Self {
        Self { account, id, own, task: Mutex::new(task) }
    }

    pub(super) fn task(&self) -> Task {
        self.task.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fetches a new credential of the router.
    async fn renew(&self) -> Result<Answer<()>> {
        let message = RouterAccessRequest { sandbox_id: self.id.as_str().to_owned(), task_id: String::new() };
        match self.account.call_for::<RouterAccess>(control::ROUTER, &message, self.own.as_ref()).await? {
            Ok(access) => {
                let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
                *task = Task::new(task.id.clone(), access);
                Ok(Ok(()))
            }
            Err(status) => Ok(Err(status)),
        }
    }

    /// A call of the router, with a new credential where the old one is refused.
    pub(super) async fn call<R: Message + Default>(&self, request: impl Fn(&Task) -> Request) -> Result<Answer<R>> {
        match call::unary(&self.account.client, &request(&self.task())).await? {
            Err(status) if status.code == code::UNAUTHENTICATED => match self.renew().await? {
                Ok(()) => call::unary(&self.account.client, &request(&self.task())).await,
                Err(status) => Ok(Err(status)),
            },
            answer => Ok(answer),
        }
    }

    /// Waits until a command has ended, however long that takes.
    pub(super) async fn wait(&self, exec_id: &str) -> Result<Answer<TaskExecEndResponse>> {
        let mut trouble = Trouble::default();
        loop {
            match call::once(&self.account.client, &self.task().wait(exec_id)).await {
                // The server answers after a while in any case, so that connections stay alive.
                Ok(Err(status)) if status.code == code::DEADLINE_EXCEEDED => trouble = Trouble::default(),
                Err(error) if error.kind() == ErrorKind::Timeout => trouble = Trouble::default(),
                Ok(Err(status)) => {
                    if let Some(status) = trouble.after(self, status).await? {
                        return Ok(Err(status));
                    }
                }
                Err(error) => trouble.after_break(error).await?,
                Ok(Ok(end)) => return Ok(Ok(end)),
            }
        }
    }

    /// Gives a command all of its input. What the command does not read is nobody's loss.
    pub(super) async fn give(&self, exec_id: &str, input: &Bytes) -> Result<Answer<()>> {
        let mut trouble = Trouble::default();
        let mut from = 0;
        loop {
            let sent = call::once::<Empty>(&self.account.client, &self.task().input(exec_id, input, from)).await;
            match sent {
                Ok(Ok(_)) => return Ok(Ok(())),
                Ok(Err(status)) if is_unread(&status) => return Ok(Ok(())),
                Ok(Err(status)) => {
                    if let Some(status) = trouble.after(self, status).await? {
                        return Ok(Err(status));
                    }
                }
                Err(error) => trouble.after_break(error).await?,
            }
            let asked = self.call::<TaskExecStdinStatusResponse>(|task| task.of(router::WRITTEN, exec_id)).await?;
            match asked {
                Ok(written) if written.closed => return Ok(Ok(())),
                Ok(written) => {
                    from = usize::try_from(written.num_bytes_written).unwrap_or(input.len()).min(input.len())
                }
                Err(status) if is_unread(&status) => return Ok(Ok(())),
                Err(status) => return Ok(Err(status)),
            }
        }
    }

    /// What a command writes to one of its streams, piece by piece, from the beginning to the end.
    pub(super) fn read<'a>(
        &'a self,
        exec_id: &'a str,
        stream: OutputStream,
    ) -> impl Stream<Item = Result<Bytes>> + Send + 'a {
        let reading = Reading { way: self, exec_id, stream, offset: 0, messages: None, trouble: Trouble::default() };
        stream::try_unfold(
            reading,
            |mut reading| async move { Ok(reading.next().await?.map(|piece| (piece, reading))) },
        )
    }

    /// Kills every process that has this variable in its environment. There is no call that does it.
    pub(super) async fn kill(&self, (name, value): &(String, String)) -> Result<()> {
        let exec_id = unique();
        let mark = quote(&format!("{name}={value}"));
        // Again until nothing is found: a process may have started another one meanwhile.
        let script = format!(
            "for again in 1 2 3 4 5; do found=; for p in /proc/[0-9]*; do \
             grep -qs {mark} $p/environ 2>/dev/null && kill -9 ${{p#/proc/}} 2>/dev/null && found=1; \
             done; [ -n \"$found\" ] || exit 0; done"
        );
        let words = ["sh", "-c", &script].map(str::to_owned).to_vec();
        let begun =
            self.call::<Empty>(|task| task.call(router::START, &wire::start(task, &exec_id, words.clone(), &[])));
        match begun.await? {
            Ok(_) => self.wait(&exec_id).await.map(drop),
            Err(status) => Err(status.error("kill a command")),
        }
    }
}

/// Whether the status says that a command has ended without reading its input.
fn is_unread(status: &Status) -> bool {
    matches!(status.code, code::ABORTED | code::ALREADY_EXISTS | code::FAILED_PRECONDITION | code::NOT_FOUND)
}

/// A name that no other command has.
pub(super) fn unique() -> String {
    let bits = fastrand::u128(..);
    let (a, b, c, d) = (bits >> 96, bits >> 80 & 0xffff, bits >> 68 & 0xfff, bits >> 54 & 0x3fff);
    format!("{a:08x}-{b:04x}-4{c:03x}-{:04x}-{:012x}", 0x8000 | d, bits & 0xffff_ffff_ffff)
}

/// How often in a row something went wrong, and whether it was looked after.
#[derive(Debug, Default)]
struct Trouble {
    failures: u32,
    renewed: bool,
}

impl Trouble {
    /// Waits, or renews what was refused; the status where neither helps.
    async fn after(&mut self, way: &Way, status: Status) -> Result<Option<Status>> {
        if status.code == code::UNAUTHENTICATED && !self.renewed {
            self.renewed = true;
            return Ok(way.renew().await?.err());
        }
        if !status.is_passing() || self.is_too_much() {
            return Ok(Some(status));
        }
        sleep(status.retry_after.unwrap_or_else(|| self.pause())).await;
        Ok(None)
    }

    /// The same when the connection broke.
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

/// Failures in a row until a stream is given up.
const ATTEMPTS: u32 = 6;

/// A stream of output that is taken up again where it broke.
struct Reading<'a> {
    way: &'a Way,
    exec_id: &'a str,
    stream: OutputStream,
    offset: u64,
    messages: Option<Messages>,
    trouble: Trouble,
}

impl Reading<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            match self.message().await {
                Ok(Ok(Some(message))) => {
                    let piece = TaskExecStdioReadResponse::decode(message);
                    let piece = piece.map_err(|error| call::unread(&error))?.data;
                    self.offset += piece.len() as u64;
                    self.trouble = Trouble::default();
                    if !piece.is_empty() {
                        return Ok(Some(piece));
                    }
                }
                Ok(Ok(None)) => return Ok(None),
                Ok(Err(status)) => {
                    self.messages = None;
                    if let Some(status) = self.trouble.after(self.way, status).await? {
                        return Err(status.error("execute").with_context("sandbox", self.way.id.as_str()));
                    }
                }
                Err(error) => {
                    self.messages = None;
                    self.trouble.after_break(error).await?;
                }
            }
        }
    }

    async fn message(&mut self) -> Result<Answer<Option<Bytes>>> {
        let messages = match &mut self.messages {
            Some(messages) => messages,
            None => {
                let request = self.way.task().read(self.exec_id, self.stream, self.offset);
                match Messages::begin(self.way.account.client.send(&request).await?)? {
                    Ok(messages) => self.messages.insert(messages),
                    Err(status) => return Ok(Err(status)),
                }
            }
        };
        messages.next().await
    }
}

/// A command that was begun. Dropping it before it is over kills it.
pub(super) struct Begun {
    pub(super) way: Arc<Way>,
    pub(super) exec_id: String,
    /// The variable by which its processes are known.
    pub(super) mark: (String, String),
    over: bool,
}

impl Begun {
    pub(super) fn new(way: &Arc<Way>) -> Self {
        let exec_id = unique();
        let mark = ("TIDEBOX_EXEC_ID".to_owned(), exec_id.clone());
        Self { way: Arc::clone(way), exec_id, mark, over: false }
    }

    /// It has ended, and nothing of it is left.
    pub(super) fn is_over(&mut self) {
        self.over = true;
    }

    /// Kills it and all that it started.
    pub(super) async fn kill(&mut self) -> Result<()> {
        self.way.kill(&self.mark).await?;
        self.over = true;
        Ok(())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let (way, mark) = (Arc::clone(&self.way), self.mark.clone());
        spawn(async move {
            // It may have ended meanwhile, and there is nobody left who could be told of anything else.
            let _ = way.kill(&mark).await;
        });
    }
}
