//! Servers of the sandbox that clients outside reach.

use std::time::Duration;

use super::capabilities::Requirement::{Execute, Ports, Processes};
use super::case::{Case, cases};
use super::context::CaseContext;
use super::failure::{CaseFailure, CaseResult, check, check_eq, text};
use super::process::{finish, is_invalid, spawn};
use crate::port::PortEndpoint;
use crate::process::{ProcessId, ProcessSignal, ReadOutput};

pub(super) const CASES: &[Case] = cases![
    "port_endpoint: a server is reached by HTTP from outside" [Execute, Processes, Ports] reached;
    "port_endpoint: an endpoint exists before its server and is returned again" [Execute, Processes, Ports] early;
    "port_endpoint: port 0 is rejected" [Ports] rejected;
];

/// Pause between two requests to a server that does not respond yet.
const PAUSE: Duration = Duration::from_millis(100);

/// Maximum number of requests to it.
const MAX_REQUESTS: usize = 200;

/// Starts a server that sends `body` to every client.
async fn serve(context: &CaseContext<'_>, port: u16, body: &str) -> CaseResult<ProcessId> {
    let length = body.len();
    let response = format!("HTTP/1.0 200 OK\\r\\nContent-Length: {length}\\r\\n\\r\\n{body}");
    Ok(spawn(context, &format!("while :; do printf '{response}' | nc -lN {port} >/dev/null; done")).await?)
}

async fn stop(context: &CaseContext<'_>, id: &ProcessId) -> CaseResult {
    context.backend.signal_process(id, ProcessSignal::Kill).await?;
    finish(context, id).await.map(drop)
}

/// Requests a page until the server responds.
async fn expect_page(
    context: &CaseContext<'_>,
    server: &ProcessId,
    endpoint: &PortEndpoint,
    expected: &str,
) -> CaseResult {
    let Some(probe) = context.capabilities.ports else { return Ok(()) };
    let mut last = String::new();
    for _ in 0..MAX_REQUESTS {
        match probe(endpoint.clone(), "/page".to_owned()).await {
            Ok((200, body)) => return check_eq("the response", &text(&body), &expected),
            Ok((status, body)) => last = format!("status {status}: {}", text(&body)),
            Err(error) => last = error.to_string(),
        }
        let page = context.backend.read_process(server, ReadOutput::default().with_wait(PAUSE)).await?;
        check("a server that runs", !page.state.has_ended(), &text(&page.bytes()))?;
    }
    Err(CaseFailure::new("a response of the server", last))
}

async fn reached(context: &CaseContext<'_>) -> CaseResult {
    let server = serve(context, 8731, "served").await?;
    let endpoint = context.backend.port_endpoint(8731).await?;
    let is_url = ["http://", "https://"].iter().any(|scheme| endpoint.url.starts_with(scheme));
    check("a URL without a slash at its end", is_url && !endpoint.url.ends_with('/'), &endpoint.url)?;
    expect_page(context, &server, &endpoint, "served").await?;
    expect_page(context, &server, &endpoint, "served").await?;
    stop(context, &server).await
}

async fn early(context: &CaseContext<'_>) -> CaseResult {
    let early = context.backend.port_endpoint(8732).await?;
    let server = serve(context, 8732, "late").await?;
    expect_page(context, &server, &early, "late").await?;
    let again = context.backend.port_endpoint(8732).await?;
    expect_page(context, &server, &again, "late").await?;
    stop(context, &server).await
}

async fn rejected(context: &CaseContext<'_>) -> CaseResult {
    is_invalid(context.backend.port_endpoint(0).await)
}
