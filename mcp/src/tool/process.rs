//! `processes`, `output` and `kill`: processes that outlive the call that started them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::{OutputCursor, ProcessId, ProcessInfo, ProcessSignal, ProcessState, ReadOutput};

use super::{Hints, READS, REPLACES, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;
use crate::text::{MAX_TEXT_BYTES, lossy};

/// Maximum time for which `output` waits. Below the 60 s after which clients end a call.
const MAX_WAIT_MS: u64 = 50_000;

/// Time for which `kill` waits for the end of the process.
const KILL_WAIT: Duration = Duration::from_secs(2);

pub(super) struct Processes;

#[derive(Deserialize, JsonSchema)]
pub(super) struct ProcessesInput {}

#[derive(Serialize, JsonSchema)]
pub(super) struct ProcessesOutput {
    /// Background processes in the order of their start. The 64 that ended last are included.
    processes: Vec<ProcessEntry>,
}

#[derive(Serialize, JsonSchema)]
struct ProcessEntry {
    process_id: String,
    command: String,
    running: bool,
    exit_code: Option<i32>,
    /// Reason why the sandbox stopped it.
    stopped_by: Option<String>,
    /// Bytes that it wrote until now.
    written_bytes: u64,
}

impl ToolCall for Processes {
    const NAME: &'static str = "processes";
    const TITLE: &'static str = "List background processes";
    const DESCRIPTION: &'static str = "Lists the background processes of the sandbox.";
    const HINTS: Hints = READS;

    type Input = ProcessesInput;
    type Output = ProcessesOutput;

    async fn run(context: ToolContext<'_>, _: ProcessesInput) -> Result<ToolOutput<ProcessesOutput>, ToolError> {
        let processes: Vec<_> = context.open.backend().processes().await?.into_iter().map(entry).collect();
        let mut text = processes.iter().map(format_entry).collect::<Vec<_>>().join("\n");
        if processes.is_empty() {
            text = "no background processes".to_owned();
        }
        Ok(ToolOutput::new(text, ProcessesOutput { processes }))
    }
}

fn entry(info: ProcessInfo) -> ProcessEntry {
    let (running, exit_code, stopped_by) = split_state(&info.state);
    ProcessEntry {
        process_id: info.id.as_str().to_owned(),
        command: info.command,
        running,
        exit_code,
        stopped_by,
        written_bytes: info.written_bytes,
    }
}

fn format_entry(entry: &ProcessEntry) -> String {
    format!("{}\t{}\t{}", entry.process_id, format_state(entry.running, entry.exit_code), entry.command)
}

fn format_state(running: bool, exit_code: Option<i32>) -> String {
    match (running, exit_code) {
        (true, _) => "running".to_owned(),
        (false, Some(code)) => format!("exit code {code}"),
        (false, None) => "ended".to_owned(),
    }
}

fn split_state(state: &ProcessState) -> (bool, Option<i32>, Option<String>) {
    match state {
        ProcessState::Running => (true, None, None),
        ProcessState::Ended { exit_code, stopped_by } => {
            (false, *exit_code, stopped_by.map(|reason| reason.as_str().to_owned()))
        }
    }
}

pub(super) struct Output;

#[derive(Deserialize, JsonSchema)]
pub(super) struct OutputInput {
    /// Id of the process, from bash or processes.
    #[serde(alias = "bash_id", alias = "task_id", alias = "shell_id")]
    process_id: String,
    /// Position after which to read, from an earlier call. Default: the oldest output that is kept.
    cursor: Option<u64>,
    /// Maximum time in milliseconds to wait for output after the cursor, at most 50000. Default 0.
    wait: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OutputOutput {
    process_id: String,
    /// Both streams in the order of arrival.
    output: String,
    /// Cursor for the next call.
    cursor: u64,
    /// Bytes before this output that are no longer kept.
    dropped_bytes: u64,
    /// False only after the last output.
    running: bool,
    exit_code: Option<i32>,
    /// Reason why the sandbox stopped it.
    stopped_by: Option<String>,
}

impl ToolCall for Output {
    const NAME: &'static str = "output";
    const TITLE: &'static str = "Read the output of a process";
    const DESCRIPTION: &'static str = "Returns output of a background process after a cursor, and its state. Waits for new output if wait \
        is set.";
    const HINTS: Hints = READS;

    type Input = OutputInput;
    type Output = OutputOutput;

    async fn run(context: ToolContext<'_>, input: OutputInput) -> Result<ToolOutput<OutputOutput>, ToolError> {
        let wait = Duration::from_millis(input.wait.unwrap_or(0).min(MAX_WAIT_MS));
        let request = ReadOutput::after(OutputCursor::new(input.cursor.unwrap_or(0)))
            .with_wait(wait)
            .with_max_bytes(MAX_TEXT_BYTES);
        let id = ProcessId::new(input.process_id);
        let page = context.open.backend().read_process(&id, request).await?;
        let output = lossy(&page.bytes());
        let (running, exit_code, stopped_by) = split_state(&page.state);
        let cursor = page.next.bytes();
        let mut text = output.clone();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if page.dropped > 0 {
            text = format!("[{} bytes are no longer kept]\n{text}", page.dropped);
        }
        text.push_str(&format!("[{}; cursor {cursor}]", format_state(running, exit_code)));
        let process_id = id.as_str().to_owned();
        let dropped_bytes = page.dropped;
        let output = OutputOutput { process_id, output, cursor, dropped_bytes, running, exit_code, stopped_by };
        Ok(ToolOutput::new(text, output))
    }
}

pub(super) struct Kill;

#[derive(Deserialize, JsonSchema)]
pub(super) struct KillInput {
    /// Id of the process, from bash or processes.
    #[serde(alias = "shell_id", alias = "bash_id", alias = "task_id")]
    process_id: String,
    /// Name or number of a signal, such as TERM, INT or KILL. Default TERM.
    signal: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct KillOutput {
    process_id: String,
    /// It still runs two seconds after the signal.
    running: bool,
    exit_code: Option<i32>,
}

impl ToolCall for Kill {
    const NAME: &'static str = "kill";
    const TITLE: &'static str = "End a process";
    const DESCRIPTION: &'static str =
        "Sends a signal to a background process and its children, and waits up to two seconds for their end.";
    const HINTS: Hints = REPLACES;

    type Input = KillInput;
    type Output = KillOutput;

    async fn run(context: ToolContext<'_>, input: KillInput) -> Result<ToolOutput<KillOutput>, ToolError> {
        let name = input.signal.as_deref().unwrap_or("TERM");
        let signal = ProcessSignal::parse(name).ok_or_else(|| {
            let known = ProcessSignal::ALL.map(ProcessSignal::as_str).join(", ");
            ToolError::Failed(format!("cannot send signal {name:?}: unknown name; use one of {known}"))
        })?;
        let id = ProcessId::new(input.process_id);
        context.open.backend().signal_process(&id, signal).await?;
        let state = wait(context, &id).await?;
        let (running, exit_code, _) = split_state(&state);
        let text = format!("process {id}: {}", format_state(running, exit_code));
        Ok(ToolOutput::new(text, KillOutput { process_id: id.as_str().to_owned(), running, exit_code }))
    }
}

/// Waits until the process has ended, at most [`KILL_WAIT`].
async fn wait(context: ToolContext<'_>, id: &ProcessId) -> Result<ProcessState, ToolError> {
    let deadline = tokio::time::Instant::now() + KILL_WAIT;
    let mut request = ReadOutput::default();
    loop {
        request.wait = deadline.saturating_duration_since(tokio::time::Instant::now());
        let page = context.open.backend().read_process(id, request.clone()).await?;
        // Output that the process prints while it ends is skipped.
        if page.state.has_ended() || request.wait.is_zero() {
            return Ok(page.state);
        }
        request.after = page.next;
    }
}
