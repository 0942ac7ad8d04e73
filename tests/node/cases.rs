//! Recorded cases: `cases/*.txt` has the scripts, each after a line `### NAME`, and `cases/expected.json` what Node printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use tidebox::{SandboxBackend, Upload};

use crate::{is_ready, run, sandbox};

/// Names of cases whose output differs, each with the reason.
const DIFFERENT: &str = include_str!("cases/different.md");

/// Directory of a script in the sandbox.
const DIR: &str = "/workspace/case";

/// Output of a script. Its directory is `DIR`, and numbers of processes in warnings are `N`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Printed {
    code: i32,
    stdout: String,
    /// First line of standard error.
    stderr: String,
}

impl Printed {
    fn new(code: Option<i32>, stdout: &str, stderr: &str, dir: &str) -> Self {
        let clean = |text: &str| text.replace(dir, "DIR");
        let mut first = clean(stderr.lines().next().unwrap_or_default());
        if let Some(rest) = first.strip_prefix("(node:").and_then(|rest| rest.split_once(')')) {
            first = format!("(node:N){}", rest.1);
        }
        Self { code: code.unwrap_or(-1), stdout: clean(stdout), stderr: first }
    }
}

struct Case {
    name: String,
    file: String,
    script: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node/cases")
}

fn cases() -> Vec<Case> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).expect("the cases exist").map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    let mut found = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "txt")) {
        let topic = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let text = std::fs::read_to_string(path).expect("readable");
        for part in text.split("### ").skip(1) {
            let (name, script) = part.split_once('\n').expect("a case has a script");
            let ending = name.rsplit_once('.').map_or("js", |(_, ending)| ending);
            found.push(Case {
                name: format!("{topic}/{name}"),
                file: format!("script.{ending}"),
                script: script.to_owned(),
            });
        }
    }
    found
}

/// Runs all cases with Node on this host.
fn record(node: &str) {
    let mut expected = BTreeMap::new();
    for case in cases() {
        let dir = tempfile::tempdir().expect("created");
        let dir_path = dir.path().canonicalize().expect("exists");
        std::fs::write(dir_path.join(&case.file), &case.script).expect("written");
        let mut command = Command::new(node);
        command.arg(&case.file).current_dir(&dir_path).env_clear().env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        let output = command.stdin(Stdio::null()).output().expect("Node starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let dir_text = dir_path.display().to_string();
        let printed = Printed::new(output.status.code(), &text(&output.stdout), &text(&output.stderr), &dir_text);
        expected.insert(case.name, printed);
    }
    let text = serde_json::to_string_pretty(&expected).expect("serializable");
    std::fs::write(folder().join("expected.json"), text + "\n").expect("written");
}

fn reason(name: &str) -> Option<&'static str> {
    DIFFERENT.lines().find_map(|line| line.strip_prefix("- `")?.strip_prefix(name)?.strip_prefix("`: "))
}

#[tokio::test]
async fn recorded_cases_print_what_node_prints() {
    if let Ok(node) = std::env::var("TIDEBOX_RECORD_NODE") {
        record(&node);
    }
    if !is_ready() {
        return;
    }
    let text = std::fs::read_to_string(folder().join("expected.json")).expect("recorded");
    let expected: BTreeMap<String, Printed> = serde_json::from_str(&text).expect("valid");
    let (mut equal, mut wrong) = (0, Vec::new());
    for case in cases() {
        let want = expected.get(&case.name).unwrap_or_else(|| panic!("{} is not recorded", case.name));
        let sandbox = sandbox();
        let upload = Upload::new(format!("{DIR}/{}", case.file), case.script.clone().into_bytes());
        let sent = sandbox.upload_files(vec![upload]).await.expect("the sandbox responds");
        assert!(sent.iter().all(|file| file.result.is_ok()), "{sent:?}");
        let response = run(&sandbox, &format!("cd {DIR} && node {} </dev/null", case.file)).await;
        let got = Printed::new(response.exit_code, &response.stdout_text(), &response.stderr_text(), DIR);
        match (got == *want, reason(&case.name)) {
            (true, None) => equal += 1,
            (true, Some(_)) => wrong.push(format!("{} is equal now; remove it from different.md", case.name)),
            (false, Some(_)) => {}
            (false, None) => {
                wrong.push(format!("{}\n  want {want:?}\n  got  {got:?}\n{}", case.name, response.stderr_text()))
            }
        }
    }
    println!("{equal} cases are equal");
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}
