//! One sandbox for each conversation, which survives a restart of the program.

use std::path::Path;
use std::time::Duration;

use tidebox::{Error, ExecuteRequest, ListRequest, Provider, SandboxProvider, Selector};

/// The start of a server.
fn start(dir: &Path) -> Result<Provider, Error> {
    let week = Duration::from_secs(7 * 24 * 60 * 60);
    tidebox::provider()?
        .sandbox(|new| new.file("README.md", "Your notes go here.\n"))
        .labels([("app", "notes")])
        .idle_timeout(week)
        .save_in(dir)
        .build()
}

/// Handles one message of a conversation.
async fn run(provider: &Provider, thread_id: &str, command: &str) -> Result<String, Error> {
    let sandbox = provider.get_or_create(Selector::labels([("thread", thread_id)])).await?;
    Ok(sandbox.execute(ExecuteRequest::new(command)).await?.output_text().into_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");

    let provider = start(dir.path())?;
    run(&provider, "alice", "echo 'buy milk' >> README.md").await?;
    run(&provider, "bob", "rm README.md").await?;
    // The program may end here in any way: the changes of every finished call are saved.
    drop(provider);

    let provider = start(dir.path())?;
    assert_eq!(run(&provider, "alice", "cat README.md").await?, "Your notes go here.\nbuy milk\n");
    assert_eq!(run(&provider, "bob", "ls").await?, "");
    assert_eq!(provider.list(ListRequest::default()).await?.sandboxes.len(), 2);

    // Delete the sandbox with its conversation.
    let sandbox = provider.get_or_create(Selector::labels([("thread", "bob")])).await?;
    provider.delete(sandbox.id()).await?;
    assert_eq!(run(&provider, "bob", "ls").await?, "README.md\n");
    Ok(())
}
