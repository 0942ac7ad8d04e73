//! Modal: its control plane and the router of commands of every sandbox, by gRPC at one address.
//!
//! What the official clients accept is what is answered; of the service itself nobody here has seen an answer.

mod answer;
mod command;
mod control;
mod file_tool;
mod life;
mod router;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::routing::post;
use tidebox_remote_adapters::modal::wire::{control as calls, router as router_calls};

use crate::house::{House, Room};
pub(crate) use answer::refused_with;
use command::Running;

/// The name of the credential. Its secret is the emulator's key.
const TOKEN_ID: &str = "ak-tidebox";

/// Everything that calls share.
#[derive(Clone, Debug)]
struct Shared {
    house: House,
    key: Arc<str>,
    /// Where the emulator is, as clients reach it.
    url: Arc<str>,
    /// A moment by both clocks, so that every sandbox was made at one time for ever.
    begun: (Instant, SystemTime),
    known: Arc<Mutex<Known>>,
    /// Held while a sandbox is made.
    naming: Arc<tokio::sync::Mutex<()>>,
}

/// What is remembered beside the sandboxes themselves.
#[derive(Debug, Default)]
struct Known {
    /// Apps and images by their names.
    apps: BTreeMap<String, String>,
    images: BTreeMap<String, String>,
    /// Sandboxes that were ever made, and of those that ended how they did.
    sandboxes: BTreeSet<String>,
    ended: BTreeMap<String, i32>,
    /// Answers to creations by their key.
    created: BTreeMap<String, String>,
    /// Commands by sandbox and name.
    commands: BTreeMap<(String, String), Arc<Running>>,
    /// How many commands there are when those that ended long ago are forgotten.
    sweep_at: usize,
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When a sandbox was made, in seconds since 1970.
    fn made_at(&self, room: &Room) -> f64 {
        let since = room.made.duration_since(self.begun.0);
        self.begun.1.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() + since.as_secs_f64()
    }
}

/// All routes. `url` is where clients reach them, `key` what they have to show as the secret of their token.
pub fn router(house: House, key: &str, url: &str) -> Router {
    let begun = (Instant::now(), SystemTime::now());
    let shared =
        Shared { house, key: key.into(), url: url.into(), begun, known: Arc::default(), naming: Arc::default() };
    Router::new()
        .route(calls::HELLO, post(control::hello))
        .route(calls::APP, post(control::app))
        .route(calls::ENVIRONMENT, post(control::environment))
        .route(calls::IMAGE, post(control::image))
        .route(calls::IMAGE_BY_ID, post(control::image_by_id))
        .route(calls::IMAGE_JOIN, post(control::image_join))
        .route(calls::TOKEN, post(control::token))
        .route(calls::CREATE, post(life::create))
        .route(calls::TASK, post(life::task))
        .route(calls::ROUTER, post(life::router))
        .route(calls::BY_NAME, post(life::by_name))
        // The client asks for a sandbox of the older kind when there is none of the newer.
        .route("/modal.client.ModalClient/SandboxGetFromName", post(life::by_older_name))
        .route(calls::LIST, post(life::list))
        .route(calls::WAIT, post(life::wait))
        .route(calls::TERMINATE, post(life::terminate))
        .route(calls::TAGS, post(life::tags))
        .route(calls::SET_TAGS, post(life::set_tags))
        .route(router_calls::START, post(router::start))
        .route(router_calls::READ, post(router::read))
        .route(router_calls::WAIT, post(router::wait))
        .route(router_calls::POLL, post(router::poll))
        .route(router_calls::WRITE, post(router::write))
        .route(router_calls::WRITE_STREAM, post(router::write_stream))
        .route(router_calls::WRITTEN, post(router::written))
        .fallback(answer::unknown_call)
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(shared)
}

/// What points Modal's clients to an emulator.
pub fn variables(url: &str, key: &str) -> Vec<(String, String)> {
    [("MODAL_SERVER_URL", url), ("MODAL_TOKEN_ID", TOKEN_ID), ("MODAL_TOKEN_SECRET", key)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// The name of the token that goes with the key, for our adapter.
pub(crate) fn token_id() -> &'static str {
    TOKEN_ID
}
