//! The real packages of Deep Agents for Python over the development backend: the standard tests of LangChain for sandboxes
//! in both dialects, and conversations of a scripted model through the real tools.
//!
//! They come from PyPI, so they are run where `tests/python/setup.sh` has put them, and passed over with a reason elsewhere.

#![allow(clippy::print_stdout, reason = "why a test was passed over belongs to its output")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter that `setup.sh` prepares.
fn python() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let base = base.or_else(|| Some(std::env::home_dir()?.join(".cache")))?;
    let python = base.join("tidebox/python/venv/bin/python");
    python.exists().then_some(python)
}

/// `cargo test` builds examples beside the command, but gives their place to nobody.
fn server() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_tidebox")).parent().expect("the command lies in a folder");
    built.join("examples").join(format!("json_lines{}", std::env::consts::EXE_SUFFIX))
}

#[test]
fn the_standard_tests_and_the_tools_of_deep_agents_for_python_accept_the_backend() {
    let Some(python) = python() else {
        println!("skipped: run tests/python/setup.sh, which installs deepagents and langchain-tests from PyPI");
        return;
    };
    let server = server();
    assert!(server.exists(), "`cargo build --examples` builds {}", server.display());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let output = Command::new(python)
        .args(["-m", "pytest", "."])
        .current_dir(folder)
        .env("TIDEBOX_JSON_LINES", server)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("the interpreter starts");
    let report = String::from_utf8_lossy(&output.stdout);
    println!("{report}");
    assert!(output.status.success(), "{report}\n{}", String::from_utf8_lossy(&output.stderr));
    // Two runs of 86 standard tests: `python` is missing in both, and the second has seven rules of before.
    assert!(report.contains("169 passed, 11 xfailed"), "{report}");
}
