//! Running a case in the sandbox.

use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use tidebox::{ExecuteRequest, Program, Runtime, RuntimeConfig, SandboxBackend, SandboxPath};

use crate::format::{Case, Outcome};

/// Runs a case in a sandbox of its own.
pub(crate) fn run(case: &Case) -> Outcome {
    run_in(case, None, &[])
}

/// Runs a case in a folder of a sandbox of its own, with variables besides those that are always there.
pub(crate) fn run_in(case: &Case, folder: Option<&str>, variables: &[(&str, &str)]) -> Outcome {
    let mut builder = runtime().sandbox().env("TZ", "UTC");
    if let Some(folder) = folder {
        builder = builder.cwd(SandboxPath::parse(folder).expect("a folder has an absolute path"));
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
    let sandbox = builder.build().expect("a sandbox is made");
    let script = String::from_utf8(case.script.clone()).expect("a command line is text");
    let waiting = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    let response = waiting.block_on(sandbox.execute(ExecuteRequest::new(script))).expect("it answers");
    Outcome { stdout: response.stdout, stderr: response.stderr, exit: response.exit_code.unwrap_or(-1) }
}

/// The programs are those that were built into this test, or those of the folder in `TIDEBOX_USERLAND` as it is now: who
/// works on a guest program need not build the host anew.
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
    let registry = std::fs::read_to_string(userland.join("tools.toml")).expect("the folder has a tools.toml");
    let tools: Tools = toml::from_str(&registry).expect("the registry is well formed");
    let program = |module: Module| {
        let wasm = std::fs::read(userland.join("dist").join(&module.file));
        Program::new(module.commands, wasm.unwrap_or_else(|error| panic!("{}: {error}", module.file)))
    };
    tools.module.into_iter().map(program).collect()
}
