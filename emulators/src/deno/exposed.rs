//! Exposed HTTP servers. A client first gets a domain, and then names the port of its sandbox.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tidebox_core::BoxFuture;
use tidebox_core::lock::Mutex;

use super::{Shared, absent_error, error, error_response};
use crate::preview::{FindPreview, PreviewAddress, PreviewTarget, Unavailable};
use crate::registry::random_token;

/// The number in a domain. The domain exists before its port is known.
const LABEL_PORT: u16 = 80;

/// Maximum number of domains of one sandbox.
const MAX_DOMAINS: usize = 64;

/// A domain that was given to a client.
#[derive(Clone, Debug)]
pub(super) struct Exposed {
    sandbox: String,
    /// `None` until the client has named it.
    port: Option<u16>,
}

impl Exposed {
    /// Returns whether the domain belongs to a sandbox.
    pub(super) fn is_of(&self, sandbox: &str) -> bool {
        self.sandbox == sandbox
    }
}

/// Domains by their key.
pub(super) type AllExposed = Arc<Mutex<BTreeMap<String, Exposed>>>;

/// `POST /api/v3/sandbox/{id}/expose/http`
pub(super) async fn create(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    if shared.registry.find(&id).await.is_none() {
        return error_response(404, "SANDBOX_NOT_FOUND", &format!("The sandbox {id} was not found"));
    }
    let key = match random_token() {
        Ok(key) => key,
        Err(error) => return error_response(500, "INTERNAL", &error.to_string()),
    };
    let domain = shared.domain.host_of(LABEL_PORT, &key);
    let mut all = shared.exposed.lock();
    if all.values().filter(|exposed| exposed.is_of(&id)).count() >= MAX_DOMAINS {
        let message = format!("a sandbox has at most {MAX_DOMAINS} exposed ports");
        return error_response(429, "TOO_MANY_DOMAINS", &message);
    }
    all.insert(key, Exposed { sandbox: id, port: None });
    Json(json!({ "domain": domain })).into_response()
}

impl Shared {
    /// The call `exposeHttp` of a sandbox: names the port of a domain.
    pub(super) fn expose_http(&self, id: &str, params: &Value) -> Result<Value, Value> {
        if params.get("pid").is_some() {
            return Err(absent_error("Deno programs (exposeHttp of a process); expose a port"));
        }
        let port = params["port"].as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0);
        let port = port.ok_or_else(|| error("TypeError", "EINVAL", "port must be between 1 and 65535"))?;
        let domain = params["domain"].as_str().unwrap_or_default();
        let mut all = self.exposed.lock();
        let is_it = |key: &String| self.domain.host_of(LABEL_PORT, key) == domain;
        match all.iter_mut().find(|(key, exposed)| exposed.is_of(id) && is_it(key)) {
            Some((_, exposed)) => exposed.port = Some(port),
            None => return Err(error("NotFound", "ENOENT", &format!("the domain '{domain}' was not found"))),
        }
        Ok(Value::Null)
    }
}

impl FindPreview for Shared {
    fn find<'a>(
        &'a self,
        address: &'a PreviewAddress,
        _head: &'a mut Parts,
    ) -> BoxFuture<'a, Result<PreviewTarget, Box<Response>>> {
        Box::pin(async move {
            let not_found = || Box::new(error_response(404, "NOT_FOUND", "nothing is exposed at this domain"));
            let exposed = self.exposed.lock().get(&address.key).cloned();
            let (id, port) =
                exposed.and_then(|exposed| Some((exposed.sandbox, exposed.port?))).ok_or_else(not_found)?;
            let sandbox = self.registry.find(&id).await.ok_or_else(not_found)?;
            Ok(self.registry.preview_target(&id, &sandbox, port))
        })
    }

    fn unavailable(&self, target: &PreviewTarget, why: Unavailable) -> Response {
        let port = target.port;
        match why {
            Unavailable::Closed => {
                error_response(502, "BAD_GATEWAY", &format!("nothing listens on port {port} of the sandbox"))
            }
            Unavailable::Busy => error_response(429, "TOO_MANY_CONNECTIONS", "the sandbox has too many connections"),
            Unavailable::Broken => {
                error_response(502, "BAD_GATEWAY", &format!("the server on port {port} did not respond"))
            }
        }
    }
}
