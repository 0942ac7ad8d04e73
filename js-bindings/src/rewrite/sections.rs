//! Assembles the new module section by section.

use std::borrow::Cow;

use wasm_encoder::reencode::Reencode;
use wasm_encoder::{
    CodeSection, ConstExpr, CustomSection, DataCountSection, DataSection, ElementSection, EntityType, ExportKind,
    ExportSection, FunctionSection, GlobalSection, GlobalType, ImportSection, MemorySection, Module, TableSection,
    TagSection, TypeSection, ValType,
};
use wasmparser::{Parser, Payload};

use super::body::{Translation, body};
use super::check::PAGE;
use super::layout::{Layout, PreinitInfo, count};
use super::{
    CHECKS_PER_SLICE, COUNTER, ENGINE, GLOBAL_PREFIX, HOST_CALL, LOWEST_STACK, MEMORY_SIZE, RewriteError,
    RewriteLimits, SECTION, START, wrapper,
};

/// Version of the custom section: a byte with the version, a byte that is 1 for a Tidebox guest, and the initial pages of memory. If
/// instances are used again, the ends of the stack and of the data follow. Numbers have four bytes, the lowest first.
const VERSION: u8 = 2;

#[derive(Default)]
struct Sections {
    types: TypeSection,
    imports: ImportSection,
    functions: FunctionSection,
    tables: TableSection,
    memories: MemorySection,
    tags: TagSection,
    globals: GlobalSection,
    exports: ExportSection,
    elements: ElementSection,
    data_count: Option<u32>,
    code: CodeSection,
    data: DataSection,
}

pub(super) fn assemble(wasm: &[u8], layout: &Layout, limits: RewriteLimits) -> Result<Vec<u8>, RewriteError> {
    let mut sections = Sections::default();
    for payload in Parser::new(0).parse_all(wasm) {
        sections.take(payload?, layout, limits)?;
    }
    sections.add_types_and_imports(layout)?;
    sections.add_functions(layout);
    sections.add_exports(layout)?;
    Ok(sections.finish(layout))
}

/// Adds the type of a kernel call: the pid is the first parameter, and it always returns an `i32`.
fn kernel_type(types: &mut TypeSection, ty: &wasmparser::FuncType, layout: &Layout) -> Result<(), RewriteError> {
    let mut parameters = vec![ValType::I32];
    parameters.extend(Translation(layout).val_types(ty.params().to_vec())?);
    types.ty().function(parameters, [ValType::I32]);
    Ok(())
}

impl Sections {
    fn take(&mut self, payload: Payload<'_>, layout: &Layout, limits: RewriteLimits) -> Result<(), RewriteError> {
        let mut translation = Translation(layout);
        match payload {
            Payload::TypeSection(section) => translation.parse_type_section(&mut self.types, section)?,
            Payload::FunctionSection(section) => translation.parse_function_section(&mut self.functions, section)?,
            Payload::TableSection(section) => {
                for table in section {
                    let mut table = table?;
                    let max_pages = limits.table_elements;
                    table.ty.maximum = Some(table.ty.maximum.map_or(max_pages, |maximum| maximum.min(max_pages)));
                    translation.parse_table(&mut self.tables, table)?;
                }
            }
            Payload::MemorySection(section) => {
                for memory in section {
                    let mut memory = memory?;
                    if let Some(preinit) = layout.preinit {
                        memory.initial = memory.initial.max(preinit.pages.into());
                    }
                    // A memory whose initial size exceeds the limit is rejected by the kernel at start.
                    let max_pages = (limits.memory_bytes / PAGE).min(1 << 16).max(memory.initial);
                    memory.maximum = Some(memory.maximum.map_or(max_pages, |maximum| maximum.min(max_pages)));
                    self.memories.memory(translation.memory_type(memory)?);
                }
            }
            Payload::TagSection(section) => translation.parse_tag_section(&mut self.tags, section)?,
            Payload::GlobalSection(section) => translation.parse_global_section(&mut self.globals, section)?,
            Payload::ExportSection(section) => translation.parse_export_section(&mut self.exports, section)?,
            Payload::ElementSection(section) => translation.parse_element_section(&mut self.elements, section)?,
            Payload::DataCountSection { count, .. } => self.data_count = Some(count),
            Payload::DataSection(section) => translation.parse_data_section(&mut self.data, section)?,
            Payload::CodeSectionEntry(function) => {
                self.code.function(&body(layout, &function)?);
            }
            // Imports are written from the layout, the start function becomes an export, and custom sections are no longer valid.
            _ => {}
        }
        Ok(())
    }

