//! `tidebox mcp`: a sandbox for clients of the Model Context Protocol.

mod client;
mod install;
mod json_file;
mod source;
mod toml_file;

use std::env;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use tidebox_mcp::{HttpConfig, HttpServer, SandboxSource, Settings};

use crate::Secret;
use crate::cli::args::{Mcp, McpCommand, McpHttp, McpServer, SandboxArgs};
use crate::cli::sandbox;
use crate::cli::serve::shutdown_signal;
pub(crate) use client::CLIENTS;
use source::{LocalSource, Saving};

/// Environment variable with the token, which other users of the host cannot read, unlike arguments.
const TOKEN_VARIABLE: &str = "TIDEBOX_MCP_TOKEN";

/// Bytes of a random token.
const TOKEN_BYTES: usize = 32;

/// Runs `tidebox mcp`: serves until the client or a signal ends it, or installs the server.
pub(crate) fn mcp(mcp: Mcp) -> Result<u8> {
    match mcp.command {
        Some(McpCommand::Install(install)) => install::install(&install),
        None => serve(mcp.server, mcp.http),
    }
}

fn serve(server: McpServer, http: McpHttp) -> Result<u8> {
    let McpServer { options, save, store, sandbox } = server;
    let settings = settings(&options);
    // Errors of the options are reported before a client connects.
    sandbox::builder_with_options(&options)?;
    let source = Arc::new(LocalSource::new(options, Saving::new(save, store)));
    match http.address {
        None => serve_stdio(source, &sandbox, settings),
        Some(address) => serve_http(source, sandbox, address, http, settings),
    }
}

fn settings(options: &SandboxArgs) -> Settings {
    let mut settings = Settings::default();
    if let Some(timeout) = options.timeout {
        (settings.default_timeout, settings.max_timeout) = (timeout, timeout);
    }
    settings.output_overflow = options.output_overflow;
    let hosts = [&options.allow, &options.allow_git, &options.allow_git_push];
    settings.has_network = options.pip || hosts.into_iter().any(|hosts| !hosts.is_empty());
    settings
}

fn serve_stdio(source: Arc<dyn SandboxSource>, name: &str, settings: Settings) -> Result<u8> {
    let runtime = sandbox::runtime()?;
    let served = runtime.block_on(async {
        let shutdown = shutdown_signal()?;
        Ok(tidebox_mcp::serve_stdio(source, name, settings, shutdown).await?)
    });
    // After a signal a thread may still wait for standard input.
    runtime.shutdown_background();
    served.map(|()| 0)
}

fn serve_http(
    source: Arc<dyn SandboxSource>,
    name: String,
    address: SocketAddr,
    http: McpHttp,
    settings: Settings,
) -> Result<u8> {
    let token = token(address, http.token)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start the runtime")?.block_on(async {
        let shutdown = shutdown_signal()?;
        let mut allowed_hosts = http.allowed_hosts;
        if !address.ip().is_unspecified() {
            allowed_hosts.push(address.ip().to_string());
        }
        let config = HttpConfig {
            address,
            token: Secret::new(token.as_str()),
            default_name: name,
            allowed_hosts,
            allowed_origins: http.allowed_origins,
        };
        let server = HttpServer::bind(config, source, settings).await?;
        match print(&server.url(), &token) {
            // The reader of the output has exited, but the server is still useful.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            printed => printed.context("cannot write to stdout")?,
        }
        server.serve(shutdown).await?;
        Ok(0)
    })
}

/// Returns the token of the options or of the environment. For a loopback address a random one is the default, because other users
/// of the host can reach it.
fn token(address: SocketAddr, option: Option<String>) -> Result<String> {
    let option = option.filter(|token| !token.is_empty());
    match option.or_else(|| env::var(TOKEN_VARIABLE).ok()).filter(|token| !token.is_empty()) {
        Some(token) => Ok(token),
        None if !address.ip().is_loopback() => {
            bail!(
                "cannot listen on {}: not a loopback address; set a token in {TOKEN_VARIABLE} or with --token",
                address.ip()
            )
        }
        None => {
            let mut bytes = [0; TOKEN_BYTES];
            getrandom::fill(&mut bytes).context("cannot create a token")?;
            Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
        }
    }
}

/// Prints lines for `eval` in a shell.
fn print(url: &str, token: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "# MCP server at {url}, further sandboxes at {url}/NAME")?;
    writeln!(out, "export TIDEBOX_MCP_URL={url}")?;
    writeln!(out, "export {TOKEN_VARIABLE}={}", crate::shell_backend::quote(token))?;
    writeln!(out, "# ready; Ctrl-C stops the server")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn token_at(address: &str, option: Option<&str>) -> Result<String> {
        token(address.parse().unwrap(), option.map(str::to_owned))
    }

    #[test]
    fn only_loopback_addresses_get_a_random_token() {
        if env::var_os(TOKEN_VARIABLE).is_some() {
            eprintln!("skipped: {TOKEN_VARIABLE} is set");
            return;
        }
        let (one, two) = (token_at("127.0.0.1:0", None).unwrap(), token_at("[::1]:0", None).unwrap());
        assert_eq!(one.len(), 2 * TOKEN_BYTES);
        assert_ne!(one, two);
        assert!(token_at("0.0.0.0:0", None).unwrap_err().to_string().contains("not a loopback address"));
        assert_eq!(token_at("0.0.0.0:0", Some("secret")).unwrap(), "secret");
    }

    #[test]
    fn a_timeout_option_is_the_default_and_the_maximum() {
        let options = SandboxArgs { timeout: Some(Duration::from_secs(3)), ..SandboxArgs::default() };
        let limited = settings(&options);
        assert_eq!((limited.default_timeout, limited.max_timeout), (Duration::from_secs(3), Duration::from_secs(3)));
        assert!(!limited.has_network);
        let online = SandboxArgs { allow: vec!["example.com".to_owned()], ..SandboxArgs::default() };
        assert!(settings(&online).has_network);
    }
}
