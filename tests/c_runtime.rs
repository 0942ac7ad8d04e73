//! Runs the tests of the runtime for programs in C, which `cargo xtask pack c-runtime` compiles.

use tidebox::{ExecuteRequest, SandboxBackend};

/// Runs one program, which checks itself and prints the checks that fail.
async fn run(name: &str) {
    let program = std::env::current_exe().expect("the test has a path");
    let target = program.ancestors().nth(3).expect("the test is in target/debug/deps");
    let Ok(wasm) = std::fs::read(target.join(format!("c-runtime/{name}.wasm"))) else {
        eprintln!("skipped: {name}.wasm is missing; run `cargo xtask pack c-runtime`");
        return;
    };
    let sandbox =
        tidebox::sandbox().expect("the engine starts").tool(name, wasm).build().expect("the sandbox is built");
    let response = sandbox.execute(ExecuteRequest::new(name)).await.expect("the command completes");
    assert_eq!((response.exit_code, response.output_text().as_ref()), (Some(0), "0 failed\n"));
}

#[tokio::test]
async fn processes_pipes_and_signals_work_in_c() {
    run("processes").await;
}

#[tokio::test]
async fn modes_links_and_directories_work_in_c() {
    run("files").await;
}
