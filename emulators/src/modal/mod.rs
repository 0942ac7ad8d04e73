//! Modal: its control plane and the command router of every sandbox, over gRPC at one address.
//!
//! Responses are those that the official clients accept; they were not compared with the service itself.

mod command;
mod control;
mod file_tool;
mod grpc;
mod main_command;
mod messages;
mod older;
mod router;
mod sandboxes;
mod snapshot;
mod tunnels;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tidebox_core::lock::Mutex;

use axum::Router;
use axum::routing::post;
use tidebox_remote_adapters::modal::wire::{control as calls, router as router_calls};

use crate::registry::{ImageUser, SandboxRecord, SandboxRegistry};
use command::RunningCommand;
pub(crate) use grpc::error_response_with_retry;
use tidebox_remote_adapters::modal::messages::Tunnel;

/// Id of the credential. Its secret is the emulator's key.
const TOKEN_ID: &str = "ak-tidebox";

/// User of every command, as in Modal's images.
const USER: ImageUser = ImageUser { name: "root", home: "/root" };

/// Interval of checks whether a sandbox has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// State shared by all calls.
#[derive(Clone, Debug)]
struct Shared {
    registry: SandboxRegistry,
    key: Arc<str>,
    /// URL at which clients reach the emulator.
    url: Arc<str>,
    /// Start time on both clocks, so that the creation time of a sandbox never changes.
    clock_start: (Instant, SystemTime),
    known: Arc<Mutex<ControlState>>,
    /// Held while a sandbox is created.
    naming: Arc<tokio::sync::Mutex<()>>,
}

/// State in addition to the registry.
#[derive(Debug, Default)]
struct ControlState {
    /// Apps and images by name.
    apps: BTreeMap<String, String>,
    images: BTreeMap<String, String>,
    /// All sandboxes ever created, and the results of those that ended.
    sandboxes: BTreeSet<String>,
    ended: BTreeMap<String, sandboxes::EndedSandbox>,
    /// Apps by sandbox.
    app_ids: BTreeMap<String, String>,
    /// Variables of the secrets that requests of the older API defined, by id.
    secrets: BTreeMap<String, BTreeMap<String, String>>,
    /// Main commands by sandbox.
    main: BTreeMap<String, main_command::MainCommand>,
    /// Tunnels of sandboxes that were created with ports.
    tunnels: BTreeMap<String, Vec<Tunnel>>,
    /// Snapshots by image id.
    snapshots: BTreeMap<String, snapshot::SnapshotImage>,
    /// Created sandboxes by idempotency key.
    created: BTreeMap<String, String>,
    /// Commands by sandbox and exec id.
    commands: BTreeMap<(String, String), Arc<RunningCommand>>,
    /// Number of commands at which old finished ones are removed.
    sweep_at: usize,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, ControlState> {
        self.known.lock()
    }

    /// Returns a sandbox's creation time, in seconds since 1970.
    fn made_at(&self, sandbox: &SandboxRecord) -> f64 {
        let since = sandbox.created_at.duration_since(self.clock_start.0);
        self.clock_start.1.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() + since.as_secs_f64()
    }
}

/// Returns all routes. `url` is the URL at which clients reach them, `key` the token secret required from clients.
pub fn router(registry: SandboxRegistry, key: &str, url: &str) -> Router {
    let clock_start = (Instant::now(), SystemTime::now());
    let shared = Shared {
        registry,
        key: key.into(),
        url: url.into(),
        clock_start,
        known: Arc::default(),
        naming: Arc::default(),
    };
    Router::new()
        .route(calls::HELLO, post(control::hello))
        .route(calls::APP, post(control::app))
        .route(calls::ENVIRONMENT, post(control::environment))
        .route(calls::IMAGE, post(control::image))
        .route(calls::IMAGE_BY_ID, post(control::image_by_id))
        .route(calls::IMAGE_JOIN, post(control::image_join))
        .route(calls::TOKEN, post(control::token))
        .route(calls::CREATE, post(sandboxes::create))
        .route(calls::TASK, post(sandboxes::task))
        .route(calls::ROUTER, post(sandboxes::router))
        .route(calls::BY_NAME, post(sandboxes::by_name))
        .route(calls::LIST, post(sandboxes::list))
        .route(calls::WAIT, post(sandboxes::wait))
        .route(calls::TERMINATE, post(sandboxes::terminate))
        .route(calls::TAGS, post(sandboxes::tags))
        .route(calls::SET_TAGS, post(sandboxes::set_tags))
        .route("/modal.client.ModalClient/SandboxSetName", post(sandboxes::set_name))
        .route("/modal.client.ModalClient/SandboxGetTunnelsV2", post(tunnels::list))
        .route("/modal.client.ModalClient/ImageDelete", post(control::delete_image))
        .route("/modal.task_command_router.TaskCommandRouter/SandboxStdioReadV2", post(main_command::read_output))
        .route("/modal.task_command_router.TaskCommandRouter/SandboxStdinWriteV2", post(main_command::write_input))
        .route(
            "/modal.task_command_router.TaskCommandRouter/SandboxWaitUntilReady",
            post(main_command::wait_until_ready),
        )
        .route("/modal.task_command_router.TaskCommandRouter/TaskSnapshotFilesystem", post(snapshot::filesystem))
        .route(router_calls::START, post(router::start))
        .route(router_calls::READ, post(router::read))
        .route(router_calls::WAIT, post(router::wait))
        .route(router_calls::POLL, post(router::poll))
        .route(router_calls::WRITE, post(router::write))
        .route(router_calls::WRITE_STREAM, post(router::write_stream))
        .route(router_calls::WRITTEN, post(router::written))
        .merge(older::router(shared.clone()))
        .fallback(grpc::unknown_call)
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(shared)
}

/// Environment variables that point Modal's clients to an emulator.
pub fn variables(url: &str, key: &str) -> Vec<(String, String)> {
    [("MODAL_SERVER_URL", url), ("MODAL_TOKEN_ID", TOKEN_ID), ("MODAL_TOKEN_SECRET", key)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Returns the token id that belongs to the key, for the adapter.
pub(crate) fn token_id() -> &'static str {
    TOKEN_ID
}
