//! One program on the local backend and at every provider: only the name changes.
//!
//! The providers are emulators in this process here, so that it runs without an account. With a key in the provider's own variable,
//! `Options::default()` instead of `serving.options()` uses the service itself.

use std::net::SocketAddr;

use tidebox::remote::{Options, PROVIDERS};
use tidebox::{EditRequest, Error, ExecuteRequest, LOCAL, SandboxBackend, SandboxPath, WriteRequest};

/// The work of an agent: writes a program, runs it, reads the error, fixes it, and downloads the result.
async fn work(sandbox: &dyn SandboxBackend) -> Result<Vec<u8>, Error> {
    let script = SandboxPath::parse("/tmp/market/count.sh")?;
    let program = "sort /tmp/market/fruit | uniq -c | sort -rn | awk '{ print $2, $1 }' > /tmp/market/counts\nexit 1\n";
    sandbox.write(WriteRequest::new(script.clone(), program)).await??;

    let fruit = SandboxPath::parse("/tmp/market/fruit")?;
    sandbox.write(WriteRequest::new(fruit, "pear\nfig\npear\napple\nfig\npear\n")).await??;
    let first = sandbox.execute(ExecuteRequest::new("sh /tmp/market/count.sh")).await?;
    assert_eq!(first.exit_code, Some(1));

    sandbox.edit(EditRequest::new(script, "exit 1", "exit 0")).await??;
    let second = sandbox
        .execute(ExecuteRequest::new("sh count.sh && cat counts").with_cwd(SandboxPath::parse("/tmp/market")?))
        .await?;
    second.into_success()?;

    let files = sandbox.download_files(vec![b"/tmp/market/counts".to_vec()]).await?;
    let counts = files.into_iter().next().expect("one result for each path");
    Ok(counts.result?)
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let sandbox = tidebox::create_sandbox(LOCAL, Options::default()).await?;
    let here = work(&*sandbox).await?;
    assert_eq!(here, b"pear 3\nfig 2\napple 1\n");

    for provider in PROVIDERS {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let serving = tidebox::emulate(provider, listen, "any-key", tidebox::sandbox).await?;
        let sandbox = tidebox::create_sandbox(provider, serving.options()).await?;
        assert_eq!(work(&*sandbox).await?, here, "{provider}");
        serving.end().await;
    }
    Ok(())
}
