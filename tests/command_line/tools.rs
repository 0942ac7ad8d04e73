//! `tidebox doctor`, `completions` and `man`, and output as JSON.

use std::process::Command;

use serde_json::Value;

use crate::run::{command, finish, tidebox};

fn json(arguments: &[&str]) -> (Option<i32>, Value) {
    let ran = tidebox(arguments);
    let value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout()));
    (ran.code, value)
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().expect("checks are an array");
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name} in {report}"))
}

#[test]
fn doctor_reports_each_check_and_exits_with_1_for_a_problem() {
    let (code, report) = json(&["doctor", "--json"]);
    assert_eq!(code, Some(if report["state"] == "problem" { 1 } else { 0 }), "{report}");
    for name in ["version", "cache", "programs", "pack", "processor", "terminal", "sandbox"] {
        assert!(check(&report, name)["found"].is_string(), "{name}");
    }
    assert_eq!(check(&report, "sandbox")["state"], "ok");
    let text = tidebox(&["doctor"]);
    assert_eq!(text.code, code);
    assert!(text.stdout().contains("sandbox     started and ran a command in"), "{}", text.stdout());
    assert!(!text.stdout().contains('\u{1b}'), "colours without a terminal");
}

#[test]
fn a_cache_that_cannot_be_used_is_a_problem_with_a_hint() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let file = dir.path().join("file");
    std::fs::write(&file, "").expect("the file can be written");
    let broken = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.env("XDG_CACHE_HOME", &file);
        finish(command, b"")
    };
    let ran = broken(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &report["state"]), (Some(1), &"problem".into()));
    let cache = check(&report, "cache");
    assert_eq!(cache["state"], "problem");
    assert!(cache["hint"].as_str().is_some_and(|hint| hint.contains("XDG_CACHE_HOME")), "{cache}");
    assert_eq!(check(&report, "sandbox")["state"], "ok", "it works without a cache");
    let text = broken(&["doctor"]);
    assert!(text.code == Some(1) && text.stdout().contains("problem  cache"), "{}", text.stdout());
}

#[test]
fn bash_completes_commands_options_and_values() {
    let script = tidebox(&["completions", "bash"]);
    assert_eq!(script.code, Some(0));
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let file = dir.path().join("tidebox.bash");
    std::fs::write(&file, &script.stdout).expect("the script can be written");
    let complete = |words: &str| {
        let line = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
             _tidebox tidebox \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let output = Command::new("bash").args(["--noprofile", "--norc", "-c", &line]).output().expect("bash starts");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8").trim_end().to_owned()
    };
    assert_eq!(complete("tidebox exe"), "exec");
    assert_eq!(complete("tidebox exec --allow-git-"), "--allow-git-push");
    assert_eq!(complete("tidebox exec --output-overflow ta"), "tail");
    assert_eq!(complete("tidebox pack re"), "remove");
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        let script = tidebox(&["completions", shell]).stdout();
        assert!(script.contains("tidebox") && script.contains("allow-git-push"), "{shell}");
    }
}

#[test]
fn man_writes_a_page_for_each_command() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let pages = dir.path().join("man1");
    let ran = tidebox(&["man", pages.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr());
    for name in ["tidebox", "tidebox-exec", "tidebox-shell", "tidebox-pack-add", "tidebox-doctor"] {
        let page =
            std::fs::read_to_string(pages.join(format!("{name}.1"))).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains(name), "{name}: {page}");
    }
    assert!(!pages.join("tidebox-warm.1").exists(), "hidden commands have no page");
    let ran = tidebox(&["man", "/dev/null/x"]);
    assert!(ran.code == Some(125) && ran.stderr().contains("/dev/null/x"), "{}", ran.stderr());
}

#[test]
fn json_prints_packs_the_version_and_errors() {
    let (code, packs) = json(&["pack", "list", "--json"]);
    let names: Vec<&Value> = packs.as_array().expect("an array").iter().map(|pack| &pack["name"]).collect();
    assert!(code == Some(0) && names.contains(&&"python".into()) && names.contains(&&"git".into()), "{packs}");
    let (code, version) = json(&["--version", "--json"]);
    assert_eq!((code, &version["version"]), (Some(0), &env!("CARGO_PKG_VERSION").into()));
    assert_eq!(tidebox(&["-V"]).stdout(), format!("tidebox {}\n", env!("CARGO_PKG_VERSION")));
    let (code, failed) = json(&["exec", "--json", "--file", "/nowhere:/x", "true"]);
    assert_eq!((code, &failed["error"]["kind"]), (Some(125), &"invalid_request".into()));
    assert!(failed["error"]["message"].as_str().is_some_and(|text| text.contains("/nowhere")), "{failed}");
    for wrong in [&["--timeout", "soon", "true"][..], &["--jsno", "true"], &["--limits", "memory=x", "true"]] {
        let (code, failed) = json(&[&["exec", "--json"], wrong].concat());
        assert_eq!((code, &failed["error"]["kind"]), (Some(125), &"invalid_request".into()), "{failed}");
        assert!(failed["error"]["message"].as_str().is_some_and(|text| text.contains(wrong[0])), "{failed}");
    }
    let program = tidebox(&["exec", "--argv", "--bad", "--json"]);
    assert_eq!((program.code, program.stdout().as_str()), (Some(125), ""), "{}", program.stderr());
}

#[test]
fn colours_need_a_terminal_and_respect_no_color() {
    let typo = |variable: Option<(&str, &str)>| {
        let mut command = command(&["exce"]);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").envs(variable);
        finish(command, b"").stderr()
    };
    assert!(typo(None).starts_with("tidebox: unrecognized subcommand 'exce'\n"), "{}", typo(None));
    assert!(!typo(None).contains('\u{1b}') && !typo(Some(("NO_COLOR", "1"))).contains('\u{1b}'));
    let forced = typo(Some(("CLICOLOR_FORCE", "1")));
    assert!(forced.contains("\u{1b}[") && forced.contains("tidebox:"), "{forced}");
}

#[test]
fn a_reader_that_has_exited_ends_the_command_without_a_message() {
    for arguments in [&["--help"][..], &["-V"], &["pack", "list"], &["pack", "list", "--json"], &["completions", "zsh"]]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe can be created");
        drop(reader);
        let output =
            command(arguments).stdout(writer).stderr(std::process::Stdio::piped()).output().expect("it starts");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), message.as_ref()), (Some(141), ""), "{arguments:?}");
    }
}
