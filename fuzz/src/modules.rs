//! Modules that guests bring: as they are changed before they are compiled, for both engines.

use arbitrary::Unstructured;
use tidebox_js_bindings::rewrite::{Bounds, Exceptions, FEATURES, rewrite};
use wasmparser::{Validator, WasmFeatures};

/// The native engine's, whose own package would bring that engine along.
#[path = "../../wasi-runner/src/program/bulk.rs"]
#[allow(dead_code, reason = "its tests are run where it lives")]
mod bulk;

/// Why a file is no program, as the native engine says it.
#[derive(Debug)]
pub(crate) struct NotAProgram(String);

impl NotAProgram {
    fn is_told(&self) {
        assert!(!self.0.is_empty(), "a refusal without a reason");
    }
}

fn valid(wasm: &[u8], features: WasmFeatures) -> Result<(), String> {
    Validator::new_with_features(features).validate_all(wasm).map(drop).map_err(|error| error.to_string())
}

/// Bytes that are a module or nearly one. What comes out is valid, as a browser will find.
pub(crate) fn rewritten(input: &[u8]) {
    for exceptions in [Exceptions::default(), Exceptions { standard: true, legacy: true }] {
        let bounds = Bounds { exceptions, ..Bounds::default() };
        match rewrite(input, bounds) {
            Ok(out) => {
                let features = FEATURES | WasmFeatures::EXCEPTIONS | WasmFeatures::LEGACY_EXCEPTIONS;
                valid(&out, features).expect("what is written is valid");
            }
            Err(refusal) => assert!(!refusal.to_string().is_empty()),
        }
    }
}

/// The same for the native engine: what was valid is valid afterwards.
pub(crate) fn bounded(input: &[u8]) {
    let is_component = input.get(4..8) == Some(&[0x0d, 0, 1, 0]);
    match bulk::bound(input, is_component) {
        Ok(out) => {
            if valid(input, WasmFeatures::default()).is_ok() {
                valid(&out, WasmFeatures::default()).expect("what is written is valid");
            }
        }
        Err(refusal) => refusal.is_told(),
    }
}

/// Valid modules of every shape, made from the input.
pub(crate) fn made(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let config = wasm_smith::Config {
        gc_enabled: false,
        threads_enabled: false,
        memory64_enabled: false,
        relaxed_simd_enabled: false,
        shared_everything_threads_enabled: false,
        wide_arithmetic_enabled: false,
        custom_page_sizes_enabled: false,
        compact_imports_enabled: false,
        exceptions_enabled: false,
        max_memories: 1,
        max_imports: 0,
        max_instructions: 300,
        ..wasm_smith::Config::default()
    };
    let Ok(module) = wasm_smith::Module::new(config, &mut input) else { return };
    let wasm = module.to_bytes();
    rewritten(&wasm);
    bounded(&wasm);
}
