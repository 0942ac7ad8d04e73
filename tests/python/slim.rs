//! The pack `python-slim`, which `cargo xtask setup` adds like `python`.

use tidebox::{ErrorKind, Packs, PythonExt as _, Runtime, RuntimeConfig};

use super::{fails, prints, ready};

/// Creates a sandbox with the slim pack, if it is installed.
fn sandbox() -> Option<tidebox::Sandbox> {
    let slim = Packs::user().ready().into_iter().find(|pack| pack.name() == "python-slim");
    if slim.is_none() {
        let why = "the pack python-slim is not here; add it with `tidebox pack add python-slim`";
        assert!(std::env::var_os("CI").is_none(), "{why}");
        eprintln!("skipped: {why}");
    }
    let mut config = RuntimeConfig::default();
    config.packs = vec![slim?];
    let runtime = Runtime::new(config).expect("the engine starts");
    Some(runtime.sandbox().build().expect("the sandbox is built"))
}

#[tokio::test]
async fn the_slim_pack_has_the_library_and_no_numpy() {
    let Some(sandbox) = sandbox() else { return };
    let program = "import requests, httpx, rich, click, yaml, jinja2, bs4, lxml.etree, openpyxl, sqlite3; print(6 * 7)";
    prints(&sandbox, &format!("python3 -c '{program}'; python -V"), "42\nPython 3.15.0\n").await;
    fails(&sandbox, "python3 -c 'import numpy'", 1, "ModuleNotFoundError: No module named 'numpy'").await;
    fails(&sandbox, "pip install numpy", 1, "This sandbox has the pack python-slim.").await;
    prints(&sandbox, "pip list | grep -c -e numpy -e scipy -e sympy; echo 'def test(): pass' > test_a.py; pytest -q | tail -1 | cut -c1-8", "0\n1 passed\n").await;
    let mut session = sandbox.python_session().expect("it has Python");
    let response = session.run("import statistics; statistics.mean([1, 2, 3])").await.expect("the code runs");
    assert_eq!(response.value.as_deref(), Some("2"));
}

#[tokio::test]
async fn two_packs_with_the_same_commands_are_rejected() {
    if !ready() || sandbox().is_none() {
        return;
    }
    let packs = Packs::user();
    // The host may have packs of programs, too.
    let default = packs.default_packs();
    let python: Vec<_> = default.iter().map(|pack| pack.name()).filter(|name| name.starts_with("python")).collect();
    assert_eq!(python, ["python"]);
    let mut config = RuntimeConfig::default();
    config.packs = packs.ready();
    let error = Runtime::new(config).expect_err("both packs have python3");
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    let message = "the packs python and python-slim have the same commands; a sandbox can have only one of them";
    assert!(error.message().contains(message), "{error}");
}
