//! A secret configured in every possible way must not appear in debug output, in errors or inside the sandbox.

use std::fmt::Debug;
use std::time::Duration;

use tidebox::network::{AllowRule, NetworkPolicy};
use tidebox::{
    EditRequest, ExecuteRequest, Runtime, RuntimeConfig, SandboxBackend, SandboxPath, Secret, Upload, WriteRequest,
};
use tidebox_kernel::ExecutionSpec;

/// A value that occurs nowhere else.
const PLANTED: &str = "hunter2-planted-c0ffee";

fn expect_hidden(what: &str, value: &dyn Debug) {
    for printed in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!printed.contains(PLANTED), "{what} shows it: {printed}");
        // Bytes are printed as numbers.
        let bytes = format!("{:?}", PLANTED.as_bytes());
        assert!(!printed.contains(bytes.trim_matches(['[', ']'])), "{what} shows its bytes: {printed}");
    }
}

fn policy() -> NetworkPolicy {
    let rule = AllowRule::host("api.example.com").expect("a host");
    let policy = NetworkPolicy::new().allow(rule);
    policy.inject("api.example.com", "authorization", Secret::new(PLANTED)).expect("a header")
}

#[tokio::test]
async fn debug_output_shows_no_secret() {
    expect_hidden("a secret", &Secret::new(PLANTED));
    expect_hidden("a network policy", &policy());
    let runtime = Runtime::new(RuntimeConfig::default()).expect("the engine starts");
    expect_hidden("a runtime", &runtime);
    let tool_secret = PLANTED.to_owned();
    let builder = || {
        let tool_secret = tool_secret.clone();
        runtime.sandbox().env("TOKEN", PLANTED).file("/workspace/secret", PLANTED).network(policy()).host_tool(
            "tool",
            move |_| {
                let code = u8::from(tool_secret.is_empty());
                async move { code }
            },
        )
    };
    expect_hidden("a builder", &builder());
    let sandbox = builder().build().expect("the sandbox is built");
    let request =
        ExecuteRequest::new("cat /workspace/secret > copy; tool").with_env("KEY", PLANTED).with_stdin(PLANTED);
    expect_hidden("a request", &request);
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!(response.exit_code, Some(0), "{}", response.output_text());
    expect_hidden("an answer that does not hold it", &response);
    expect_hidden("a sandbox", &sandbox);
    expect_hidden("what it holds", &sandbox.resource_usage());
    expect_hidden("a snapshot", &sandbox.snapshot().expect("it is open"));
    expect_hidden("a fork", &sandbox.fork().expect("it is open"));
    let path = SandboxPath::parse("/workspace/secret").expect("a path");
    let upload = Upload::new("/workspace/secret", PLANTED);
    expect_hidden("an upload", &upload);
    sandbox.upload_files(vec![upload]).await.expect("it is open");
    let downloads = sandbox.download_files(vec!["/workspace/secret".into()]).await.expect("it is open");
    assert_eq!(downloads[0].result.as_deref(), Ok(PLANTED.as_bytes()));
    expect_hidden("a download", &downloads);
    expect_hidden("a write", &WriteRequest::new(path.clone(), PLANTED));
    expect_hidden("an edit by a secret", &EditRequest::new(path.clone(), "token", PLANTED));
    expect_hidden("an edit of a secret", &EditRequest::new(path, PLANTED, "token"));
    let spec = ExecutionSpec {
        env: [format!("TOKEN={PLANTED}")].into_iter().collect(),
        argv: [PLANTED].into_iter().collect(),
        stdin: PLANTED.into(),
        ..ExecutionSpec::default()
    };
    expect_hidden("a session", &spec);
}

#[tokio::test]
async fn errors_and_messages_show_no_secret() {
    let builder = tidebox::sandbox().expect("the engine starts").env("TOKEN", PLANTED).network(policy());
    let sandbox = builder.file("/workspace/secret", PLANTED).build().expect("the sandbox is built");
    let bad = ExecuteRequest::new("true").with_env("A=B", PLANTED);
    let rejected = sandbox.execute(bad).await.expect_err("a name with an equals sign");
    expect_hidden("a refused variable", &rejected);
    assert!(!rejected.to_string().contains(PLANTED), "{rejected}");
    let nowhere = SandboxPath::parse("/bin/ls/nowhere").expect("a path");
    let write =
        sandbox.write(WriteRequest::new(nowhere, PLANTED)).await.expect("it is open").expect_err("it does not exist");
    expect_hidden("a refused write", &write);
    for command in
        ["no-such-program", "exit 3", "kill -9 $$", "ulimit -n", "cat /nothing", "curl -s https://other.example/"]
    {
        let request = ExecuteRequest::new(command).with_timeout(Duration::from_secs(60));
        let response = sandbox.execute(request).await.expect("the command runs");
        assert!(!response.output_text().contains(PLANTED), "{command}: {}", response.output_text());
        if let Err(failed) = response.into_success() {
            expect_hidden(command, &failed);
        }
    }
    sandbox.close().await.expect("it closes");
    let closed = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("it is closed");
    expect_hidden("a closed sandbox", &closed);
    expect_hidden("the sandbox", &sandbox);
}

#[tokio::test]
async fn host_information_is_invisible_in_the_sandbox() {
    let sandbox = tidebox::sandbox().and_then(|builder| builder.build()).expect("the sandbox is built");
    let look = "hostname; uname -a; cat /proc/version /proc/sys/kernel/hostname /etc/hostname /etc/hosts /etc/machine-id \
                /proc/cpuinfo /proc/meminfo /proc/mounts /proc/self/environ /proc/self/cmdline 2> /dev/null; env; set; id -un; \
                df; ps aux; cat /etc/passwd; pwd";
    let response = sandbox.execute(ExecuteRequest::new(look)).await.expect("the command runs");
    let seen = response.output_text().into_owned();
    let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let names = [file("/proc/sys/kernel/hostname"), file("/proc/sys/kernel/osrelease"), file("/etc/machine-id")];
    // The host name may be a common term, which occurs in ordinary output.
    for name in names.iter().filter(|name| name.len() > 6 && !seen_anyway(name)) {
        assert!(!seen.contains(name.as_str()), "{name} is seen from inside:\n{seen}");
    }
    for (name, value) in std::env::vars().filter(|(_, value)| value.len() > 12 && !seen_anyway(value)) {
        assert!(!seen.contains(&value), "the value of {name} is seen from inside:\n{seen}");
    }
    let dir = env!("CARGO_MANIFEST_DIR");
    assert!(!seen.contains(dir), "{dir} is seen from inside:\n{seen}");
}

/// Information that a sandbox reports about itself, too.
fn seen_anyway(text: &str) -> bool {
    ["localhost", "tidebox", "C.UTF-8", "en_US.UTF-8", "/usr/local/bin:/usr/bin:/bin"].contains(&text)
}
