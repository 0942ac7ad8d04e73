//! Programs of the caller are commands like every other, for every kind of parent process.

mod component;
mod guest;
mod p3;

use std::sync::Arc;

use tidebox::{ExecuteRequest, ExecuteResponse, Sandbox, SandboxBackend, Upload};

fn tell_module() -> Arc<[u8]> {
    Arc::clone(&guest::MODULE)
}

fn sandbox() -> Sandbox {
    let builder = tidebox::sandbox().expect("the engine starts");
    builder.tool("tell", tell_module()).build().expect("the sandbox is built")
}

async fn run(sandbox: &Sandbox, command: &str) -> ExecuteResponse {
    sandbox.execute(ExecuteRequest::new(command)).await.expect("the command runs")
}

#[tokio::test]
async fn a_tool_starts_from_every_kind_of_caller() {
    let sandbox = sandbox();
    for (command, text) in [
        ("tell a 'b c'", "tell\na\nb c\n"),
        ("/usr/local/bin/tell a", "/usr/local/bin/tell\na\n"),
        ("env tell a", "tell\na\n"),
        ("printf 'x y' | xargs tell", "tell\nx\ny\n"),
        ("touch here; find . -name here -exec tell {} +", "tell\n./here\n"),
        ("timeout 5 tell a", "tell\na\n"),
        ("echo $(tell a)", "tell a\n"),
        ("tell b a | sort | head -2", "a\nb\n"),
        ("exec tell a", "tell\na\n"),
        ("mkdir l; ln -s /usr/local/bin/tell l/tell; l/tell", "l/tell\n"),
    ] {
        let response = run(&sandbox, command).await;
        assert_eq!(response.output_text(), text, "{command}");
        assert_eq!(response.exit_code, Some(0), "{command}");
    }
}

#[tokio::test]
async fn a_tool_is_listed_like_other_commands() {
    let sandbox = sandbox();
    for (command, text) in [
        ("which tell", "/usr/local/bin/tell\n"),
        ("command -v tell", "/usr/local/bin/tell\n"),
        ("type tell", "tell is /usr/local/bin/tell\n"),
        ("ls /usr/local/bin", "tell\n"),
        ("stat -c '%a %u %g %F' /usr/local/bin/tell", "755 0 0 regular file\n"),
    ] {
        assert_eq!(run(&sandbox, command).await.output_text(), text, "{command}");
    }
}

#[tokio::test]
async fn a_tool_cannot_be_modified_from_inside() {
    let sandbox = sandbox();
    for command in ["echo x > /usr/local/bin/tell", "rm -f /usr/local/bin/tell", "chmod 777 /usr/local/bin/tell"] {
        assert_ne!(run(&sandbox, command).await.exit_code, Some(0), "{command}");
    }
    assert_eq!(run(&sandbox, "tell").await.stdout_text(), "tell\n");
}

#[tokio::test]
async fn a_tool_replaces_a_program_of_the_same_name() {
    let builder = tidebox::sandbox().expect("the engine starts");
    let sandbox = builder.tool("ls", tell_module()).build().expect("the sandbox is built");
    let response = run(&sandbox, "ls; /bin/ls -d /tmp").await;
    assert_eq!(response.output_text(), "ls: 'ls' is nothing that this program does\n/tmp\n");
}

#[tokio::test]
async fn a_broken_tool_is_reported_when_it_starts() {
    let builder = tidebox::sandbox().expect("the engine starts");
    let broken = b"\0asm\x01\0\0\0\xff\xff".to_vec();
    let sandbox = builder.tool("broken", broken).build().expect("it looks like a module");
    let response = run(&sandbox, "broken").await;
    assert_eq!(response.exit_code, Some(126));
    let text = response.output_text();
    assert!(text.starts_with("broken: cannot execute: not a valid WebAssembly module"), "{text}");
}

#[tokio::test]
async fn sandboxes_share_a_tool_and_run_it_concurrently() {
    let bytes = tell_module();
    let mut running = tokio::task::JoinSet::new();
    for number in 0..4 {
        let bytes = Arc::clone(&bytes);
        running.spawn(async move {
            let builder = tidebox::sandbox().expect("the engine starts");
            let sandbox = builder.tool("tell", bytes).build().expect("the sandbox is built");
            let response = run(&sandbox, &format!("tell {number} | tail -1")).await;
            assert_eq!(response.stdout_text(), format!("{number}\n"));
        });
    }
    while let Some(ended) = running.join_next().await {
        ended.expect("no command failed");
    }
}

#[tokio::test]
async fn an_uploaded_module_runs_by_its_path() {
    let builder = tidebox::sandbox().expect("the engine starts");
    let sandbox = builder.build().expect("the sandbox is built");
    let uploaded = sandbox
        .upload_files(vec![Upload::new("/workspace/tell.wasm", tell_module().to_vec())])
        .await
        .expect("it responds");
    assert_eq!(uploaded[0].result, Ok(()));
    assert_eq!(run(&sandbox, "cp tell.wasm tell; ./tell a").await.output_text(), "./tell\na\n");
}
