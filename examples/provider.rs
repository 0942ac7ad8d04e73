//! One sandbox for each conversation, which is there again when the program is.

use std::path::Path;
use std::time::Duration;

use tidebox::{Error, ExecuteRequest, ListRequest, Provider, SandboxProvider, Selector};

/// What a server does at its start.
fn start(folder: &Path) -> Result<Provider, Error> {
    let week = Duration::from_secs(7 * 24 * 60 * 60);
    tidebox::provider()?
        .sandbox(|new| new.file("README.md", "Your notes go here.\n"))
        .labels([("app", "notes")])
        .idle(week)
        .persist(folder)
        .build()
}

/// What it does for each message of a conversation.
async fn run(provider: &Provider, thread_id: &str, command: &str) -> Result<String, Error> {
    let sandbox = provider.get_or_create(Selector::labels([("thread", thread_id)])).await?;
    Ok(sandbox.execute(ExecuteRequest::new(command)).await?.output_text().into_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");

    let provider = start(folder.path())?;
    run(&provider, "alice", "echo 'buy milk' >> README.md").await?;
    run(&provider, "bob", "rm README.md").await?;
    // The program ends here, in whatever way: what a call has answered is saved.
    drop(provider);

    let provider = start(folder.path())?;
    assert_eq!(run(&provider, "alice", "cat README.md").await?, "Your notes go here.\nbuy milk\n");
    assert_eq!(run(&provider, "bob", "ls").await?, "");
    assert_eq!(provider.list(ListRequest::default()).await?.sandboxes.len(), 2);

    // A conversation that is over takes its sandbox along.
    let sandbox = provider.get_or_create(Selector::labels([("thread", "bob")])).await?;
    provider.delete(sandbox.id()).await?;
    assert_eq!(run(&provider, "bob", "ls").await?, "README.md\n");
    Ok(())
}
