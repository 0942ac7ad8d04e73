//! Splits a module into its code and its initial memory.
//!
//! The memory becomes a file that processes map instead of initializing it in each of them, so the code is compiled once for any
//! initial memory.

use std::borrow::Cow;
use std::ops::Range;

mod errno_patch;
mod strerror_patch;

use wasm_encoder::{ExportKind, ExportSection, RawSection, SectionId};
use wasmparser::{BinaryReader, DataKind, KnownCustom, Name, Operator, Parser, Payload, TypeRef};

use errno_patch::PatchTargets;

/// Bytes per page of linear memory.
pub const PAGE: u64 = 65_536;

/// A module without its data, and the data.
#[derive(Debug)]
pub struct SplitModule<'a> {
    /// The module without data segments and the name section.
    pub module: Vec<u8>,
    /// Initial size of the memory, in bytes.
    pub memory_bytes: u64,
    /// Data segments: offset and bytes.
    pub data: Vec<(u64, Cow<'a, [u8]>)>,
}

/// Splits a module. If it is an interpreter compiled with the error numbers of WASI, its exceptions get those of Linux. `exports`
/// are functions, by their names in the name section, that the result also exports; missing ones are ignored.
///
/// # Errors
/// A sentence, if the bytes are not a module, or its initial memory is not known before it runs.
pub fn split_module<'a>(wasm: &'a [u8], exports: &[&str]) -> Result<SplitModule<'a>, String> {
    let info = scan(wasm, exports).map_err(|error| format!("cannot split the module: {error}"))?;
    let memory_bytes = info.pages.checked_mul(PAGE).ok_or("the memory exceeds the address space")?;
    let mut data = Vec::new();
    for (at, bytes) in info.data {
        let end = at.checked_add(bytes.len() as u64).filter(|end| *end <= memory_bytes);
        end.ok_or("a data segment lies outside the initial memory")?;
        data.push((at, strerror_patch::patch_messages(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned)));
    }
    let mut module = wasm_encoder::Module::new();
    for (id, range) in info.sections {
        let range = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let data = range.and_then(|(start, end)| wasm.get(start..end)).ok_or("a section extends past the end")?;
        if id == SectionId::Export as u8 {
            module.section(&all_exports(data, &info.exports).map_err(|error| error.to_string())?);
        } else if id == SectionId::Function as u8 {
            module.section(&info.errno_patch.functions(data).map_err(|error| error.to_string())?);
        } else if id == SectionId::Code as u8 {
            module.section(&info.errno_patch.code(data).map_err(|error| error.to_string())?);
        } else {
            module.section(&RawSection { id, data });
        }
    }
    Ok(SplitModule { module: module.finish(), memory_bytes, data })
}

#[derive(Default)]
struct ModuleInfo<'a> {
    sections: Vec<(u8, Range<u64>)>,
    pages: u64,
    data: Vec<(u64, &'a [u8])>,
    exports: Vec<(&'a str, u32)>,
    errno_patch: PatchTargets,
}

fn scan<'a>(wasm: &'a [u8], exports: &[&str]) -> Result<ModuleInfo<'a>, Cow<'static, str>> {
    let mut info = ModuleInfo::default();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload.map_err(parse_error)?;
        match &payload {
            Payload::MemorySection(memories) => {
                let mut memories = memories.clone().into_iter();
                match (memories.next(), memories.next()) {
                    (Some(Ok(memory)), None) if !memory.memory64 => info.pages = memory.initial,
                    _ => return Err("it does not have exactly one 32-bit memory".into()),
                }
            }
            Payload::ImportSection(imports) => {
                let imports =
                    imports.clone().into_imports().collect::<wasmparser::Result<Vec<_>>>().map_err(parse_error)?;
                let functions =
                    imports.iter().filter(|import| matches!(import.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                info.errno_patch.imports(u32::try_from(functions.count()).unwrap_or(u32::MAX));
            }
            Payload::DataCountSection { .. } => return Err("it uses passive data segments".into()),
            Payload::DataSection(segments) => {
                for segment in segments.clone() {
                    let segment = segment.map_err(parse_error)?;
                    info.data.push((segment_offset(&segment.kind)?, segment.data));
                }
                continue;
            }
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(names) = section.as_known() {
                    for name in names.flatten() {
                        if let Name::Function(functions) = name {
                            for function in functions.into_iter().flatten() {
                                info.errno_patch.record(function.name, function.index);
                                if exports.contains(&function.name) {
                                    info.exports.push((function.name, function.index));
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
            info.sections.push((id, range));
        }
    }
    Ok(info)
}

/// Returns the offset of a segment if it is a constant.
fn segment_offset(kind: &DataKind<'_>) -> Result<u64, Cow<'static, str>> {
    let DataKind::Active { memory_index: 0, offset_expr } = kind else {
        return Err("it has a data segment that is not active".into());
    };
    let mut operators = offset_expr.get_operators_reader();
    match (operators.read(), operators.read()) {
        (Ok(Operator::I32Const { value }), Ok(Operator::End)) => Ok(u64::from(value.cast_unsigned())),
        _ => Err("the offset of a data segment is not a constant".into()),
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

fn parse_error(error: wasmparser::BinaryReaderError) -> Cow<'static, str> {
    error.to_string().into()
}

#[cfg(test)]
mod tests;
