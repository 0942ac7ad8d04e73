//! Arguments of `tidebox mcp` in a build that has it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgAction, ArgMatches, Args, Subcommand};

use crate::cli::args::SandboxArgs;
use crate::cli::args::values::{parse_address, parse_name};
use crate::cli::mcp::CLIENTS;

/// Arguments of `tidebox mcp`.
#[derive(Args, Debug, PartialEq)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) server: McpServer,
    #[command(flatten)]
    pub(crate) http: McpHttp,
}

/// Commands of `tidebox mcp`.
#[derive(Debug, PartialEq, Subcommand)]
pub(crate) enum McpCommand {
    /// Add the server to the configuration of a client
    ///
    /// Options of `tidebox mcp` go into the entry, for example --mount .:/workspace/repo:cow.
    Install(McpInstall),
}

/// The sandboxes of the server.
#[derive(Args, Debug, PartialEq)]
pub(crate) struct McpServer {
    /// Save the sandbox in this directory, and continue with the saved one
    #[arg(long, value_name = "DIR", help_heading = "Saved sandboxes")]
    pub(crate) save: Option<PathBuf>,
    /// Save the sandbox in this store, which servers on several hosts use
    ///
    /// file:///PATH, or in a build with the feature object-store s3://BUCKET/PATH, gs:// or az://.
    ///
    /// A server that opens the sandbox takes it over from another one.
    #[arg(long, value_name = "URL", conflicts_with = "save", help_heading = "Saved sandboxes")]
    pub(crate) store: Option<String>,
    /// Name of the sandbox in the directory of --save or in the store of --store
    #[arg(long, value_name = "NAME", value_parser = parse_name, default_value = "default")]
    #[arg(help_heading = "Saved sandboxes")]
    pub(crate) sandbox: String,
    #[command(flatten)]
    pub(crate) options: SandboxArgs,
}

/// Options of the HTTP transport.
#[derive(Args, Debug, PartialEq)]
pub(crate) struct McpHttp {
    /// Serve over HTTP at /mcp, and further sandboxes at /mcp/NAME [default: stdio]
    ///
    /// Port 0 is any free port.
    #[arg(long = "http", value_name = "ADDRESS:PORT", value_parser = parse_address, help_heading = "HTTP")]
    pub(crate) address: Option<SocketAddr>,
    /// Bearer token that clients must send
    ///
    /// The default is TIDEBOX_MCP_TOKEN, or a random one that is printed.
    ///
    /// Required unless --http is a loopback address.
    #[arg(long, requires = "address", help_heading = "HTTP")]
    pub(crate) token: Option<String>,
    /// Accept this value of the header Host, besides loopback names (repeatable)
    #[arg(long = "allow-host", value_name = "HOST", requires = "address", help_heading = "HTTP")]
    pub(crate) allowed_hosts: Vec<String>,
    /// Accept requests of web pages of this origin (repeatable) [default: none]
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "address", help_heading = "HTTP")]
    pub(crate) allowed_origins: Vec<String>,
}

/// Arguments of `tidebox mcp install`.
#[derive(Args, Debug, PartialEq)]
pub(crate) struct McpInstall {
    /// The client
    #[arg(value_parser = PossibleValuesParser::new(CLIENTS.map(|(name, _)| name)))]
    pub(crate) client: String,
    /// Name of the server in the client
    #[arg(long = "as", value_name = "NAME", value_parser = parse_name, default_value = "tidebox")]
    pub(crate) server: String,
    /// Print the entry instead of writing the file
    #[arg(long)]
    pub(crate) print: bool,
    /// Write the file of the current project [default: that of the client]
    #[arg(long, overrides_with = "user")]
    project: bool,
    /// Write the file of the user [default: that of the client]
    #[arg(long, overrides_with = "project")]
    user: bool,
    /// For claude-code: deny the built-in Bash, so that commands run in the sandbox
    #[arg(long)]
    pub(crate) route_bash: bool,
    #[command(flatten)]
    forwarded: McpServer,
    /// Rejected with the reason.
    #[arg(long, hide = true)]
    http: Option<String>,
    /// Arguments after `tidebox mcp`.
    #[arg(skip)]
    pub(crate) arguments: Vec<String>,
}

impl Mcp {
    /// Adds what only the matches contain: the options of the server for the client's file. The error is a message.
    pub(crate) fn finish(&mut self, matches: &ArgMatches) -> Result<(), String> {
        let Some(McpCommand::Install(install)) = &mut self.command else { return Ok(()) };
        if install.http.is_some() {
            let message =
                "--http is not supported by install: its entry starts the server over stdio; add the URL by hand";
            return Err(message.to_owned());
        }
        let matched = matches.subcommand_matches("mcp").and_then(|mcp| mcp.subcommand_matches("install"));
        install.arguments = matched.map(forwarded).unwrap_or_default();
        Ok(())
    }
}

