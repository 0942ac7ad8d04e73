//! Sandbox lifecycle at Modal.
//!
//! Names are unique among the running sandboxes of an app, and a sandbox requested by labels is named after them: of
//! two concurrent processes, one creates it and the other connects to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::try_join;
use futures_util::lock::Mutex;
use tidebox_core::{Error, ErrorKind, ListPage, ListRequest, Result, SandboxId, Secret};

use super::call::{self, Messages, Status, code};
use super::config::ModalConfig;
use super::exec::{ControlClient, RouterClient};
use super::messages::*;
use super::sandbox::{ModalSandbox, missing_field, not_found_as_none};
use super::token::Token;
use super::wire::{self, RouterEndpoint, control};
use crate::control_plane::{ControlPlane, Created};
use crate::options::Options;
use crate::poll::PollTimer;
use crate::provider::RemoteProvider;
use crate::transport::{Client, RetryPolicy};

/// Timeout for a sandbox to terminate.
const ENDING: Duration = Duration::from_secs(60);

/// Control plane of Modal.
#[derive(Debug)]
pub struct ModalControl {
    options: Options,
    account: Arc<ControlClient>,
    /// App id and image id, once known.
    app: Mutex<Option<String>>,
    image: Mutex<Option<String>>,
}

impl ModalControl {
    /// Reads options and environment variables.
    ///
    /// # Errors
    /// Same as [`ModalConfig::new`].
    pub fn new(options: Options) -> Result<Self> {
        let config = ModalConfig::new(&options)?;
        let client = Client::new(options.transport()?, RetryPolicy::default());
        let account = Arc::new(ControlClient { config, client, token: Token::default() });
        Ok(Self { options, account, app: Mutex::new(None), image: Mutex::new(None) })
    }

    fn config(&self) -> &ModalConfig {
        &self.account.config
    }

    /// Sends a call that needs no token.
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

    /// Returns the image id, and builds the image on first use.
    async fn image(&self, app: &str) -> Result<String> {
        const OPERATION: &str = "build an image";
        if self.config().image.starts_with("im-") {
            return Ok(self.config().image.clone());
        }
        let mut image = self.image.lock().await;
        if let Some(image) = &*image {
            return Ok(image.clone());
        }
        let message = EnvironmentGetOrCreateRequest { deployment_name: self.config().environment.clone() };
        let environment: EnvironmentGetOrCreateResponse = self.plain(OPERATION, control::ENVIRONMENT, &message).await?;
        let settings = environment.metadata.and_then(|metadata| metadata.settings).unwrap_or_default();
        let message = wire::image(self.config(), app, settings.image_builder_version);
        let started: ImageGetOrCreateResponse = self.plain(OPERATION, control::IMAGE, &message).await?;
        let result = match started.result.filter(|result| result.status != 0) {
            Some(result) => result,
            None => self.await_image(OPERATION, &started.image_id).await?,
        };
        if result.status != 1 {
            let message = format!("cannot build the image {:?}: {}", self.config().image, result.exception);
            return Err(Error::new(ErrorKind::InvalidRequest, OPERATION, message));
        }
        Ok(image.insert(started.image_id).clone())
    }

    /// Waits until an image is built.
    async fn await_image(&self, operation: &'static str, image_id: &str) -> Result<GenericResult> {
        let mut polling = PollTimer::new(operation, self.options.ready_time);
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
                let step = step.map_err(|error| call::decode_error(&error))?;
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

    /// Returns a created sandbox once its router responds.
    async fn await_router(&self, created: SandboxCreateV2Response) -> Result<Created<ModalSandbox>> {
        let id = SandboxId::parse(created.sandbox_id)?;
        let own = Some(created.sandbox_token).filter(|token| !token.is_empty()).map(Secret::new);
        let plane = self.plane(&id, own, created.task_id, created.command_router_access).await;
        let not_found = || missing_field("create a sandbox", "task; the sandbox ended immediately");
        Ok(Created { id, is_new: true, sandbox: plane.and_then(|plane| plane.ok_or_else(not_found)) })
    }

    /// Returns the sandbox with this name, created by another caller.
    async fn find_by_name(&self, name: &str) -> Result<Option<Created<ModalSandbox>>> {
        let message = SandboxGetFromNameRequest {
            sandbox_name: name.to_owned(),
            environment_name: self.config().environment.clone(),
            app_name: self.config().app.clone(),
        };
        let found = self.account.call::<SandboxGetFromNameResponse>(control::BY_NAME, &message).await?;
        let Some(found) = not_found_as_none(found).map_err(|status| status.error("create a sandbox"))? else {
            return Ok(None);
        };
        let id = SandboxId::parse(found.sandbox_id)?;
        let plane = self.plane(&id, None, String::new(), None).await?;
        Ok(plane.map(|plane| Created { id, is_new: false, sandbox: Ok(plane) }))
    }

    /// Returns the sandbox and requests missing details. `None` if it has ended.
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
        let client = RouterClient::new(Arc::clone(&self.account), id.clone(), own, RouterEndpoint::new(task, access));
        let sandbox = ModalSandbox::new(client);
        sandbox.ready(self.options.ready_time).await?;
        Ok(Some(sandbox))
    }

