//! What is refused before anything is rewritten.

use tidebox_kernel::program_bounds;
use tidebox_kernel::wasi::calls;
use wasmparser::{Encoding, ExternalKind, Parser, Payload, TypeRef, ValType, Validator, WasmFeatures};

use super::{Bounds, DOOR, Exceptions, FEATURES, ROOM, RUN, Refusal};

/// Bytes of a page of linear memory.
pub(super) const PAGE: u64 = 65_536;

/// Features of [`Exceptions::standard`].
const STANDARD: WasmFeatures = WasmFeatures::EXCEPTIONS;
/// Features of [`Exceptions::legacy`].
const LEGACY: WasmFeatures = STANDARD.union(WasmFeatures::LEGACY_EXCEPTIONS);

pub(super) fn check(wasm: &[u8], bounds: Bounds) -> Result<(), Refusal> {
    if is_component(wasm) {
        return Err(Refusal::new(
            "components cannot run in JavaScript; build the program as a module for wasm32-wasip1",
        ));
    }
    small(wasm)?;
    validate(wasm, bounds.exceptions)?;
    if exports_functions(wasm, bounds, &|_, _| false)?.iter().any(|name| name == "_start") {
        return Ok(());
    }
    Err(Refusal::new("the module exports no _start function; build it as a WASI command"))
}

/// The same for a prepared program. What fetched it has compared it with a hash, so it is not taken apart to say what is wrong.
pub(super) fn check_prepared(wasm: &[u8], bounds: Bounds) -> Result<(), Refusal> {
    exceptions(bounds.exceptions.standard, "exceptions")?;
    Validator::new_with_features(FEATURES.union(STANDARD)).validate_all(wasm)?;
    let exported = exports_functions(wasm, bounds, &|module, name| (module, name) == DOOR)?;
    match [RUN, ROOM].into_iter().find(|wanted| exported.iter().all(|name| name != wanted)) {
        Some(missing) => {
            Err(Refusal::new(format!("the module exports no {missing} function; it is no prepared program")))
        }
        None => Ok(()),
    }
}

/// The functions that a module exports, when it imports nothing that is not there. `more` says what may be imported beside the
/// calls of the kernel.
fn exports_functions(wasm: &[u8], bounds: Bounds, more: &dyn Fn(&str, &str) -> bool) -> Result<Vec<String>, Refusal> {
    let mut exported = Vec::new();
    let mut answers = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::TypeSection(types) => {
                for ty in types.into_iter_err_on_gc_types() {
                    answers.push(matches!(ty?.results(), [] | [ValType::I32]));
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let import = import?;
                    let known = matches!(import.ty, TypeRef::Func(_)) && more(import.module, import.name);
                    if !known {
                        imported(import.module, import.name, import.ty, &answers)?;
                    }
                }
            }
            Payload::TableSection(tables) => {
                for table in tables {
                    if table?.ty.initial > bounds.table_elements {
                        let most = bounds.table_elements;
                        return Err(Refusal::new(format!("the module has a table of more than {most} elements")));
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

/// Holds a module to the bounds of every engine, before more of it is looked at than its sections.
fn small(wasm: &[u8]) -> Result<(), Refusal> {
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::FunctionSection(functions) => program_bounds::functions(functions.count()),
            Payload::CodeSectionEntry(body) => program_bounds::function(body.as_bytes().len()),
            _ => Ok(()),
        }
        .map_err(|reason| Refusal::new(reason.to_string()))?;
    }
    Ok(())
}

/// `answers` says of each type of the module whether a call of the kernel can have it: all answer an error number or nothing.
fn imported(module: &str, name: &str, ty: TypeRef, answers: &[bool]) -> Result<(), Refusal> {
    let absent = |what: &str| {
        Refusal::new(format!("the module imports what this sandbox does not have: {what} {module}::{name}"))
    };
    match ty {
        TypeRef::Func(ty) if calls::functions(module).any(|known| known == name) => match answers.get(ty as usize) {
            Some(true) => Ok(()),
            _ => Err(Refusal::new(format!("the module imports {module}::{name} with a type that it does not have"))),
        },
        TypeRef::Func(_) | TypeRef::FuncExact(_) => Err(absent("the function")),
        TypeRef::Memory(_) => Err(absent("the memory")),
        TypeRef::Table(_) => Err(absent("the table")),
        TypeRef::Global(_) => Err(absent("the global")),
        TypeRef::Tag(_) => Err(absent("the tag")),
    }
}

/// Says of a module that is valid in general, but not here, what it uses.
fn validate(wasm: &[u8], has: Exceptions) -> Result<(), Refusal> {
    let validates = |more| Validator::new_with_features(FEATURES.union(more)).validate_all(wasm);
    let Err(error) = validates(WasmFeatures::empty()) else { return Ok(()) };
    if validates(STANDARD).is_ok() {
        return exceptions(has.standard, "exceptions");
    }
    if validates(LEGACY).is_ok() {
        return exceptions(has.legacy, "exceptions of the kind that was given up");
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
            return Err(Refusal::new(format!(
                "the module uses {name}, which this sandbox does not have in JavaScript; build it without"
            )));
        }
    }
    Err(error.into())
}

fn exceptions(has: bool, which: &str) -> Result<(), Refusal> {
    if has {
        return Ok(());
    }
    Err(Refusal::new(format!(
        "the module uses {which}, which this JavaScript engine does not have; Node 24.15 and newer, Deno 2.4 and newer and \
         current browsers have exceptions of both kinds"
    )))
}