impl McpInstall {
    /// Returns true for the project's file, false for the user's file, and `None` for the default of the client.
    pub(crate) fn is_project(&self) -> Option<bool> {
        (self.project || self.user).then_some(self.project)
    }
}

/// Returns the options of the server in their order.
fn forwarded(matches: &ArgMatches) -> Vec<String> {
    let known = McpServer::augment_args(clap::Command::new("mcp"));
    let mut found: Vec<(usize, Vec<String>)> = Vec::new();
    for arg in known.get_arguments() {
        let (id, Some(long)) = (arg.get_id().as_str(), arg.get_long()) else { continue };
        if matches.value_source(id) != Some(clap::parser::ValueSource::CommandLine) {
            continue;
        }
        let indices = matches.indices_of(id).into_iter().flatten();
        let name = format!("--{long}");
        if matches!(arg.get_action(), ArgAction::SetTrue) {
            found.extend(indices.map(|index| (index, vec![name.clone()])));
            continue;
        }
        let values = matches.get_raw(id).into_iter().flatten();
        let words = values.map(|value| vec![name.clone(), value.to_string_lossy().into_owned()]);
        found.extend(indices.zip(words));
    }
    found.sort();
    found.into_iter().flat_map(|(_, words)| words).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cli::args::Command;

    fn parsed(arguments: &[&str]) -> Result<Command, String> {
        let arguments = ["mcp"].iter().chain(arguments).map(OsString::from);
        crate::cli::args::parse(arguments).map_err(|error| error.to_string())
    }

    fn served(arguments: &[&str]) -> Mcp {
        match parsed(arguments) {
            Ok(Command::Mcp(mcp)) => mcp,
            other => panic!("{arguments:?} is not mcp: {other:?}"),
        }
    }

    fn installed(arguments: &[&str]) -> McpInstall {
        match parsed(&[&["install"], arguments].concat()) {
            Ok(Command::Mcp(Mcp { command: Some(McpCommand::Install(install)), .. })) => install,
            other => panic!("{arguments:?} is not mcp install: {other:?}"),
        }
    }

    #[test]
    fn mcp_serves_over_stdio_by_default() {
        let mcp = served(&[]);
        assert_eq!((mcp.http.address, mcp.server.save, mcp.server.sandbox.as_str()), (None, None, "default"));
        let mcp =
            served(&["--http", "127.0.0.1:0", "--save=dir", "--sandbox", "a", "--allow-host", "h", "--env", "A=1"]);
        let address = mcp.http.address.unwrap();
        assert_eq!((address.port(), mcp.http.allowed_hosts.as_slice()), (0, ["h".to_owned()].as_slice()));
        assert_eq!(mcp.server.options.env, [("A".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn options_of_http_need_http() {
        for arguments in [["--token", "x"], ["--allow-host", "x"], ["--allow-origin", "x"]] {
            assert!(parsed(&arguments).unwrap_err().contains("--http <ADDRESS:PORT>"), "{arguments:?}");
        }
        for name in ["", "a b", "../x"] {
            assert!(parsed(&["--sandbox", name]).unwrap_err().contains("for '--sandbox <NAME>'"), "{name:?}");
        }
        assert!(parsed(&["--http", "x"]).unwrap_err().contains("for '--http <ADDRESS:PORT>'"));
    }

    #[test]
    fn install_keeps_the_options_of_the_server() {
        let install = installed(&[
            "cursor",
            "--print",
            "--mount",
            ".:/workspace/repo:cow",
            "--as",
            "box",
            "--limits=processes=7",
        ]);
        assert_eq!((install.client.as_str(), install.server.as_str(), install.print), ("cursor", "box", true));
        assert_eq!(install.arguments, ["--mount", ".:/workspace/repo:cow", "--limits", "processes=7"]);
        assert!(parsed(&["install"]).unwrap_err().contains("<CLIENT>"));
        assert!(parsed(&["install", "cursor", "--mount", "x"]).unwrap_err().contains("for '--mount <HOST:GUEST"));
        assert!(
            parsed(&["install", "cursor", "--http", "127.0.0.1:0"]).unwrap_err().contains("not supported by install")
        );
        assert!(parsed(&["install", "cursor", "--as"]).unwrap_err().contains("for '--as <NAME>'"));
    }
}
