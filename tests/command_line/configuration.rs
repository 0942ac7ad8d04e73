//! The configuration file `tidebox.toml`.

use std::fs;
use std::path::Path;

use crate::run::{Ran, command, finish};

/// Runs the command in `dir`, with the user's configuration below `dir/config`.
fn run_in(dir: &Path, arguments: &[&str]) -> Ran {
    let mut command = command(arguments);
    command.current_dir(dir).env("XDG_CONFIG_HOME", dir.join("config"));
    finish(command, b"")
}

fn directory(local: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    fs::write(dir.path().join("tidebox.toml"), local).expect("the file can be written");
    dir
}

#[test]
fn a_file_of_the_current_directory_sets_options() {
    let dir = directory("[sandbox]\nenv = { A = \"file\", B = 2 }\ncwd = \"/tmp\"\n[shell]\ncwd = \"/bin\"\n");
    let line = "echo $A $B; pwd";
    assert_eq!(run_in(dir.path(), &["exec", line]).stdout(), "file 2\n/tmp\n");
    assert_eq!(run_in(dir.path(), &["exec", "--env", "A=option", "--cwd", "/", line]).stdout(), "option 2\n/\n");
    assert_eq!(run_in(dir.path(), &["exec", "--no-config", line]).stdout(), "\n/workspace\n");
    assert_eq!(run_in(dir.path(), &["exec", "--argv", "printenv", "A"]).stdout(), "file\n");
}

#[test]
fn a_file_of_the_current_directory_gives_no_access_to_the_host() {
    let dir = directory("[sandbox]\nmount = [\".:/workspace/here\"]\n");
    let ran = run_in(dir.path(), &["exec", "ls here"]);
    assert_eq!((ran.code, ran.stdout().as_str()), (Some(125), ""));
    assert!(ran.stderr().contains("tidebox.toml:2: `mount` gives access"), "{}", ran.stderr());
    let accepted = run_in(dir.path(), &["exec", "--config", "tidebox.toml", "ls here"]);
    assert_eq!(accepted.stdout(), "tidebox.toml\n", "{}", accepted.stderr());
    assert_eq!(run_in(dir.path(), &["exec", "--no-config", "echo works"]).stdout(), "works\n");
    // All commands with a sandbox read the file.
    for arguments in [&["shell"][..], &["backend"], &["serve", "--provider", "e2b"]] {
        let ran = run_in(dir.path(), arguments);
        assert!(ran.code == Some(125) && ran.stderr().contains("`mount`"), "{arguments:?}: {}", ran.stderr());
    }
}

#[cfg(feature = "mcp")]
#[test]
fn the_mcp_server_reads_the_file_and_its_entry_names_it() {
    let dir = directory("[mcp]\nsandbox = \"a b\"\n");
    let ran = run_in(dir.path(), &["mcp", "--config", "tidebox.toml"]);
    assert!(ran.code == Some(125) && ran.stderr().contains("tidebox.toml:2: `sandbox`"), "{}", ran.stderr());
    let ran = run_in(dir.path(), &["mcp", "install", "vscode", "--print", "--config", "tidebox.toml"]);
    assert!(ran.stdout().contains("\"--config\",\n"), "{}{}", ran.stdout(), ran.stderr());
}

#[test]
fn the_file_of_the_user_is_trusted() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    fs::create_dir_all(dir.path().join("config/tidebox")).expect("the directory can be created");
    let file = dir.path().join("config/tidebox/config.toml");
    fs::write(&file, "[exec]\nfile = \"config.toml:/x\"\njson = true\n").expect("the file can be written");
    let ran = run_in(dir.path(), &["exec", "wc -l </x"]);
    assert!(ran.stdout().contains("\"stdout\":\"3\\n\""), "{}{}", ran.stdout(), ran.stderr());
}

#[test]
fn errors_name_the_file_the_line_and_a_similar_key() {
    let dir = directory("# options\n[sandbox]\ntimout = 3\n");
    let ran = run_in(dir.path(), &["exec", "true"]);
    assert_eq!(ran.code, Some(125));
    let expected = "tidebox: tidebox.toml:3: unknown key `timout` in [sandbox]; did you mean `timeout`?\n";
    assert_eq!(ran.stderr(), expected);
    let ran = run_in(dir.path(), &["exec", "--config", "nothing.toml", "true"]);
    assert!(ran.code == Some(125) && ran.stderr().contains("configuration file nothing.toml"), "{}", ran.stderr());
}
