//! Tunnels to the ports that a sandbox was created with. Each is a port of 127.0.0.1 without TLS.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use tidebox_remote_adapters::modal::messages::{GenericResult, PortSpecs, SandboxRequest, Tunnel, TunnelsResponse};

use super::Shared;
use super::grpc::{RpcResult, code, missing_feature, read, status, unary};
use crate::registry::{HostPort, SandboxRecord};

/// Maximum number of ports of one sandbox: each is a port of this computer, too.
const MAX_PORTS: usize = 64;

/// Status of a result that is available.
const SUCCESS: i32 = 1;

/// Returns the ports that a request names.
pub(super) fn checked_ports(specs: Option<PortSpecs>) -> RpcResult<Vec<(u16, bool)>> {
    let specs = specs.unwrap_or_default().ports;
    if specs.len() > MAX_PORTS {
        return Err(status(code::INVALID_ARGUMENT, format!("a sandbox has at most {MAX_PORTS} open ports")));
    }
    let checked = |port: u32| u16::try_from(port).ok().filter(|port| *port != 0);
    let invalid = |port| status(code::INVALID_ARGUMENT, format!("invalid port {port}: expected 1 to 65535"));
    specs
        .into_iter()
        .map(|spec| Ok((checked(spec.port).ok_or_else(|| invalid(spec.port))?, spec.unencrypted)))
        .collect()
}

impl Shared {
    /// Opens the tunnels of a sandbox. They end with it.
    pub(super) async fn open_tunnels(
        &self,
        sandbox_id: &str,
        sandbox: &SandboxRecord,
        ports: &[(u16, bool)],
    ) -> RpcResult<()> {
        let (mut tunnels, mut open): (Vec<Tunnel>, Vec<HostPort>) = (Vec::new(), Vec::new());
        for (port, is_unencrypted) in ports {
            let expose = sandbox.ports.as_ref().ok_or_else(|| missing_feature("tunnels for this kind of sandbox"))?;
            let opened = (Arc::clone(&expose.expose))(*port).await;
            let opened = opened.map_err(|error| status(code::FAILED_PRECONDITION, error.to_string()))?;
            let (host, number) = (opened.address.ip().to_string(), u32::from(opened.address.port()));
            let mut tunnel = Tunnel { host, port: number, container_port: u32::from(*port), ..Tunnel::default() };
            if *is_unencrypted {
                tunnel.unencrypted_host.clone_from(&tunnel.host);
                tunnel.unencrypted_port = number;
            }
            tunnels.push(tunnel);
            open.push(opened);
        }
        if tunnels.is_empty() {
            return Ok(());
        }
        let ended = self.registry.wait_for_end(sandbox_id, sandbox);
        tokio::spawn(async move {
            ended.await;
            drop(open);
        });
        self.state().tunnels.insert(sandbox_id.to_owned(), tunnels);
        Ok(())
    }
}

/// `SandboxGetTunnelsV2`: a sandbox without open ports has no tunnels.
pub(super) async fn list(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = || {
        shared.authorised_with_token(&headers)?;
        let request: SandboxRequest = read(&body)?;
        let known = shared.state();
        if !known.sandboxes.contains(&request.sandbox_id) {
            return Err(status(code::NOT_FOUND, format!("Sandbox '{}' not found", request.sandbox_id)));
        }
        let tunnels = known.tunnels.get(&request.sandbox_id).cloned().unwrap_or_default();
        let result = GenericResult { status: SUCCESS, ..GenericResult::default() };
        Ok(TunnelsResponse { result: Some(result), tunnels })
    };
    std::future::ready(unary(reply())).await
}
