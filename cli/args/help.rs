//! Sections after the options of a long help: examples, exit codes and limits.

use clap::Command;
use clap::builder::Styles;

use crate::cli::{exit_code, limits};

/// Usage of `tidebox exec`.
pub(super) const EXEC_USAGE: &str = "\
tidebox exec [OPTIONS] 'COMMAND'
       tidebox exec [OPTIONS] --argv PROGRAM [ARGUMENT]...";

const EXAMPLES: &str = "  \
  tidebox exec 'printf \"b\\na\\n\" | sort'
  tidebox exec --mount .:/workspace/repo:cow --cwd repo 'make test'
  tidebox shell --allow example.com
  tidebox mcp install claude-code --mount .:/workspace/repo:cow
";

/// Examples of the commands.
const COMMAND_EXAMPLES: &[(&[&str], &str)] = &[
    (
        &["exec"],
        "  \
  tidebox exec --file data.csv:data.csv 'sort data.csv | head'
  tidebox exec --mount .:/workspace/repo:cow --cwd repo 'rm -r build; ls'
  tidebox exec --json --timeout 5 --limits memory=64M 'seq 1000000 | wc -l'
  tidebox exec --allow example.com 'curl -sS https://example.com'
  tidebox exec --backend e2b --file data.csv:data.csv 'sort data.csv'
  tidebox exec --argv grep -r 'a b' .
",
    ),
    (
        &["shell"],
        "  \
  tidebox shell --mount .:/workspace/repo:cow --cwd repo
  tidebox shell --env LANG=C --limits wall-time=600
",
    ),
    (&["backend"], "    tidebox backend --dialect python --mount .:/workspace/repo:cow\n"),
    (
        &["serve"],
        "  \
  tidebox serve --listen 127.0.0.1:8080
  tidebox serve --provider e2b,daytona
  tidebox serve --provider rest,e2b --listen 0.0.0.0:4000 --tenants tenants.toml --log
  tidebox serve --provider all --listen 0.0.0.0:4000 --key \"$KEY\"
",
    ),
    (
        &["mcp"],
        "  \
  tidebox mcp --mount .:/workspace/repo:cow
  tidebox mcp --save ~/.local/state/sandboxes --sandbox notes
  tidebox mcp --http 127.0.0.1:4000
",
    ),
    (
        &["mcp", "install"],
        "  \
  tidebox mcp install cursor --print
  tidebox mcp install claude-code --route-bash --mount .:/workspace/repo:cow
",
    ),
    (&["completions"], "    tidebox completions bash > ~/.local/share/bash-completion/completions/tidebox\n"),
    (
        &["snapshot", "create"],
        "  \
  tidebox snapshot create ready.snapshot --file setup.sh:setup.sh 'sh setup.sh'
  tidebox exec --snapshot ready.snapshot 'ls'
",
    ),
    (&["pack", "add"], "    tidebox pack add python --with numpy,pandas\n"),
];

/// Adds the sections to all commands.
pub(super) fn add_sections(command: Command) -> Command {
    let command = command
        .after_help("`tidebox COMMAND -h` lists the options of a command, and --help explains them with examples.")
        .after_long_help([section("Examples", EXAMPLES), section("Exit codes", &exit_code::table())].join("\n"));
    COMMAND_EXAMPLES.iter().fold(command, |command, (path, examples)| {
        let mut after = section("Examples", examples);
        if *path == ["exec"] {
            after = [after, section("Limits and their defaults", &limits::table())].join("\n");
        }
        add_after(command, path, after)
    })
}

fn add_after(command: Command, path: &[&str], text: String) -> Command {
    match path {
        // Builds without the MCP server have no such command.
        [name, ..] if command.find_subcommand(name).is_none() => command,
        [name, rest @ ..] => command.mut_subcommand(name, |command| add_after(command, rest, text)),
        [] => command.after_long_help(text),
    }
}

/// Formats a section in the style of the other headings. Clap removes the style unless the output is a terminal.
fn section(title: &str, body: &str) -> String {
    let styles = Styles::styled();
    let header = styles.get_header();
    format!("{header}{title}:{header:#}\n{}", body.trim_end_matches('\n')) + "\n"
}
