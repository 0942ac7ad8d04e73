//! The result of a command for its caller. JavaScript creates the object in one call: creating it property by property takes
//! longer than a short command.

use tidebox_core::{ExecuteResponse, StopReason};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "./command_result.js")]
extern "C" {
    /// Creates the object that `tidebox_js_values::response::execute_result` describes. `output` is empty if it equals `stdout`.
    #[wasm_bindgen(js_name = commandResult)]
    fn create(
        numbers: &[f64],
        output: &[u8],
        stdout: &[u8],
        stderr: &[u8],
        stopped_by: Option<&str>,
        process: Option<&str>,
    ) -> JsValue;
}

/// Stands for a missing number.
const MISSING: f64 = f64::NAN;

/// Converts the response of a command to the object that `tidebox_js_values::response::execute_result` describes.
pub(crate) fn command_result(response: &ExecuteResponse) -> JsValue {
    let ExecuteResponse { output, stdout, stderr, .. } = response;
    let equals_stdout = output == stdout;
    let peak = response.peak_memory_bytes;
    let numbers = [
        response.exit_code.map_or(MISSING, f64::from),
        f64::from(response.truncated),
        response.duration.as_secs_f64() * 1e3,
        response.cpu_time.map_or(MISSING, |time| time.as_secs_f64() * 1e3),
        if peak > 0 { peak as f64 } else { MISSING },
        f64::from(equals_stdout),
        f64::from(std::str::from_utf8(output).is_ok()),
    ];
    let output: &[u8] = if equals_stdout { &[] } else { output };
    let stopped_by = response.stopped_by.map(StopReason::as_str);
    create(&numbers, output, stdout, stderr, stopped_by, response.process.as_ref().map(|id| id.as_str()))
}
