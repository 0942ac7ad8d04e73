//! Git in a terminal: questions, pager, colors and width.

use std::sync::Arc;
use std::time::Duration;

use tidebox::{OutputCursor, Process, ProcessState, ReadOutput, Sandbox, SandboxBackend, SpawnRequest, TerminalSize};

use crate::setup::{is_ready, sandbox, succeed};

/// Maximum time of a command. The first one may wait until Git is compiled.
const PATIENCE: Duration = Duration::from_secs(90);

/// Creates a repository with a commit, and a file with more lines than that.
async fn repository() -> Arc<Sandbox> {
    let sandbox = sandbox();
    succeed(&sandbox, "git init -q r && cd r && echo one > f && git add f && git commit -qm first && seq 1 300 > f")
        .await;
    Arc::new(sandbox)
}

/// Runs a command in a terminal of 60 columns. Writes `answer` when `question` was printed. Returns the exit code and the output.
async fn run(sandbox: &Arc<Sandbox>, command: &str, question: &str, answer: &str) -> (Option<i32>, String) {
    let backend: Arc<dyn SandboxBackend> = Arc::<Sandbox>::clone(sandbox);
    let request = SpawnRequest::new(format!("cd r && exec {command}"))
        .with_terminal(TerminalSize::new(24, 60))
        .with_timeout(PATIENCE);
    let process = Process::spawn(backend, request).await.expect("the process starts");
    let (mut output, mut after, mut is_answered) = (String::new(), OutputCursor::START, question.is_empty());
    loop {
        let page = process.read(ReadOutput::after(after).with_wait(PATIENCE)).await.expect("it is known");
        after = page.next;
        output.push_str(&String::from_utf8_lossy(&page.bytes()));
        if !is_answered && output.contains(question) {
            is_answered = true;
            process.write_all(answer.as_bytes()).await.expect("the terminal is open");
        }
        if let ProcessState::Ended { exit_code, .. } = page.state
            && page.chunks.is_empty()
        {
            return (exit_code, output);
        }
    }
}

#[tokio::test]
async fn add_asks_for_each_hunk_in_a_terminal() {
    if !is_ready() {
        return;
    }
    let sandbox = repository().await;
    let (code, output) = run(&sandbox, "git add -p", "Stage this hunk [y,n,q,a,d,e,?]? ", "y\r").await;
    assert_eq!(code, Some(0), "{output}");
    assert_eq!(succeed(&sandbox, "cd r && git diff --cached --numstat; git status -s").await, "300\t1\tf\nM  f\n");
}

#[tokio::test]
async fn pager_and_colors_are_used_only_in_a_terminal() {
    if !is_ready() {
        return;
    }
    let sandbox = repository().await;
    let log = "git -c core.pager='sed s/^/paged:/' log --oneline";
    let (code, output) = run(&sandbox, log, "", "").await;
    assert_eq!(code, Some(0), "{output}");
    assert!(output.starts_with("paged:\u{1b}[33m") && output.contains("first"), "{output:?}");
    let piped = succeed(&sandbox, &format!("cd r && {log}")).await;
    assert!(!piped.contains("paged:") && !piped.contains('\u{1b}') && piped.contains("first"), "{piped:?}");
}

#[tokio::test]
async fn a_diffstat_has_the_width_of_the_terminal() {
    if !is_ready() {
        return;
    }
    let sandbox = repository().await;
    // Git leaves the last column empty.
    let widest = |text: &str| text.lines().map(|line| line.trim_end().len()).max();
    let (code, output) = run(&sandbox, "git --no-pager diff --no-color --stat", "", "").await;
    assert_eq!((code, widest(&output)), (Some(0), Some(59)), "{output}");
    let piped = succeed(&sandbox, "cd r && git diff --stat").await;
    assert_eq!(widest(&piped), Some(79), "{piped}");
}
