//! `bash`: command lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::{
    Background, ExecuteRequest, ExecuteResponse, OutputChunk, SandboxPath, ShellMode, SpawnRequest, StopReason,
};

use super::{Hints, RUNS, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;
use crate::image::{Images, MAX_IMAGES, changed_images, read_images};
use crate::text::clip;

pub(super) struct Bash;

#[derive(Deserialize, JsonSchema)]
pub(super) struct BashInput {
    /// Command line for bash. The working directory, variables and functions persist between calls.
    command: String,
    /// Maximum time in milliseconds, at most 600000. Default 55000. The command is killed when it expires.
    timeout: Option<u64>,
    /// Start the command as a background process and return its process_id immediately.
    run_in_background: Option<bool>,
    /// Same as run_in_background.
    background: Option<bool>,
    /// Purpose of the command, for the user. It has no effect.
    #[serde(rename = "description")]
    _description: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct BashOutput {
    stdout: String,
    stderr: String,
    /// Exit code; 124 after the timeout, 128 + n after signal n. Null if the command runs in the background.
    exit_code: Option<i32>,
    /// The command was killed because its time expired.
    timed_out: bool,
    /// The limit of the sandbox that the command reached.
    stopped_by: Option<String>,
    /// Output was omitted.
    truncated: bool,
    duration_ms: u64,
    /// Process that still runs: the command itself, or processes that it left.
    process_id: Option<String>,
    /// Paths of images that the command wrote and that follow as content.
    images: Vec<String>,
}

impl ToolCall for Bash {
    const NAME: &'static str = "bash";
    const TITLE: &'static str = "Run a command";
    const DESCRIPTION: &'static str = "Runs a command line in the bash of an isolated sandbox with the usual Unix tools. The working \
        directory, variables and functions persist between calls. Servers and other long tasks: set run_in_background, then use \
        processes, output and kill. Images that the command writes are returned.";
    const HINTS: Hints = RUNS;

    type Input = BashInput;
    type Output = BashOutput;

    async fn run(context: ToolContext<'_>, input: BashInput) -> Result<ToolOutput<BashOutput>, ToolError> {
        if input.run_in_background.or(input.background).unwrap_or(false) {
            return start(context, input).await;
        }
        let before = context.open.current()?;
        let timeout = context.timeout(input.timeout);
        let request = ExecuteRequest::new(input.command)
            .with_timeout(timeout)
            .with_shell_mode(ShellMode::Persistent)
            .with_background(Background::Keep)
            .with_output_overflow(context.settings.output_overflow);
        let mut sink = |chunk: OutputChunk| context.tail.push(&chunk.bytes);
        let backend = context.open.backend();
        let response = backend.execute_streaming(request, &mut sink).await?;
        let changed = changed_images(&before, &context.open.current()?, MAX_IMAGES);
        let images = read_images(backend, changed).await?;
        Ok(finish(&response, images))
    }
}

/// Starts a background process in the working directory of the shell session.
async fn start(context: ToolContext<'_>, input: BashInput) -> Result<ToolOutput<BashOutput>, ToolError> {
    let mut request = SpawnRequest::new(input.command);
    request.cwd = session_dir(context).await?;
    // Background processes may run longer than commands; the sandbox has its own limit for them.
    request.timeout = input.timeout.map(std::time::Duration::from_millis);
    let id = context.open.backend().spawn(request).await?;
    let text = format!("[process {id} runs in the background; read its output with the tool output, end it with kill]");
    let output = BashOutput {
        stdout: String::new(),
        stderr: String::new(),
        exit_code: None,
        timed_out: false,
        stopped_by: None,
        truncated: false,
        duration_ms: 0,
        process_id: Some(id.as_str().to_owned()),
        images: Vec::new(),
    };
    Ok(ToolOutput::new(text, output))
}

/// Returns the working directory of the shell session.
async fn session_dir(context: ToolContext<'_>) -> Result<Option<SandboxPath>, ToolError> {
    // The shell kills itself, because a killed shell saves nothing: its state would replace that of a command that ends at the same time.
    let request = ExecuteRequest::new("builtin pwd; kill -KILL $$").with_shell_mode(ShellMode::Persistent);
    let response = context.open.backend().execute(request).await?;
    let dir = response.stdout.strip_suffix(b"\n").unwrap_or(&response.stdout);
    Ok(SandboxPath::parse(dir).ok())
}

fn finish(response: &ExecuteResponse, images: Images) -> ToolOutput<BashOutput> {
    let (stdout, stderr) = (clip(&response.stdout), clip(&response.stderr));
    let text = format_text(response, &images.notes);
    let output = BashOutput {
        truncated: response.truncated || stdout.is_clipped || stderr.is_clipped,
        stdout: stdout.text,
        stderr: stderr.text,
        exit_code: response.exit_code,
        timed_out: response.stopped_by == Some(StopReason::Timeout),
        stopped_by: response.stopped_by.map(|reason| reason.as_str().to_owned()),
        duration_ms: u64::try_from(response.duration.as_millis()).unwrap_or(u64::MAX),
        process_id: response.process.as_ref().map(|id| id.as_str().to_owned()),
        images: images.paths,
    };
    ToolOutput::new(text, output).with_content(images.content)
}

/// Formats both streams in the order of arrival, then a line for everything that is not output.
fn format_text(response: &ExecuteResponse, notes: &[String]) -> String {
    let mut lines = vec![clip(&response.output).text.trim_end_matches('\n').to_owned()];
    match response.stopped_by {
        Some(StopReason::Timeout) => lines.push(format!(
            "[killed after {:.1} s; set a longer timeout, or run_in_background]",
            response.duration.as_secs_f64()
        )),
        Some(reason) => lines.push(format!("[the command reached a limit of the sandbox: {reason}]")),
        None => {}
    }
    match response.exit_code {
        Some(0) => {}
        Some(code) => lines.push(format!("[exit code {code}]")),
        None => lines.push("[unknown exit code]".to_owned()),
    }
    if response.truncated {
        lines.push("[output beyond the sandbox's limit was dropped]".to_owned());
    }
    if let Some(id) = &response.process {
        lines.push(format!("[process {id} still runs; read its output with the tool output, end it with kill]"));
    }
    lines.extend_from_slice(notes);
    lines.retain(|line| !line.is_empty());
    if lines.is_empty() { "(no output)".to_owned() } else { lines.join("\n") }
}
