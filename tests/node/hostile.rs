//! Scripts that try to exhaust the sandbox or to break the library that they run on.

use std::time::Duration;

use tidebox::{ExecuteRequest, SandboxBackend};

use crate::{is_ready, run, sandbox};

/// Runs a script that must end within its limits. Returns its exit code and output.
async fn outcome(script: &str) -> (Option<i32>, String) {
    let sandbox = sandbox();
    let quoted = script.replace('\'', r"'\''");
    let request = ExecuteRequest::new(format!("node -e '{quoted}'")).with_timeout(Duration::from_secs(5));
    let response = sandbox.execute(request).await.expect("the sandbox responds");
    let after = run(&sandbox, "echo alive").await;
    assert_eq!(after.stdout_text(), "alive\n", "{script}");
    (response.exit_code, response.output_text().into_owned())
}

#[tokio::test]
async fn hostile_scripts_end_within_their_limits() {
    if !is_ready() {
        return;
    }
    for script in [
        "const all = []; for (;;) all.push(new Uint8Array(1 << 24).fill(1));",
        "let text = \"x\"; for (;;) text += text;",
        "function deep() { return deep() + 1; } deep();",
        "for (;;);",
        "/^(a+)+$/.test(\"a\".repeat(40) + \"b\");",
        "JSON.parse(\"[\".repeat(1e6));",
        "const spawn = () => { require(\"child_process\").spawn(process.execPath, [\"-e\", process.argv[1] ?? \"for(;;);\"]); setImmediate(spawn); }; spawn();",
        "setInterval(() => process.nextTick(function again() { process.nextTick(again); }), 0);",
    ] {
        let (code, output) = outcome(script).await;
        assert_ne!(code, Some(0), "{script}: {output}");
    }
}

#[tokio::test]
async fn changed_prototypes_do_not_stop_the_library() {
    if !is_ready() {
        return;
    }
    // Node itself survives these changes.
    let script = "Array.prototype[Symbol.iterator] = Promise.prototype.then = Map.prototype.get = String.prototype.split = \
                  () => { throw 1; }; Object.prototype.get = Object.prototype.enumerable = 5; \
                  console.log({ a: [1] }, require(\"path\").join(\"a\", \"b\"));";
    let (code, output) = outcome(script).await;
    assert_eq!((code, output.as_str()), (Some(0), "{ a: [ 1 ] } a/b\n"));
}

#[tokio::test]
async fn scripts_do_not_see_the_parts_below_the_library() {
    if !is_ready() {
        return;
    }
    let script =
        "console.log(typeof native, typeof tidebox, typeof internalBinding, typeof primordials, typeof state);";
    assert_eq!(outcome(script).await.1, "undefined undefined undefined undefined undefined\n");
}
