//! `run_python`: code in an interpreter that keeps its variables.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::{OutputChunk, StopReason};

use super::{Hints, RUNS, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;
use crate::image::{Images, MAX_IMAGES, changed_images, read_images};
use crate::source::{PythonException, PythonRun};
use crate::text::clip;
use crate::workspace::InterpreterState;

pub(super) struct RunPython;

#[derive(Deserialize, JsonSchema)]
pub(super) struct PythonInput {
    /// Python code. Variables, functions and imports persist between calls.
    code: String,
    /// Maximum time in milliseconds, at most 600000. Default 55000. The interpreter is ended when it expires.
    timeout: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PythonOutput {
    /// Output of both streams, in the order of arrival.
    output: String,
    /// repr of the last expression.
    value: Option<String>,
    /// The uncaught exception.
    error: Option<PythonError>,
    /// The code was stopped because its time expired.
    timed_out: bool,
    /// Output was omitted.
    truncated: bool,
    /// The code ran in a new interpreter, without variables of earlier calls.
    new_interpreter: bool,
    /// The interpreter has exited, and its variables are lost.
    exited: bool,
    duration_ms: u64,
    /// Paths of figures and other images that the code wrote and that follow as content.
    images: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct PythonError {
    name: String,
    message: String,
    traceback: String,
}

impl ToolCall for RunPython {
    const NAME: &'static str = "run_python";
    const TITLE: &'static str = "Run Python";
    const DESCRIPTION: &'static str = "Runs Python code in an interpreter of the sandbox that keeps its variables between calls, as a \
        notebook does. Returns the output, the value of the last expression, and figures of matplotlib.";
    const HINTS: Hints = RUNS;

    type Input = PythonInput;
    type Output = PythonOutput;

    async fn run(context: ToolContext<'_>, input: PythonInput) -> Result<ToolOutput<PythonOutput>, ToolError> {
        let before = context.open.current()?;
        let mut sink = |chunk: OutputChunk| context.tail.push(&chunk.bytes);
        let timeout = context.timeout(input.timeout);
        let (run, state) = context.open.run_python(&input.code, timeout, &mut sink).await?;
        let mut paths: Vec<_> = run.figures.iter().map(|path| path.clone().into_bytes()).take(MAX_IMAGES).collect();
        for path in changed_images(&before, &context.open.current()?, MAX_IMAGES) {
            if paths.len() < MAX_IMAGES && !paths.contains(&path) {
                paths.push(path);
            }
        }
        let images = read_images(context.open.backend(), paths).await?;
        Ok(finish(run, state, images))
    }
}

fn finish(run: PythonRun, state: InterpreterState, images: Images) -> ToolOutput<PythonOutput> {
    let PythonRun { value, error, output, .. } = run;
    let printed = clip(&output.output);
    let timed_out = output.stopped_by == Some(StopReason::Timeout);
    let value = value.map(|value| clip(value.as_bytes()));
    let is_clipped = printed.is_clipped || value.as_ref().is_some_and(|value| value.is_clipped);
    let value = value.map(|value| value.text);

    let mut lines = vec![printed.text.trim_end_matches('\n').to_owned()];
    lines.extend(value.clone());
    match (timed_out, output.stopped_by) {
        (true, _) => {
            lines.push(format!("[stopped after {:.1} s; set a longer timeout]", output.duration.as_secs_f64()))
        }
        (false, Some(reason)) => lines.push(format!("[the code reached a limit of the sandbox: {reason}]")),
        (false, None) => {}
    }
    if state.has_exited {
        lines.push("[the interpreter has exited; its variables are lost, files remain]".to_owned());
    }
    lines.extend(images.notes);
    lines.retain(|line| !line.is_empty());
    let text = if lines.is_empty() { "(no output)".to_owned() } else { lines.join("\n") };
    let structured = PythonOutput {
        output: printed.text,
        value,
        error: error.map(convert),
        timed_out,
        truncated: output.truncated || is_clipped,
        new_interpreter: state.is_new,
        exited: state.has_exited,
        duration_ms: u64::try_from(output.duration.as_millis()).unwrap_or(u64::MAX),
        images: images.paths,
    };
    ToolOutput::new(text, structured).with_content(images.content)
}

fn convert(exception: PythonException) -> PythonError {
    let PythonException { name, message, traceback } = exception;
    PythonError { name, message: clip(message.as_bytes()).text, traceback: clip(traceback.as_bytes()).text }
}
