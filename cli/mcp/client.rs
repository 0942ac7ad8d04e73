//! Clients of `tidebox mcp install`, and the files in which they list their servers.

use std::path::{Path, PathBuf};

/// Names of the clients on the command line.
pub(crate) const CLIENTS: [(&str, Client); 6] = [
    ("claude-code", Client::ClaudeCode),
    ("claude-desktop", Client::ClaudeDesktop),
    ("cursor", Client::Cursor),
    ("vscode", Client::VsCode),
    ("codex", Client::Codex),
    ("gemini", Client::Gemini),
];

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    VsCode,
    Codex,
    Gemini,
}

/// Directories that the files are in.
#[derive(Clone, Debug)]
pub(super) struct Directories {
    pub(super) project: PathBuf,
    pub(super) home: PathBuf,
    /// Directory of the user's application data, such as `~/.config`.
    pub(super) config: PathBuf,
    /// Directory of Codex, from `CODEX_HOME`.
    pub(super) codex: Option<PathBuf>,
}

/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON with the servers as members of an object.
    Json {
        /// Member that contains the servers.
        servers: &'static str,
        /// An entry names its transport: `"type": "stdio"`.
        has_type: bool,
    },
    /// TOML with a table `mcp_servers.NAME` for each server.
    Toml,
}

impl Client {
    /// Returns the client with this name.
    pub(super) fn find(name: &str) -> Option<Self> {
        CLIENTS.into_iter().find(|(known, _)| *known == name).map(|(_, client)| client)
    }

    /// Returns whether the file of the project is the default.
    pub(super) fn prefers_project(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::VsCode)
    }

    /// Returns the file of the project or of the user. `None` if the client has no such file.
    pub(super) fn file(self, is_project: bool, directories: &Directories) -> Option<PathBuf> {
        let Directories { project, home, config, codex } = directories;
        let file = match (self, is_project) {
            (Self::ClaudeCode, true) => project.join(".mcp.json"),
            (Self::ClaudeCode, false) => home.join(".claude.json"),
            (Self::ClaudeDesktop, false) => config.join("Claude").join("claude_desktop_config.json"),
            (Self::Cursor, true) => project.join(".cursor").join("mcp.json"),
            (Self::Cursor, false) => home.join(".cursor").join("mcp.json"),
            (Self::VsCode, true) => project.join(".vscode").join("mcp.json"),
            (Self::Codex, false) => codex.clone().unwrap_or_else(|| home.join(".codex")).join("config.toml"),
            (Self::Gemini, true) => project.join(".gemini").join("settings.json"),
            (Self::Gemini, false) => home.join(".gemini").join("settings.json"),
            (Self::ClaudeDesktop | Self::Codex, true) | (Self::VsCode, false) => return None,
        };
        Some(file)
    }

    pub(super) fn format(self) -> Format {
        match self {
            Self::ClaudeCode => Format::Json { servers: "mcpServers", has_type: true },
            Self::VsCode => Format::Json { servers: "servers", has_type: true },
            Self::ClaudeDesktop | Self::Cursor | Self::Gemini => {
                Format::Json { servers: "mcpServers", has_type: false }
            }
            Self::Codex => Format::Toml,
        }
    }
}

/// Returns the file with the permissions of Claude Code.
pub(super) fn claude_settings(is_project: bool, directories: &Directories) -> PathBuf {
    let base: &Path = if is_project { &directories.project } else { &directories.home };
    base.join(".claude").join("settings.json")
}