    fn add_types_and_imports(&mut self, layout: &Layout) -> Result<(), RewriteError> {
        for (at, import) in (0..).zip(&layout.imports) {
            kernel_type(&mut self.types, &import.ty, layout)?;
            self.imports.import(&import.module, &import.name, EntityType::Function(layout.types + at));
        }
        let first = layout.types + count(layout.imports.len())?;
        let i32s = |n: usize| vec![ValType::I32; n];
        for (at, &(name, parameters)) in (0..).zip(layout.engine_functions()) {
            self.types.ty().function(i32s(parameters), [ValType::I32]);
            self.imports.import(ENGINE, name, EntityType::Function(first + at));
        }
        self.imports.import(
            ENGINE,
            "pid",
            GlobalType {
                val_type: ValType::I32,
                // An instance that is used again gets another pid.
                mutable: layout.reuse.is_some(),
                shared: false,
            },
        );
        // Types of the functions that are added in addition to the wrappers.
        self.types.ty().function([], []);
        self.types.ty().function([ValType::I32], [ValType::I32]);
        let added = first + count(layout.engine_functions().len())?;
        for import in &layout.imports {
            let parameters = Translation(layout).val_types(import.ty.params().to_vec())?;
            let results = Translation(layout).val_types(import.ty.results().to_vec())?;
            self.types.ty().function(parameters, results);
        }
        for at in 0..count(layout.imports.len())? {
            self.functions.function(added + 2 + at);
        }
        self.functions.function(added);
        // Without a memory there are no `memory.grow`, `fill` and `copy`.
        if layout.memory_pages.is_some() {
            self.functions.function(added + 1).function(added + 1);
        }
        Ok(())
    }

    fn add_functions(&mut self, layout: &Layout) {
        for (at, import) in (0..).zip(&layout.imports) {
            let preinit = layout.preinit.filter(|_| (import.module.as_str(), import.name.as_str()) == HOST_CALL);
            self.code.function(&match preinit {
                Some(PreinitInfo { alloc_function, .. }) => wrapper::host_call_wrapper(layout, at, alloc_function),
                None => wrapper::wrapper(layout, at, &import.ty),
            });
        }
        self.code.function(&wrapper::check(layout));
        if layout.memory_pages.is_some() {
            self.code.function(&wrapper::grow(layout)).function(&wrapper::charge(layout));
        }
        let number = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
        self.globals.global(number, &ConstExpr::i32_const(CHECKS_PER_SLICE));
        if let Some(reuse) = layout.reuse {
            self.globals.global(number, &ConstExpr::i32_const(reuse.stack_end.cast_signed()));
            self.globals.global(number, &ConstExpr::i32_const(reuse.pages.cast_signed()));
        }
    }

    fn add_exports(&mut self, layout: &Layout) -> Result<(), RewriteError> {
        if let Some(start) = layout.start {
            self.exports.export(START, ExportKind::Func, layout.function(start));
        }
        if layout.reuse.is_some() {
            for (name, global) in [
                (COUNTER, layout.counter()),
                (LOWEST_STACK, layout.lowest_stack()),
                (MEMORY_SIZE, layout.memory_size()),
            ] {
                self.exports.export(name, ExportKind::Global, global);
            }
        }
        if layout.forks || layout.reuse.is_some() {
            for (at, _) in (0..).zip(&layout.globals).filter(|(_, mutable)| **mutable) {
                self.exports.export(&format!("{GLOBAL_PREFIX}{at}"), ExportKind::Global, layout.global(at));
            }
        }
        Ok(())
    }

    fn finish(self, layout: &Layout) -> Vec<u8> {
        let mut metadata = vec![VERSION, u8::from(layout.is_tidebox_guest())];
        let pages = u32::try_from(layout.memory_pages.unwrap_or(0)).unwrap_or(u32::MAX);
        let pages = pages.max(layout.preinit.map_or(0, |preinit| preinit.pages));
        metadata.extend_from_slice(&pages.to_le_bytes());
        if let Some(reuse) = layout.reuse {
            metadata.extend([reuse.stack_end, reuse.data_end].iter().flat_map(|end| end.to_le_bytes()));
        }
        let mut module = Module::new();
        module
            .section(&CustomSection { name: Cow::Borrowed(SECTION), data: Cow::Owned(metadata) })
            .section(&self.types)
            .section(&self.imports)
            .section(&self.functions)
            .section(&self.tables)
            .section(&self.memories);
        // Engines without exceptions do not accept the section.
        if !self.tags.is_empty() {
            module.section(&self.tags);
        }
        module.section(&self.globals).section(&self.exports).section(&self.elements);
        if let Some(count) = self.data_count {
            module.section(&DataCountSection { count });
        }
        module.section(&self.code);
        // The caller appends the data of a pre-initialized program.
        if layout.preinit.is_none() {
            module.section(&self.data);
        }
        module.finish()
    }
}
