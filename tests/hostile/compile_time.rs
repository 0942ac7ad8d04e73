//! Compilation of a module that a guest brings, charged to the processor time of its command.

use std::fmt::Write as _;
use std::time::Duration;

use tidebox::{ExecuteRequest, ExecuteResponse, Limits, SandboxBackend, StopReason, Upload};

/// Functions of the module. Compiling them takes much longer than running the one that is called.
const FUNCTIONS: u32 = 3000;

/// Returns a module with that many functions. Modules with different `salt` are different to every cache.
fn module(functions: u32, salt: u32) -> Vec<u8> {
    let mut text = String::from("(module (func (export \"_start\"))");
    for number in 0..functions {
        let constant = i64::from(salt) << 32 | i64::from(number);
        let step =
            "(local.set 0 (i64.add (i64.mul (local.get 0) (local.get 1)) (i64.rotl (local.get 2) (local.get 0))))
                    (local.set 1 (i64.xor (local.get 0) (local.get 2)))";
        let body = step.repeat(8);
        write!(text, "(func (param i64 i64 i64) (local.set 2 (i64.const {constant})) {body})")
            .expect("memory takes it");
    }
    text.push(')');
    wat::parse_str(text).expect("well-formed")
}

/// Runs a module in a sandbox with this limit of processor time.
async fn run(module: Vec<u8>, cpu_time: Option<Duration>) -> ExecuteResponse {
    let mut limits = Limits::default();
    (limits.cpu_time, limits.wall_time) = (cpu_time, Duration::from_secs(600));
    let sandbox = tidebox::sandbox().and_then(|builder| builder.limits(limits).build()).expect("the sandbox is built");
    let uploaded = sandbox.upload_files(vec![Upload::new("/workspace/guest", module)]).await.expect("it responds");
    assert!(uploaded.iter().all(|file| file.result.is_ok()), "{uploaded:?}");
    sandbox.execute(ExecuteRequest::new("chmod +x guest; ./guest")).await.expect("it responds")
}

/// Measures the processor time of a command that compiles, and runs an equal one with a quarter of it.
pub(crate) fn hold() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        let small = run(module(1, 1), None).await;
        let large = run(module(FUNCTIONS, 1), None).await;
        assert_eq!((small.exit_code, large.exit_code), (Some(0), Some(0)), "{}", large.stderr_text());
        let [small, large] = [small, large].map(|response| response.cpu_time.expect("natively it is measured"));
        assert!(large > small * 4, "compiling counts: {large:?}, not {small:?}");

        let stopped = run(module(FUNCTIONS, 2), Some(large / 4)).await;
        let end = (stopped.exit_code, stopped.stopped_by);
        assert_eq!(end, (Some(152), Some(StopReason::CpuTime)), "{large:?}: {}", stopped.stderr_text());
        let message = "of processor time";
        assert!(stopped.stderr_text().contains(message), "{}", stopped.stderr_text());
        // The compilation ends at the next function, not at the end of the module.
        let used = stopped.cpu_time.expect("natively it is measured");
        assert!(used < large, "{used:?} of {large:?}");
    });
}
