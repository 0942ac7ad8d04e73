//! Gives a sandbox access to one server with a token that it never sees.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};

use tidebox::network::{AllowRule, HeaderInjection, NetworkPolicy, RequestOutcome};
use tidebox::{ExecuteRequest, SandboxBackend, Secret};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let token = "planted-token-7f3a";
    let port = server(token)?;

    // `api.test` is this host; only the application can pin an address. A public host needs neither `pin_address` nor `http`.
    let credential =
        HeaderInjection::new("api.test", "Authorization", Secret::new(format!("Bearer {token}")))?.over_http();
    let policy = NetworkPolicy::new()
        .allow(AllowRule::host("api.test")?.http().port(port))
        .pin_address("api.test", Ipv4Addr::LOCALHOST.into())?
        .with_injection(credential);
    let sandbox = tidebox::sandbox()?.network(policy).build()?;

    let command = format!("curl -sS http://api.test:{port}/name");
    let response = sandbox.execute(ExecuteRequest::new(command)).await?;
    assert_eq!(response.stdout_text(), "{\"name\":\"Tide\"}\n", "{}", response.stderr_text());

    // The token is not in the sandbox.
    let command = format!("env; set; curl -sSv http://api.test:{port}/name");
    let response = sandbox.execute(ExecuteRequest::new(command)).await?;
    assert!(response.stderr_text().contains("> GET /name HTTP/1.1"));
    assert!(!response.output_text().contains(token));

    // Other hosts are denied with a reason.
    let response = sandbox.execute(ExecuteRequest::new("curl -sS https://example.com/")).await?;
    assert_eq!(response.exit_code, Some(7));
    assert!(response.stderr_text().contains("network policy does not allow example.com; it allows api.test"));

    let log = sandbox.network_log();
    assert_eq!(log.events.len(), 3);
    assert_eq!(log.events[0].status, Some(200));
    assert_eq!(log.events[0].credentials, ["Authorization for api.test"]);
    assert!(matches!(log.events[2].outcome, RequestOutcome::Denied(..)));
    Ok(())
}

/// A local service that requires the token.
fn server(token: &'static str) -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            // Reads all lines before it responds, hence no `any`.
            let known = lines.filter(|line| line.ends_with(&format!("Bearer {token}"))).count() > 0;
            let (status, body) = if known { ("200 OK", "{\"name\":\"Tide\"}\n") } else { ("401 Unauthorized", "no\n") };
            let reply = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            // The client may have disconnected.
            let _ = stream.write_all(reply.as_bytes());
        }
    });
    Ok(port)
}
