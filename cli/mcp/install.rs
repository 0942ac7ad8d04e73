//! `tidebox mcp install`: adds the server to the configuration of a client.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};

use super::client::{CLIENTS, Client, Directories, Format, claude_settings};
use super::{json_file, toml_file};
use crate::atomic_file;
use crate::cli::args::{McpInstall, absolute_paths};

/// A file and its new content.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    path: PathBuf,
    content: String,
    /// Line that reports the change to the user.
    report: String,
}

/// Writes the entry into the client's file, or prints it.
pub(crate) fn install(install: &McpInstall) -> Result<u8> {
    let directories = directories()?;
    let plan = Plan::new(install, &directories, &program())?;
    let mut out = io::stdout().lock();
    if install.print {
        writeln!(out, "{}", plan.print())?;
        return Ok(0);
    }
    // All files are read and checked before the first one is written.
    for change in plan.changes()? {
        write(&change.path, &change.content)?;
        writeln!(out, "{}", change.report)?;
    }
    writeln!(out, "Restart the client, or reload its MCP servers.")?;
    if plan.client == Client::ClaudeCode {
        let server = &install.server;
        writeln!(
            out,
            "Claude Agent SDK for TypeScript: toolAliases: {{ Bash: \"mcp__{server}__bash\" }} runs Bash in the sandbox."
        )?;
    }
    Ok(0)
}

/// The entry and where it belongs.
struct Plan<'a> {
    install: &'a McpInstall,
    client: Client,
    file: PathBuf,
    /// The permissions of Claude Code, with `--route-bash`.
    settings: Option<PathBuf>,
    program: String,
    arguments: Vec<String>,
}

impl<'a> Plan<'a> {
    fn new(install: &'a McpInstall, directories: &Directories, program: &str) -> Result<Self> {
        let Some(client) = Client::find(&install.client) else {
            let names = CLIENTS.map(|(name, _)| name).join(", ");
            bail!("unknown client {:?}; expected one of: {names}", install.client);
        };
        let is_project = install.is_project().unwrap_or(client.prefers_project());
        let Some(file) = client.file(is_project, directories) else {
            let (missing, other) = if is_project { ("project", "--user") } else { ("user", "--project") };
            bail!("{} has no file of the {missing} for MCP servers; use {other}", install.client);
        };
        if install.route_bash && client != Client::ClaudeCode {
            bail!(
                "--route-bash is an option of claude-code only; the other clients have no permissions for built-in tools"
            );
        }
        let settings = install.route_bash.then(|| claude_settings(is_project, directories));
        let mut arguments = vec!["mcp".to_owned()];
        // A client starts the user's servers in a directory of its choice, those of a project in the project.
        match is_project {
            true => arguments.extend(install.arguments.iter().cloned()),
            false => arguments.extend(absolute_paths(&install.arguments, &directories.project)),
        }
        Ok(Self { install, client, file, settings, program: program.to_owned(), arguments })
    }

    fn entry(&self, has_type: bool) -> Value {
        let mut entry = json!({ "command": self.program, "args": self.arguments });
        if has_type {
            entry["type"] = json!("stdio");
        }
        entry
    }

    /// Formats the file's name and the entry.
    fn print(&self) -> String {
        let name = self.install.server.as_str();
        let entry = match self.client.format() {
            Format::Json { servers, has_type } => {
                format!("{:#}", json!({ servers: { name: self.entry(has_type) } }))
            }
            Format::Toml => toml_file::entry(name, &self.program, &self.arguments),
        };
        let mut text = format!("# {}\n{}", self.file.display(), entry.trim_end());
        if let Some(settings) = &self.settings {
            let permissions = json!({ "permissions": { "allow": [self.tools()], "deny": ["Bash"] } });
            text.push_str(&format!("\n# {}\n{permissions:#}", settings.display()));
        }
        text
    }

    /// Returns the permission rule for all tools of the server.
    fn tools(&self) -> String {
        format!("mcp__{}", self.install.server)
    }

    /// Reads the files and returns the changed ones.
    fn changes(&self) -> Result<Vec<Change>> {
        let name = self.install.server.as_str();
        let text = read(&self.file)?;
        let content = match self.client.format() {
            Format::Json { servers, has_type } => json_file::set(&text, &[servers, name], &self.entry(has_type)),
            Format::Toml => toml_file::set(&text, name, &self.program, &self.arguments),
        };
        let content = content.map_err(|reason| self.by_hand(&self.file, &reason))?;
        let verb = if text == content { "unchanged" } else { "wrote" };
        let report = format!(
            "{verb} {}: server {name:?} runs {} {}",
            self.file.display(),
            self.program,
            self.arguments.join(" ")
        );
        let mut changes = vec![Change { path: self.file.clone(), content, report }];
        if let Some(path) = &self.settings {
            changes.push(self.route_bash(path)?);
        }
        Ok(changes)
    }

    /// Denies the built-in Bash and allows the tools of the server.
    fn route_bash(&self, path: &Path) -> Result<Change> {
        let mut content = read(path)?;
        for (list, rule) in [("allow", self.tools()), ("deny", "Bash".to_owned())] {
            let rules = ["permissions", list];
            let failed = |reason: String| self.by_hand(path, &reason);
            if let Some(array) = json_file::with_string(&content, &rules, &rule).map_err(failed)? {
                content = json_file::set(&content, &rules, &array).map_err(failed)?;
            }
        }
        let report = format!("wrote {}: the built-in Bash is denied, {} is allowed", path.display(), self.tools());
        Ok(Change { path: path.to_owned(), content, report })
    }

    fn by_hand(&self, path: &Path, reason: &str) -> anyhow::Error {
        anyhow!("cannot change {}: {reason}; it is unchanged, add this by hand:\n{}", path.display(), self.print())
    }
}

/// Returns the program for the entry: the path of this one, because clients have their own PATH.
fn program() -> String {
    let this = env::current_exe().ok().filter(|path| path.file_stem().is_some_and(|stem| stem == "tidebox"));
    // In the Python package this program is an interpreter, and `tidebox` a script next to it.
    let script = || env::current_exe().ok().map(|path| path.with_file_name("tidebox")).filter(|path| path.is_file());
    let program = this.or_else(script).and_then(|path| path.to_str().map(str::to_owned));
    program.unwrap_or_else(|| "tidebox".to_owned())
}

fn directories() -> Result<Directories> {
    let home = env::home_dir().context("cannot find your home directory; set HOME")?;
    let project = env::current_dir().context("cannot find the current directory")?;
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = match env::consts::OS {
        "macos" => home.join("Library").join("Application Support"),
        "windows" => variable("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming")),
        _ => variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
    };
    Ok(Directories { project, home, config, codex: variable("CODEX_HOME") })
}

/// Reads a file. A missing one is empty.
fn read(path: &Path) -> Result<String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read.with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Replaces a file atomically, keeping its mode, because some of these files contain credentials. A symbolic link stays a link.
fn write(path: &Path, content: &str) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let replace = || {
        if let Some(dir) = target.parent() {
            fs::create_dir_all(dir)?;
        }
        let Ok(metadata) = fs::metadata(&target) else { return atomic_file::replace(&target, content.as_bytes()) };
        let written = atomic_file::write_temp_sibling(&target, &[content.as_bytes()])?;
        fs::set_permissions(written.path(), metadata.permissions())?;
        written.persist(&target).map(drop).map_err(|error| error.error)
    };
    replace().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests;
