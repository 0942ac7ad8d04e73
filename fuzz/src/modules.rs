//! Fuzz targets for modules that guests bring: the rewriting before compilation, for both engines.

use arbitrary::Unstructured;
use tidebox_js_bindings::rewrite::{Exceptions, FEATURES, RewriteLimits, rewrite};
use wasmparser::{Validator, WasmFeatures};

/// The native engine's rewriter, included by path: its package would pull in the whole engine.
#[path = "../../wasi-runner/src/program/bulk_memory.rs"]
#[allow(dead_code, reason = "its tests run in its own package")]
mod bulk_memory;

/// The native engine's error for a file that cannot be loaded.
#[derive(Debug)]
pub(crate) struct LoadError(String);

impl LoadError {
    fn assert_has_reason(&self) {
        assert!(!self.0.is_empty(), "an error without a reason");
    }
}

fn valid(wasm: &[u8], features: WasmFeatures) -> Result<(), String> {
    Validator::new_with_features(features).validate_all(wasm).map(drop).map_err(|error| error.to_string())
}

/// Rewrites an almost valid module. The output must validate, as a browser would check it.
pub(crate) fn rewritten(input: &[u8]) {
    for exceptions in [Exceptions::default(), Exceptions { standard: true, legacy: true }] {
        let bounds = RewriteLimits { exceptions, ..RewriteLimits::default() };
        match rewrite(input, bounds) {
            Ok(out) => {
                let features = FEATURES | WasmFeatures::EXCEPTIONS | WasmFeatures::LEGACY_EXCEPTIONS;
                valid(&out, features).expect("what is written is valid");
            }
            Err(refusal) => assert!(!refusal.to_string().is_empty()),
        }
    }
}

/// Rewrites for the native engine: a valid module stays valid.
pub(crate) fn bounded(input: &[u8]) {
    let is_component = input.get(4..8) == Some(&[0x0d, 0, 1, 0]);
    match bulk_memory::check_and_rewrite(input, is_component) {
        Ok(out) => {
            if valid(input, WasmFeatures::default()).is_ok() {
                valid(&out, WasmFeatures::default()).expect("what is written is valid");
            }
        }
        Err(error) => error.assert_has_reason(),
    }
}

/// Generates a valid module from the input.
pub(crate) fn run_generated_module(input: &[u8]) {
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
