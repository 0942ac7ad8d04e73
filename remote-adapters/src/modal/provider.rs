//! The life of sandboxes at Modal.
//!
//! Names are unique among the running sandboxes of an app, and a sandbox that is asked for by labels is named after them: of two
//! processes that ask at once one makes it, and the other meets it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join;
use futures_util::lock::Mutex;
use tidebox_core::{BoxFuture, Error, ErrorKind, ListPage, ListRequest, Result, SandboxId, Secret};

use super::call::{self, Messages, Status, code};
use super::config::ModalConfig;
use super::exec::{Account, Way};
use super::messages::*;
use super::sandbox::{ModalSandbox, absent, lacking};
use super::token::Token;
use super::wire::{self, Task, control};
use crate::control::{Control, Created};
use crate::options::Options;
use crate::poll::Polling;
use crate::provider::RemoteProvider;
use crate::transport::{Client, RetryPolicy};

/// How long the end of a sandbox is waited for.
const ENDING: Duration = Duration::from_secs(60);

/// The control plane of Modal.
#[derive(Debug)]
pub struct ModalControl {
    options: Options,
    account: Arc<Account>,
    /// The app's and the image's names, once they are known.
    app: Mutex<Option<String>>,
    image: Mutex<Option<String>>,
}

impl ModalControl {
    /// Reads options and variables of the environment.
    ///
    /// # Errors
    /// Those of [`ModalConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = ModalConfig::new(&options)?;
        let client = Client::new(options.transport()?, RetryPolicy::default());
        let account = Arc::new(Account { config, client, token: Token::default() });
        Ok(Self { options, account, app: Mutex::new(None), image: Mutex::new(None) })
    }

    fn config(&self) -> &ModalConfig {
        &self.account.config
    }

    /// A call that needs no token.
    async fn plain<R: prost::Message + Default>(
        &self,
        operation: &'static str,
        path: &str,
        message: &impl prost::Message,
    ) -> Result<R> {
        let request = wire::control(self.config(), path, message, None);
        call::unary(&self.account.client, &request).await?.map_err(|status| status.error(operation))
    }

    async fn app(&self, operation: &'static str) -> Result<String> {
        let mut app = self.app.lock().await;
        if let Some(app) = &*app {
            return Ok(app.clone());
        }
        let made: AppGetOrCreateResponse = self.plain(operation, control::APP, &wire::app(self.config())).await?;
        Ok(app.insert(made.app_id).clone())
    }

    /// The image, built where it was never used before.
    async fn image(&self, app: &str) -> Result<String> {
        const OPERATION: &str = "build an image";
        if self.config().image.starts_with("im-") {
            return Ok(self.config().image.clone());
        }
        let mut image = self.image.lock().await;
        if let Some(image) = &*image {
            return Ok(image.clone());
        }
        let asked = EnvironmentGetOrCreateRequest { deployment_name: self.config().environment.clone() };
        let environment: EnvironmentGetOrCreateResponse = self.plain(OPERATION, control::ENVIRONMENT, &asked).await?;
        let settings = environment.metadata.and_then(|metadata| metadata.settings).unwrap_or_default();
        let asked = wire::image(self.config(), app, settings.image_builder_version);
        let begun: ImageGetOrCreateResponse = self.plain(OPERATION, control::IMAGE, &asked).await?;
        let result = match begun.result.filter(|result| result.status != 0) {
            Some(result) => result,
            None => self.built(OPERATION, &begun.image_id).await?,
        };
        if result.status != 1 {
            let message = format!("the image {:?} cannot be built: {}", self.config().image, result.exception);
            return Err(Error::new(ErrorKind::InvalidRequest, OPERATION, message));
        }
        Ok(image.insert(begun.image_id).clone())
    }

    /// Waits until an image is built.
    async fn built(&self, operation: &'static str, image_id: &str) -> Result<GenericResult> {
        let mut polling = Polling::new(operation, self.options.ready_time);
        let mut last_entry_id = String::new();
        loop {
            let message = ImageJoinStreamingRequest {
                image_id: image_id.to_owned(),
                timeout: 55.0,
                last_entry_id: last_entry_id.clone(),
            };
            let request = wire::control(self.config(), control::IMAGE_JOIN, &message, None);
            let mut messages = match Messages::begin(self.account.client.send(&request).await?)? {
                Ok(messages) => messages,
                Err(status) => return Err(status.error(operation)),
            };
            while let Some(message) = messages.next().await?.map_err(|status| status.error(operation))? {
                let step = <ImageJoinStreamingResponse as prost::Message>::decode(message);
                let step = step.map_err(|error| call::unread(&error))?;
                if let Some(result) = step.result.filter(|result| result.status != 0) {
                    return Ok(result);
                }
                if !step.entry_id.is_empty() {
                    last_entry_id = step.entry_id;
                }
            }
            polling.pause().await?;
        }
    }

    async fn made(&self, labels: &BTreeMap<String, String>, name: Option<&str>) -> Result<Created<ModalSandbox>> {
        const OPERATION: &str = "create a sandbox";
        let app = self.app(OPERATION).await?;
        let image = self.image(&app).await?;
        let message = wire::create(self.config(), (&app, &image), labels, &self.options.env, name);
        for _ in 0..3 {
            match self.account.call::<SandboxCreateV2Response>(control::CREATE, &message).await? {
                Ok(created) => return self.begun(created).await,
                Err(status) if status.code == code::ALREADY_EXISTS => match name {
                    // It may end between the two questions; then the name is free again.
                    Some(name) => {
                        if let Some(created) = self.met(name).await? {
                            return Ok(created);
                        }
                    }
                    None => return Err(status.error(OPERATION)),
                },
                Err(status) => return Err(status.error(OPERATION)),
            }
        }
        let message = "the name of the sandbox is taken, and no sandbox has it; try again";
        Err(Error::new(ErrorKind::Unavailable, OPERATION, message))
    }

    /// A sandbox that was made, when its router answers.
    async fn begun(&self, created: SandboxCreateV2Response) -> Result<Created<ModalSandbox>> {
        let id = SandboxId::parse(created.sandbox_id)?;
        let own = Some(created.sandbox_token).filter(|token| !token.is_empty()).map(Secret::new);
        let plane = self.plane(&id, own, created.task_id, created.command_router_access).await;
        let gone = || lacking("create a sandbox", "task; the sandbox ended at once");
        Ok(Created { id, made: true, plane: plane.and_then(|plane| plane.ok_or_else(gone)) })
    }

    /// The sandbox of this name, which another has just made.
    async fn met(&self, name: &str) -> Result<Option<Created<ModalSandbox>>> {
        let message = SandboxGetFromNameRequest {
            sandbox_name: name.to_owned(),
            environment_name: self.config().environment.clone(),
            app_name: self.config().app.clone(),
        };
        let found = self.account.call::<SandboxGetFromNameResponse>(control::BY_NAME, &message).await?;
        let Some(found) = absent(found).map_err(|status| status.error("create a sandbox"))? else { return Ok(None) };
        let id = SandboxId::parse(found.sandbox_id)?;
        let plane = self.plane(&id, None, String::new(), None).await?;
        Ok(plane.map(|plane| Created { id, made: false, plane: Ok(plane) }))
    }

    /// The sandbox with what is known of it already; what is missing is asked for. `None` when it has ended.
    async fn plane(
        &self,
        id: &SandboxId,
        own: Option<Secret>,
        task_id: String,
        access: Option<RouterAccess>,
    ) -> Result<Option<ModalSandbox>> {
        let task = async { if task_id.is_empty() { self.task(id).await } else { Ok(Some(task_id)) } };
        let access = async {
            match access.filter(|access| !access.url.is_empty()) {
                Some(access) => Ok(Some(access)),
                None => self.access(id).await,
            }
        };
        let (Some(task), Some(access)) = try_join(task, access).await? else { return Ok(None) };
        let way = Way::new(Arc::clone(&self.account), id.clone(), own, Task::new(task, access));
        let sandbox = ModalSandbox::new(way);
        sandbox.ready(self.options.ready_time).await?;
        Ok(Some(sandbox))
    }

    /// What runs the sandbox, once it does. `None` when it has ended.
    async fn task(&self, id: &SandboxId) -> Result<Option<String>> {
        const OPERATION: &str = "connect to a sandbox";
        let message = SandboxRequest { sandbox_id: id.as_str().to_owned() };
        let mut polling = Polling::new(OPERATION, self.options.ready_time);
        loop {
            let asked = self.account.call::<SandboxGetTaskIdResponse>(control::TASK, &message).await?;
            let Some(answer) = found(asked).map_err(|status| status.error(OPERATION))? else { return Ok(None) };
            if wire::is_over(answer.task_result.as_ref()) {
                return Ok(None);
            }
            if let Some(task) = answer.task_id.filter(|task| !task.is_empty()) {
                return Ok(Some(task));
            }
            polling.pause().await?;
        }
    }

    async fn access(&self, id: &SandboxId) -> Result<Option<RouterAccess>> {
        let message = RouterAccessRequest { sandbox_id: id.as_str().to_owned(), task_id: String::new() };
        let asked = self.account.call::<RouterAccess>(control::ROUTER, &message).await?;
        match found(asked) {
            // A sandbox that has ended has no router any more.
            Err(status) if status.code == code::FAILED_PRECONDITION => Ok(None),
            answer => answer.map_err(|status| status.error("connect to a sandbox")),
        }
    }

    async fn page(&self, request: ListRequest) -> Result<ListPage> {
        let app = self.app("list").await?;
        let message = wire::list(self.config(), &app, &request)?;
        let page = self.account.call::<SandboxListResponse>(control::LIST, &message).await?;
        wire::listed(page.map_err(|status| status.error("list"))?)
    }

    async fn gone(&self, id: &SandboxId) -> Result<()> {
        let failed = |status: Status| status.error("delete").with_context("sandbox", id.as_str());
        let message = SandboxRequest { sandbox_id: id.as_str().to_owned() };
        let told = self.account.call::<SandboxTerminateResponse>(control::TERMINATE, &message).await?;
        match found(told).map_err(failed)? {
            None => return Ok(()),
            Some(told) if wire::is_over(told.existing_result.as_ref()) => return Ok(()),
            Some(_) => {}
        }
        let message = SandboxWaitRequest { sandbox_id: id.as_str().to_owned(), timeout: 0.0 };
        let mut polling = Polling::new("delete", ENDING);
        loop {
            let asked = self.account.call::<SandboxWaitResponse>(control::WAIT, &message).await?;
            match found(asked).map_err(failed)? {
                Some(answer) if !wire::is_over(answer.result.as_ref()) => polling.pause().await?,
                _ => return Ok(()),
            }
        }
    }
}

/// An answer about a sandbox: `None` when there is none of this name, or when it cannot be a name.
fn found<T>(answer: std::result::Result<T, Status>) -> std::result::Result<Option<T>, Status> {
    match answer {
        Err(status) if status.code == code::INVALID_ARGUMENT => Ok(None),
        answer => absent(answer),
    }
}

impl Control for ModalControl {
    type Plane = ModalSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    fn create<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
        key: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Created<ModalSandbox>>> {
        Box::pin(self.made(labels, key))
    }

    fn connect<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<ModalSandbox>>> {
        Box::pin(self.plane(id, None, String::new(), None))
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(self.page(request))
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.gone(id))
    }
}

/// Modal behind the contract of providers.
pub type ModalProvider = RemoteProvider<ModalControl>;
