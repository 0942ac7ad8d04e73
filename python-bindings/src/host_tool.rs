//! Commands of the sandbox that are Python functions.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tidebox::{BrokenPipe, HostCall, SandboxBuilder};

use crate::runtime;

/// Standard input of one call; more fails.
const STDIN_BYTES: usize = 64 << 20;

/// Exit code of a call that failed on the application's side.
const FAILED: u8 = 1;

/// A Python function that takes a [`ToolCall`] and returns standard output, standard error and the exit code.
#[derive(Clone, Debug)]
pub(crate) struct ToolFunction(Arc<Py<PyAny>>);

impl<'py> FromPyObject<'_, 'py> for ToolFunction {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Arc::new(value.to_owned().unbind())))
    }
}

/// A call of a tool. All of it is chosen by the author of the command.
#[pyclass(frozen, module = "tidebox", get_all)]
#[derive(Debug)]
pub(crate) struct ToolCall {
    /// Name by which the tool was called.
    name: String,
    /// The arguments after the name. Bytes that are not UTF-8 become U+FFFD.
    arguments: Vec<String>,
    /// Environment variables.
    env: BTreeMap<String, String>,
    /// Working directory.
    cwd: String,
    /// Id of the sandbox.
    sandbox_id: String,
    /// Standard input.
    stdin: Py<PyBytes>,
}

#[pymethods]
impl ToolCall {
    fn __repr__(&self) -> String {
        format!("ToolCall({} {})", self.name, self.arguments.join(" "))
    }
}

/// Adds a tool. The function runs on a separate thread, so it may block.
pub(crate) fn add(builder: SandboxBuilder, name: String, function: ToolFunction) -> SandboxBuilder {
    builder.host_tool(name, move |call| answer(call, function.clone()))
}

async fn answer(mut call: HostCall, function: ToolFunction) -> u8 {
    let Some(stdin) = call.stdin.read_to_end(STDIN_BYTES).await else {
        let _ = call.stderr.write(format!("standard input is longer than {STDIN_BYTES} bytes\n")).await;
        return FAILED;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut words = call.arguments.iter().map(|argument| text(argument));
    let (name, arguments) = (words.next().unwrap_or_default(), words.collect());
    let pair =
        |variable: &Vec<u8>| text(variable).split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let env = call.environment.iter().filter_map(pair).collect();
    let (cwd, sandbox_id) = (call.cwd.to_text().into_owned(), call.sandbox.as_str().to_owned());
    let run = move || {
        let answer = |py: Python<'_>| -> PyResult<(Vec<u8>, Vec<u8>, u8)> {
            let stdin = PyBytes::new(py, &stdin).unbind();
            function.0.call1(py, (ToolCall { name, arguments, env, cwd, sandbox_id, stdin },))?.extract(py)
        };
        runtime::call_blocking(|| runtime::try_attach(answer))
    };
    let (stdout, stderr, code) = match tokio::task::spawn_blocking(run).await {
        Ok(Ok(answer)) => answer,
        // The function of `python/tidebox` catches what the application's raises.
        Ok(Err(error)) => (Vec::new(), format!("{error}\n").into_bytes(), FAILED),
        Err(_) => (Vec::new(), b"the tool did not finish\n".to_vec(), FAILED),
    };
    let _ = call.stderr.write(stderr).await;
    match call.stdout.write(stdout).await {
        Ok(()) => code,
        Err(BrokenPipe) => BrokenPipe::EXIT_CODE,
    }
}
