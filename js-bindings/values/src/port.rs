//! Ports that clients outside the sandbox reach, for JavaScript.

use std::sync::Arc;

use js_sys::Promise;
use tidebox_core::{PortEndpoint, SandboxBackend};

use crate::files::promise;
use crate::neutral::Value;

/// Returns the address of a port as a plain object with `url` and `headers`, a list of pairs.
pub fn port_endpoint(backend: &Arc<dyn SandboxBackend>, port: u16) -> Promise {
    let backend = Arc::clone(backend);
    promise(async move { Ok(to_object(&backend.port_endpoint(port).await?).into()) })
}

fn to_object(endpoint: &PortEndpoint) -> Value {
    let pair = |name: &str, value: &[u8]| Value::list([Value::from(name), Value::lossy(value)]);
    let headers = endpoint.headers.iter().map(|(name, value)| pair(name, value.expose()));
    Value::object([("url", Value::from(endpoint.url.as_str())), ("headers", Value::list(headers))])
}
