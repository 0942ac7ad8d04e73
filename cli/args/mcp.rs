//! Arguments of `tidebox mcp`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use lexopt::prelude::*;

use super::{Command, SandboxArgs, parse_address};

/// Name of the sandbox and of the server without an option.
const DEFAULT_SANDBOX: &str = "default";
const DEFAULT_SERVER: &str = "tidebox";

/// Arguments of `tidebox mcp`.
#[derive(Debug, PartialEq)]
pub(crate) struct Mcp {
    pub(crate) options: SandboxArgs,
    /// Directory of saved sandboxes. `None`: the sandbox ends with the server.
    pub(crate) save: Option<PathBuf>,
    pub(crate) sandbox: String,
    /// `None`: the standard streams.
    pub(crate) http: Option<McpHttp>,
}

/// Options of the HTTP transport.
#[derive(Debug, PartialEq)]
pub(crate) struct McpHttp {
    pub(crate) address: SocketAddr,
    /// `None`: that of the environment, or a random one for a loopback address.
    pub(crate) token: Option<String>,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
}

/// Arguments of `tidebox mcp install`.
#[derive(Debug, PartialEq)]
pub(crate) struct McpInstall {
    pub(crate) client: String,
    /// Name of the server in the client.
    pub(crate) server: String,
    pub(crate) print: bool,
    /// True for the project's file, false for the user's file. `None`: the default of the client.
    pub(crate) project: Option<bool>,
    pub(crate) route_bash: bool,
    /// Arguments after `tidebox mcp`.
    pub(crate) arguments: Vec<String>,
}

pub(super) fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut rest: Vec<OsString> = parser.raw_args()?.collect();
    if rest.first().is_some_and(|word| word == "install") {
        rest.remove(0);
        return parse_install(rest);
    }
    match parse_serve(rest)? {
        Some(mcp) => Ok(Command::Mcp(mcp)),
        None => Ok(Command::Help),
    }
}

/// Returns `None` for `--help`.
fn parse_serve(arguments: Vec<OsString>) -> Result<Option<Mcp>, lexopt::Error> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let (mut options, mut save, mut sandbox) = (SandboxArgs::default(), None, DEFAULT_SANDBOX.to_owned());
    let (mut address, mut token) = (None, None);
    let (mut allowed_hosts, mut allowed_origins) = (Vec::new(), Vec::new());
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return Ok(None),
            Long("save") => save = Some(parser.value()?.into()),
            Long("sandbox") => sandbox = parse_name("--sandbox", parser.value()?.string()?)?,
            Long("http") => address = Some(parse_address("--http", &parser.value()?.string()?)?),
            Long("token") => token = Some(parser.value()?.string()?).filter(|token| !token.is_empty()),
            Long("allow-host") => allowed_hosts.push(parser.value()?.string()?),
            Long("allow-origin") => allowed_origins.push(parser.value()?.string()?),
            Long("pip") => options.pip = true,
            Long(name) if options.accepts(name) => {
                let name = name.to_owned();
                options.set(&name, parser.value()?)?;
            }
            other => return Err(other.unexpected()),
        }
    }
    let is_http_only = token.is_some() || !allowed_hosts.is_empty() || !allowed_origins.is_empty();
    if address.is_none() && is_http_only {
        return Err("--token, --allow-host and --allow-origin need --http ADDRESS:PORT".into());
    }
    let http = address.map(|address| McpHttp { address, token, allowed_hosts, allowed_origins });
    Ok(Some(Mcp { options, save, sandbox, http }))
}

/// Takes the options of `install`. The rest must be valid for `tidebox mcp` and goes into the client's file as it is.
fn parse_install(arguments: Vec<OsString>) -> Result<Command, lexopt::Error> {
    let mut install = McpInstall {
        client: String::new(),
        server: DEFAULT_SERVER.to_owned(),
        print: false,
        project: None,
        route_bash: false,
        arguments: Vec::new(),
    };
    let mut arguments = arguments.into_iter().map(OsString::string);
    while let Some(argument) = arguments.next() {
        match argument?.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--print" => install.print = true,
            "--project" => install.project = Some(true),
            "--user" => install.project = Some(false),
            "--route-bash" => install.route_bash = true,
            "--as" => install.server = parse_name("--as", arguments.next().unwrap_or(Ok(String::new()))?)?,
            client if install.client.is_empty() && !client.starts_with('-') => install.client = client.to_owned(),
            other => install.arguments.push(other.to_owned()),
        }
    }
    if install.client.is_empty() {
        return Err("missing client; usage: tidebox mcp install CLIENT [--print] [OPTIONS]".into());
    }
    let served = parse_serve(install.arguments.iter().map(OsString::from).collect())?;
    if served.is_some_and(|mcp| mcp.http.is_some()) {
        return Err(
            "--http is not supported by install: its entry starts the server over stdio; add the URL by hand".into()
        );
    }
    Ok(Command::McpInstall(install))
}

/// Parses a name that needs no quotes in URLs, JSON and TOML.
fn parse_name(option: &str, name: String) -> Result<String, String> {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if (1..=64).contains(&name.len()) && name.bytes().all(is_name_byte) {
        return Ok(name);
    }
    Err(format!("invalid {option} {name:?}: use 1 to 64 letters, digits, hyphens and underscores"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Command, String> {
        let arguments = ["mcp"].iter().chain(arguments).map(OsString::from);
        super::super::parse(arguments).map_err(|error| error.to_string())
    }

    fn served(arguments: &[&str]) -> Mcp {
        match parsed(arguments) {
            Ok(Command::Mcp(mcp)) => mcp,
            other => panic!("{arguments:?} is not mcp: {other:?}"),
        }
    }

    fn installed(arguments: &[&str]) -> McpInstall {
        match parsed(&[&["install"], arguments].concat()) {
            Ok(Command::McpInstall(install)) => install,
            other => panic!("{arguments:?} is not mcp install: {other:?}"),
        }
    }

    #[test]
    fn mcp_serves_over_stdio_by_default() {
        let mcp = served(&[]);
        assert_eq!((mcp.http, mcp.save, mcp.sandbox.as_str()), (None, None, "default"));
        let mcp =
            served(&["--http", "127.0.0.1:0", "--save=dir", "--sandbox", "a", "--allow-host", "h", "--env", "A=1"]);
        let http = mcp.http.unwrap();
        assert_eq!((http.address.port(), http.allowed_hosts.as_slice()), (0, ["h".to_owned()].as_slice()));
        assert_eq!(mcp.options.env, [("A".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn options_of_http_need_http() {
        for arguments in [["--token", "x"], ["--allow-host", "x"], ["--allow-origin", "x"]] {
            assert!(parsed(&arguments).unwrap_err().contains("need --http"), "{arguments:?}");
        }
        for name in ["", "a b", "../x"] {
            assert!(parsed(&["--sandbox", name]).unwrap_err().contains("invalid --sandbox"), "{name:?}");
        }
        assert!(parsed(&["--http", "x"]).unwrap_err().contains("invalid --http"));
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
        assert_eq!(install.arguments, ["--mount", ".:/workspace/repo:cow", "--limits=processes=7"]);
        assert!(parsed(&["install"]).unwrap_err().contains("missing client"));
        assert!(parsed(&["install", "cursor", "--mount", "x"]).unwrap_err().contains("invalid --mount"));
        assert!(
            parsed(&["install", "cursor", "--http", "127.0.0.1:0"]).unwrap_err().contains("not supported by install")
        );
        assert!(parsed(&["install", "cursor", "--as"]).unwrap_err().contains("invalid --as"));
    }
}
