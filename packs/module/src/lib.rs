//! A module taken apart: its code, and the memory that it begins with.
//!
//! The memory becomes a file that processes map instead of having it written into each of them, so the code is compiled
//! once, whatever memory it is to start with later.

use std::borrow::Cow;
use std::ops::Range;

mod numbers;
mod texts;

use wasm_encoder::{ExportKind, ExportSection, RawSection, SectionId};
use wasmparser::{BinaryReader, DataKind, KnownCustom, Name, Operator, Parser, Payload, TypeRef};

use numbers::Places;

/// Bytes in a page of linear memory.
pub const PAGE: u64 = 65_536;

/// A module without its data, and the data.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The module: the code and everything else, without what its memory begins with and without names.
    pub module: Vec<u8>,
    /// The size of the memory that it begins with, in bytes.
    pub memory_bytes: u64,
    /// What is in that memory: where, and which bytes.
    pub data: Vec<(u64, Cow<'a, [u8]>)>,
}

/// Takes a module apart. Where it is an interpreter that was compiled with the error numbers of WASI, its exceptions have those of Linux
/// from now on. `exports` are functions, by the names that the module's name section gives them, that the module
/// is to export too; one that it does not have is left out.
///
/// # Errors
/// A sentence, when the bytes are no module, or one whose memory cannot be told before it runs.
pub fn take_apart<'a>(wasm: &'a [u8], exports: &[&str]) -> Result<Parts<'a>, String> {
    let found = look(wasm, exports).map_err(|error| format!("this is no module that can be prepared: {error}"))?;
    let memory_bytes = found.pages.checked_mul(PAGE).ok_or("the memory is larger than there can be")?;
    let mut data = Vec::new();
    for (at, bytes) in found.data {
        let end = at.checked_add(bytes.len() as u64).filter(|end| *end <= memory_bytes);
        end.ok_or("data lies outside the memory that the module begins with")?;
        data.push((at, texts::renamed(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned)));
    }
    let mut module = wasm_encoder::Module::new();
    for (id, range) in found.sections {
        let range = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let data = range.and_then(|(start, end)| wasm.get(start..end)).ok_or("a section reaches beyond the end")?;
        if id == SectionId::Export as u8 {
            module.section(&all_exports(data, &found.exports).map_err(|error| error.to_string())?);
        } else if id == SectionId::Function as u8 {
            module.section(&found.numbers.functions(data).map_err(|error| error.to_string())?);
        } else if id == SectionId::Code as u8 {
            module.section(&found.numbers.code(data).map_err(|error| error.to_string())?);
        } else {
            module.section(&RawSection { id, data });
        }
    }
    Ok(Parts { module: module.finish(), memory_bytes, data })
}

#[derive(Default)]
struct Found<'a> {
    sections: Vec<(u8, Range<u64>)>,
    pages: u64,
    data: Vec<(u64, &'a [u8])>,
    exports: Vec<(&'a str, u32)>,
    numbers: Places,
}

fn look<'a>(wasm: &'a [u8], exports: &[&str]) -> Result<Found<'a>, Cow<'static, str>> {
    let mut found = Found::default();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload.map_err(told)?;
        match &payload {
            Payload::MemorySection(memories) => {
                let mut memories = memories.clone().into_iter();
                match (memories.next(), memories.next()) {
                    (Some(Ok(memory)), None) if !memory.memory64 => found.pages = memory.initial,
                    _ => return Err("it has not exactly one memory of 32 bits".into()),
                }
            }
            Payload::ImportSection(imports) => {
                let imports = imports.clone().into_imports().collect::<wasmparser::Result<Vec<_>>>().map_err(told)?;
                let functions =
                    imports.iter().filter(|import| matches!(import.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                found.numbers.imports(u32::try_from(functions.count()).unwrap_or(u32::MAX));
            }
            Payload::DataCountSection { .. } => return Err("it takes data while it runs".into()),
            Payload::DataSection(segments) => {
                for segment in segments.clone() {
                    let segment = segment.map_err(told)?;
                    found.data.push((place(&segment.kind)?, segment.data));
                }
                continue;
            }
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(names) = section.as_known() {
                    for name in names.flatten() {
                        if let Name::Function(functions) = name {
                            for function in functions.into_iter().flatten() {
                                found.numbers.note(function.name, function.index);
                                if exports.contains(&function.name) {
                                    found.exports.push((function.name, function.index));
                                }
                            }
                        }
                    }
                }
                continue;
            }
            _ => {}
        }
        if let Some((id, range)) = payload.as_section() {
            found.sections.push((id, range));
        }
    }
    Ok(found)
}

/// Where a segment lies, if that is a number.
fn place(kind: &DataKind<'_>) -> Result<u64, Cow<'static, str>> {
    let DataKind::Active { memory_index: 0, offset_expr } = kind else {
        return Err("some of its data is not put into its memory at the start".into());
    };
    let mut operators = offset_expr.get_operators_reader();
    match (operators.read(), operators.read()) {
        (Ok(Operator::I32Const { value }), Ok(Operator::End)) => Ok(u64::from(value.cast_unsigned())),
        _ => Err("where its data lies is told only when it starts".into()),
    }
}

fn all_exports(section: &[u8], more: &[(&str, u32)]) -> wasmparser::Result<ExportSection> {
    let mut exports = ExportSection::new();
    for export in wasmparser::ExportSectionReader::new(BinaryReader::new(section, 0))? {
        let export = export?;
        let kind = match export.kind {
            wasmparser::ExternalKind::Func | wasmparser::ExternalKind::FuncExact => ExportKind::Func,
            wasmparser::ExternalKind::Table => ExportKind::Table,
            wasmparser::ExternalKind::Memory => ExportKind::Memory,
            wasmparser::ExternalKind::Global => ExportKind::Global,
            wasmparser::ExternalKind::Tag => ExportKind::Tag,
        };
        exports.export(export.name, kind, export.index);
    }
    for (name, index) in more {
        exports.export(name, ExportKind::Func, *index);
    }
    Ok(exports)
}

fn told(error: wasmparser::BinaryReaderError) -> Cow<'static, str> {
    error.to_string().into()
}

#[cfg(test)]
mod tests;
