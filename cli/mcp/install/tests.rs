use super::*;
use crate::cli::args;

fn request(client: &str, options: &[&str]) -> McpInstall {
    let words = ["mcp", "install", client].into_iter().chain(options.iter().copied()).map(std::ffi::OsString::from);
    match args::parse(words).unwrap() {
        args::Command::Mcp(args::Mcp { command: Some(args::McpCommand::Install(install)), .. }) => install,
        other => panic!("{client} is not mcp install: {other:?}"),
    }
}

fn in_dir(dir: &Path) -> Directories {
    let (project, home, config) = (dir.join("project"), dir.join("home"), dir.join("config"));
    Directories { project, home, config, codex: None }
}

fn apply(install: &McpInstall, directories: &Directories) -> Result<Vec<PathBuf>> {
    let plan = Plan::new(install, directories, "/opt/tidebox")?;
    let changes = plan.changes()?;
    for change in &changes {
        write(&change.path, &change.content)?;
    }
    Ok(changes.into_iter().map(|change| change.path).collect())
}

fn parse(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_client_gets_the_entry_in_its_own_file() {
    let dir = tempfile::tempdir().unwrap();
    let directories = in_dir(dir.path());
    let expected = [
        ("claude-code", "project/.mcp.json"),
        ("claude-desktop", "config/Claude/claude_desktop_config.json"),
        ("cursor", "home/.cursor/mcp.json"),
        ("vscode", "project/.vscode/mcp.json"),
        ("codex", "home/.codex/config.toml"),
        ("gemini", "home/.gemini/settings.json"),
    ];
    assert_eq!(expected.map(|(name, _)| name), CLIENTS.map(|(name, _)| name));
    for (client, file) in expected {
        let path = dir.path().join(file);
        assert_eq!(apply(&request(client, &[]), &directories).unwrap(), std::slice::from_ref(&path), "{client}");
        if client == "codex" {
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(text, "[mcp_servers.tidebox]\ncommand = \"/opt/tidebox\"\nargs = [\"mcp\"]\n");
            continue;
        }
        let servers = if client == "vscode" { "servers" } else { "mcpServers" };
        let entry = &parse(&path)[servers]["tidebox"];
        assert_eq!((&entry["command"], &entry["args"]), (&json!("/opt/tidebox"), &json!(["mcp"])), "{client}");
        assert_eq!(entry.get("type").is_some(), matches!(client, "claude-code" | "vscode"), "{client}");
    }
}

#[test]
fn other_servers_and_settings_stay() {
    let dir = tempfile::tempdir().unwrap();
    let directories = in_dir(dir.path());
    let path = dir.path().join("home/.gemini/settings.json");
    write(&path, "{\"theme\": \"dark\", \"mcpServers\": {\"other\": {\"command\": \"x\"}}}").unwrap();
    for _ in 0..2 {
        apply(&request("gemini", &[]), &directories).unwrap();
        let settings = parse(&path);
        assert_eq!(settings["theme"], "dark");
        assert_eq!(settings["mcpServers"]["other"]["command"], "x");
        assert_eq!(settings["mcpServers"]["tidebox"]["command"], "/opt/tidebox");
    }
}

#[test]
fn a_file_that_cannot_be_parsed_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let directories = in_dir(dir.path());
    let path = dir.path().join("project/.vscode/mcp.json");
    write(&path, "// servers\n{}").unwrap();
    let error = apply(&request("vscode", &[]), &directories).unwrap_err().to_string();
    assert!(error.contains("it is unchanged") && error.contains("\"/opt/tidebox\""), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "// servers\n{}");
}

#[test]
fn route_bash_denies_the_built_in_tool_once() {
    let dir = tempfile::tempdir().unwrap();
    let directories = in_dir(dir.path());
    let path = dir.path().join("project/.claude/settings.json");
    write(&path, "{\"permissions\": {\"deny\": [\"WebFetch\"]}, \"model\": \"m\"}").unwrap();
    let install = request("claude-code", &["--route-bash"]);
    for _ in 0..2 {
        apply(&install, &directories).unwrap();
        let permissions = json!({"deny": ["WebFetch", "Bash"], "allow": ["mcp__tidebox"]});
        assert_eq!(parse(&path), json!({"permissions": permissions, "model": "m"}));
    }
    let other = request("cursor", &["--route-bash"]);
    assert!(apply(&other, &directories).unwrap_err().to_string().contains("claude-code only"));
}

#[test]
fn unknown_clients_and_missing_files_are_errors() {
    let directories = in_dir(Path::new("/nowhere"));
    let error = |install: &McpInstall| apply(install, &directories).unwrap_err().to_string();
    let unknown = args::parse(["mcp", "install", "emacs"].map(std::ffi::OsString::from)).unwrap_err().to_string();
    assert!(unknown.contains("[possible values: claude-code, claude-desktop"), "{unknown}");
    assert!(error(&request("codex", &["--user", "--project"])).contains("use --user"));
    assert!(error(&request("vscode", &["--user"])).contains("use --project"));
}

#[cfg(unix)]
#[test]
fn a_private_file_stays_private_and_a_link_a_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&real, &link).unwrap();
    write(&link, "{\"a\": 1}").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\"a\": 1}");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
}
