//! Runs scripts of Git's own tests in sandboxes. `cargo xtask git-suite` starts it with the names of the scripts, and with these
//! variables: `TIDEBOX_GIT_SUITE_SOURCE`, the source of Git, built for the sandbox; `TIDEBOX_GIT_SUITE_RESULTS`, the directory for
//! a file `NAME.tap` of each script.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use tidebox::{ExecuteRequest, Limits, MountExt, MountMode, Program, Runtime, RuntimeConfig, SandboxBackend};

/// Time limit of a script. Unoptimised builds of the host take several times as long as the host's Git.
const LIMIT: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    let (Some(source), Some(results)) = (path("TIDEBOX_GIT_SUITE_SOURCE"), path("TIDEBOX_GIT_SUITE_RESULTS")) else {
        eprintln!("skipped: start these tests by `cargo xtask git-suite`");
        return ExitCode::SUCCESS;
    };
    let runtime = runtime(&source);
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the executor starts");
    for script in env::args().skip(1).filter(|argument| !argument.starts_with('-')) {
        let output = executor.block_on(run(&runtime, &source, &script));
        let partial = results.join(format!("{script}.part"));
        fs::write(&partial, output).expect("the directory of the results is writable");
        fs::rename(partial, results.join(format!("{script}.tap"))).expect("the file was written");
    }
    ExitCode::SUCCESS
}

fn path(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from)
}

/// Creates a runtime with the test programs of Git as commands, so that they are compiled once.
fn runtime(source: &Path) -> Runtime {
    let mut config = RuntimeConfig::default();
    assert!(config.packs.iter().any(|pack| pack.name() == "git"), "the pack git is missing: `tidebox pack add git`");
    for name in ["test-tool", "test-fake-ssh"] {
        let program = fs::read(source.join("t/helper").join(name)).expect("cargo xtask git-suite compiles it");
        config.programs.push(Program::new([name], program));
    }
    Runtime::new(config).expect("the engine starts")
}

async fn run(runtime: &Runtime, source: &Path, script: &str) -> Vec<u8> {
    let mut limits = Limits::default();
    limits.wall_time = LIMIT;
    limits.output_bytes = 64 << 20;
    let builder =
        runtime.sandbox().limits(limits).mount_host(source, "/git", MountMode::ReadOnly).expect("it can be mounted");
    let sandbox = builder.build().expect("the sandbox is built");
    // The check of the scripts themselves needs Perl.
    let command = format!(
        "mkdir -p /tmp/output && cd /git/t && TEST_OUTPUT_DIRECTORY=/tmp/output GIT_TEST_INSTALLED=/usr/bin \
         GIT_TEST_CHAIN_LINT=0 bash ./{script}.sh --root=/tmp/trash 2>/dev/null"
    );
    let response = sandbox.execute(ExecuteRequest::new(command)).await.expect("the sandbox responds");
    let mut output = response.stdout;
    if let Some(reason) = response.stopped_by {
        output.extend(format!("# stopped: {reason:?}\n").into_bytes());
    }
    output
}
