//! Runs a case in the sandbox.

use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use tidebox::{ExecuteRequest, Program, Runtime, RuntimeConfig, SandboxBackend, SandboxPath};

use crate::format::{Case, Outcome};

/// Runs a case in a new sandbox with additional variables.
pub(crate) fn run(case: &Case, variables: &[(&str, &str)]) -> Outcome {
    run_in(case, None, variables)
}

/// Returns whether sandboxes have Git: the pack is installed.
pub(crate) fn has_git() -> bool {
    RuntimeConfig::default().packs.iter().any(|pack| pack.name() == "git")
}

/// Runs a case in a new sandbox, in a given working directory and with additional variables.
pub(crate) fn run_in(case: &Case, cwd: Option<&str>, variables: &[(&str, &str)]) -> Outcome {
    let mut builder = runtime().sandbox().env("TZ", "UTC");
    if let Some(cwd) = cwd {
        builder = builder.cwd(SandboxPath::parse(cwd).expect("the path is absolute"));
    }
    for (name, value) in variables {
        builder = builder.env(*name, *value);
    }
    for (path, bytes) in &case.files {
        builder = builder.file(path.as_str(), bytes.as_slice());
    }
    if let Ok(seconds) = std::env::var("TIDEBOX_SPEC_CLOCK") {
        let seconds: u64 = seconds.parse().expect("TIDEBOX_SPEC_CLOCK is a number of seconds since 1970");
        builder = builder.deterministic(1, seconds * 1_000_000_000);
    }
    let sandbox = builder.build().expect("the sandbox can be built");
    let script = String::from_utf8(case.script.clone()).expect("a script is UTF-8");
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("the executor starts");
    let response = executor.block_on(sandbox.execute(ExecuteRequest::new(script))).expect("the command completes");
    Outcome { stdout: response.stdout, stderr: response.stderr, exit: response.exit_code.unwrap_or(-1) }
}

/// Uses the guest programs built into this test, or those in the directory `TIDEBOX_USERLAND`, so that a changed guest program
/// does not need a new host build.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut config = RuntimeConfig::default();
        if let Some(userland) = std::env::var_os("TIDEBOX_USERLAND") {
            config.programs = programs(Path::new(&userland));
        }
        Runtime::new(config).expect("the engine starts")
    })
}

#[derive(Deserialize)]
struct Tools {
    module: Vec<Module>,
}

#[derive(Deserialize)]
struct Module {
    file: String,
    commands: Vec<String>,
}

fn programs(userland: &Path) -> Vec<Program> {
    let registry = std::fs::read_to_string(userland.join("tools.toml")).expect("TIDEBOX_USERLAND contains tools.toml");
    let tools: Tools = toml::from_str(&registry).expect("tools.toml is valid");
    let program = |module: Module| {
        let wasm = std::fs::read(userland.join("dist").join(&module.file));
        Program::new(module.commands, wasm.unwrap_or_else(|error| panic!("{}: {error}", module.file)))
    };
    tools.module.into_iter().map(program).collect()
}