    /// Returns the task of the sandbox once it runs. `None` if the sandbox has ended.
    async fn task(&self, id: &SandboxId) -> Result<Option<String>> {
        const OPERATION: &str = "connect to a sandbox";
        let message = SandboxRequest { sandbox_id: id.as_str().to_owned() };
        let mut polling = PollTimer::new(OPERATION, self.options.ready_time);
        loop {
            let result = self.account.call::<SandboxGetTaskIdResponse>(control::TASK, &message).await?;
            let Some(response) = none_if_missing(result).map_err(|status| status.error(OPERATION))? else {
                return Ok(None);
            };
            if wire::is_finished(response.task_result.as_ref()) {
                return Ok(None);
            }
            if let Some(task) = response.task_id.filter(|task| !task.is_empty()) {
                return Ok(Some(task));
            }
            polling.pause().await?;
        }
    }

    async fn access(&self, id: &SandboxId) -> Result<Option<RouterAccess>> {
        let message = RouterAccessRequest { sandbox_id: id.as_str().to_owned(), task_id: String::new() };
        let result = self.account.call::<RouterAccess>(control::ROUTER, &message).await?;
        match none_if_missing(result) {
            // A sandbox that has ended has no router.
            Err(status) if status.code == code::FAILED_PRECONDITION => Ok(None),
            response => response.map_err(|status| status.error("connect to a sandbox")),
        }
    }
}

/// Maps a status to `None` if the sandbox does not exist or the id is invalid.
fn none_if_missing<T>(response: std::result::Result<T, Status>) -> std::result::Result<Option<T>, Status> {
    match response {
        Err(status) if status.code == code::INVALID_ARGUMENT => Ok(None),
        response => not_found_as_none(response),
    }
}

#[async_trait]
impl ControlPlane for ModalControl {
    type DataPlane = ModalSandbox;

    fn options(&self) -> &Options {
        &self.options
    }

    async fn create(&self, labels: &BTreeMap<String, String>, name: Option<&str>) -> Result<Created<ModalSandbox>> {
        const OPERATION: &str = "create a sandbox";
        let app = self.app(OPERATION).await?;
        let image = self.image(&app).await?;
        let message = wire::create(self.config(), (&app, &image), labels, &self.options.env, name);
        for _ in 0..3 {
            match self.account.call::<SandboxCreateV2Response>(control::CREATE, &message).await? {
                Ok(created) => return self.await_router(created).await,
                Err(status) if status.code == code::ALREADY_EXISTS => match name {
                    // It may end between the two requests, which frees the name.
                    Some(name) => {
                        if let Some(created) = self.find_by_name(name).await? {
                            return Ok(created);
                        }
                    }
                    None => return Err(status.error(OPERATION)),
                },
                Err(status) => return Err(status.error(OPERATION)),
            }
        }
        let message = "the sandbox name is reserved, but the sandbox does not exist yet; try again";
        Err(Error::new(ErrorKind::Unavailable, OPERATION, message))
    }

    async fn connect(&self, id: &SandboxId) -> Result<Option<ModalSandbox>> {
        self.plane(id, None, String::new(), None).await
    }

    async fn list(&self, request: ListRequest) -> Result<ListPage> {
        let app = self.app("list").await?;
        let message = wire::list(self.config(), &app, &request)?;
        let page = self.account.call::<SandboxListResponse>(control::LIST, &message).await?;
        wire::parse_list(page.map_err(|status| status.error("list"))?)
    }

    async fn delete(&self, id: &SandboxId) -> Result<()> {
        let failed = |status: Status| status.error("delete").with_context("sandbox", id.as_str());
        let message = SandboxRequest { sandbox_id: id.as_str().to_owned() };
        let reported = self.account.call::<SandboxTerminateResponse>(control::TERMINATE, &message).await?;
        match none_if_missing(reported).map_err(failed)? {
            None => return Ok(()),
            Some(reported) if wire::is_finished(reported.existing_result.as_ref()) => return Ok(()),
            Some(_) => {}
        }
        let message = SandboxWaitRequest { sandbox_id: id.as_str().to_owned(), timeout: 0.0 };
        let mut polling = PollTimer::new("delete", ENDING);
        loop {
            let result = self.account.call::<SandboxWaitResponse>(control::WAIT, &message).await?;
            match none_if_missing(result).map_err(failed)? {
                Some(response) if !wire::is_finished(response.result.as_ref()) => polling.pause().await?,
                _ => return Ok(()),
            }
        }
    }
}

/// Provider for Modal.
pub type ModalProvider = RemoteProvider<ModalControl>;
