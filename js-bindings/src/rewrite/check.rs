//! Validation before rewriting.

use tidebox_kernel::program_limits;
use tidebox_kernel::wasi::syscall_table;
use wasmparser::{Encoding, ExternalKind, Parser, Payload, TypeRef, ValType, Validator, WasmFeatures};

use super::{ALLOC_EXPORT, Exceptions, FEATURES, HOST_CALL, RUN, RewriteError, RewriteLimits};

/// Bytes of a page of linear memory.
pub(super) const PAGE: u64 = 65_536;

/// Features of [`Exceptions::standard`].
const STANDARD: WasmFeatures = WasmFeatures::EXCEPTIONS;
/// Features of [`Exceptions::legacy`].
const LEGACY: WasmFeatures = STANDARD.union(WasmFeatures::LEGACY_EXCEPTIONS);

pub(super) fn check(wasm: &[u8], limits: RewriteLimits) -> Result<(), RewriteError> {
    if is_component(wasm) {
        return Err(RewriteError::new(
            "components cannot run in JavaScript; build the program as a module for wasm32-wasip1",
        ));
    }
    check_function_limits(wasm)?;
    validate(wasm, limits.exceptions)?;
    if exports_functions(wasm, limits, &|_, _| false)?.iter().any(|name| name == "_start") {
        return Ok(());
    }
    Err(RewriteError::new("the module exports no _start function; build it as a WASI command"))
}

/// Validates a pre-initialized program. Its hash was verified when it was downloaded, so errors are not analyzed in detail.
pub(super) fn check_preinit(wasm: &[u8], limits: RewriteLimits) -> Result<(), RewriteError> {
    exceptions(limits.exceptions.standard, "exceptions")?;
    Validator::new_with_features(FEATURES.union(STANDARD)).validate_all(wasm)?;
    let exported = exports_functions(wasm, limits, &|module, name| (module, name) == HOST_CALL)?;
    match [RUN, ALLOC_EXPORT].into_iter().find(|required| exported.iter().all(|name| name != required)) {
        Some(missing) => Err(RewriteError::new(format!(
            "the module exports no {missing} function; it is not a pre-initialized program"
        ))),
        None => Ok(()),
    }
}

/// Returns the exported functions of a module after checking its imports. `more` accepts imports in addition to the kernel's
/// calls.
fn exports_functions(
    wasm: &[u8],
    limits: RewriteLimits,
    also_allowed: &dyn Fn(&str, &str) -> bool,
) -> Result<Vec<String>, RewriteError> {
    let mut exported = Vec::new();
    let mut valid_types = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::TypeSection(types) => {
                for ty in types.into_iter_err_on_gc_types() {
                    valid_types.push(matches!(ty?.results(), [] | [ValType::I32]));
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let import = import?;
                    let is_allowed = matches!(import.ty, TypeRef::Func(_)) && also_allowed(import.module, import.name);
                    if !is_allowed {
                        check_import(import.module, import.name, import.ty, &valid_types)?;
                    }
                }
            }
            Payload::TableSection(tables) => {
                for table in tables {
                    if table?.ty.initial > limits.table_elements {
                        let max = limits.table_elements;
                        return Err(RewriteError::new(format!("the module has a table of more than {max} elements")));
                    }
                }
            }
            Payload::ExportSection(exports) => {
                for export in exports {
                    let export = export?;
                    if export.kind == ExternalKind::Func {
                        exported.push(export.name.to_owned());
                    }
                }
            }
            _ => {}
        }
    }
    Ok(exported)
}

fn is_component(wasm: &[u8]) -> bool {
    let first = Parser::new(0).parse_all(wasm).next();
    matches!(first, Some(Ok(Payload::Version { encoding: Encoding::Component, .. })))
}

/// Checks the function limits of all engines before the module is validated.
fn check_function_limits(wasm: &[u8]) -> Result<(), RewriteError> {
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::FunctionSection(functions) => program_limits::check_function_count(functions.count()),
            Payload::CodeSectionEntry(body) => program_limits::check_function_size(body.as_bytes().len()),
            _ => Ok(()),
        }
        .map_err(|reason| RewriteError::new(reason.to_string()))?;
    }
    Ok(())
}

/// `valid_types` has for each type whether a kernel call can have it: it must return an `i32` or nothing.
fn check_import(module: &str, name: &str, ty: TypeRef, valid_types: &[bool]) -> Result<(), RewriteError> {
    let missing_import =
        |what: &str| RewriteError::new(format!("unsupported import of the module: {what} {module}::{name}"));
    match ty {
        TypeRef::Func(ty) if syscall_table::functions(module).any(|is_allowed| is_allowed == name) => {
            match valid_types.get(ty as usize) {
                Some(true) => Ok(()),
                _ => Err(RewriteError::new(format!("the module imports {module}::{name} with a wrong type"))),
            }
        }
        TypeRef::Func(_) | TypeRef::FuncExact(_) => Err(missing_import("the function")),
        TypeRef::Memory(_) => Err(missing_import("the memory")),
        TypeRef::Table(_) => Err(missing_import("the table")),
        TypeRef::Global(_) => Err(missing_import("the global")),
        TypeRef::Tag(_) => Err(missing_import("the tag")),
    }
}

/// Names the unsupported feature of a module that is valid only with it.
fn validate(wasm: &[u8], has: Exceptions) -> Result<(), RewriteError> {
    let validates = |also_allowed| Validator::new_with_features(FEATURES.union(also_allowed)).validate_all(wasm);
    let Err(error) = validates(WasmFeatures::empty()) else { return Ok(()) };
    if validates(STANDARD).is_ok() {
        return exceptions(has.standard, "exceptions");
    }
    if validates(LEGACY).is_ok() {
        return exceptions(has.legacy, "legacy exceptions");
    }
    for (feature, name) in [
        (WasmFeatures::THREADS, "threads"),
        (WasmFeatures::MULTI_MEMORY, "several memories"),
        (WasmFeatures::MEMORY64, "a memory of 64 bits"),
        (WasmFeatures::RELAXED_SIMD, "relaxed vector instructions"),
        (WasmFeatures::WIDE_ARITHMETIC, "wide arithmetic"),
        (WasmFeatures::FUNCTION_REFERENCES.union(WasmFeatures::GC), "garbage collection"),
    ] {
        if validates(feature).is_ok() || validates(feature.union(LEGACY)).is_ok() {
            return Err(RewriteError::new(format!(
                "the module uses {name}, which this sandbox does not have in JavaScript; build it without"
            )));
        }
    }
    Err(error.into())
}

fn exceptions(has: bool, which: &str) -> Result<(), RewriteError> {
    if has {
        return Ok(());
    }
    Err(RewriteError::new(format!(
        "the module uses {which}, which this JavaScript engine does not have; Node 24.15 and newer, Deno 2.4 and newer and \
         current browsers have exceptions of both kinds"
    )))
}
