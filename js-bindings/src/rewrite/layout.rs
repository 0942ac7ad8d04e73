//! Index spaces of the module before and after rewriting.

use std::collections::BTreeMap;

use wasmparser::{ExternalKind, FuncType, Parser, Payload, TypeRef};

use super::RewriteError;
use super::reuse::Reuse;

/// Engine functions that a module imports after its own imports, with their number of parameters. The last one is only for
/// pre-initialized programs.
const ENGINE_FUNCTIONS: [(&str, usize); 4] = [("wait", 2), ("tick", 1), ("grow", 3), ("answer", 4)];

/// A function that the module imports.
#[derive(Clone, Debug)]
pub(super) struct Import {
    pub(super) module: String,
    pub(super) name: String,
    pub(super) ty: FuncType,
}

/// Properties of a pre-initialized program.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreinitInfo {
    /// The function that allocates memory for a response, by its old index.
    pub(super) alloc_function: u32,
    /// Pages of its initial memory.
    pub(super) pages: u32,
}

/// Indices of the old module and their mapping to the new one.
///
/// Functions are in this order: the module's imports, those of the engine, the module's own, a wrapper for each import, and those
/// of [`Layout::check`], [`Layout::grow`] and [`Layout::charge`]. Globals are the pid, the module's own, the counter,
/// and those of [`Layout::lowest_stack`] and [`Layout::memory_size`] if its instances are used again.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) types: u32,
    pub(super) imports: Vec<Import>,
    /// Number of functions that the module defines.
    pub(super) defined: u32,
    /// Globals that the module defines: whether each is mutable.
    pub(super) globals: Vec<bool>,
    /// Initial pages of the memory; `None` without a memory.
    pub(super) memory_pages: Option<u64>,
    pub(super) start: Option<u32>,
    /// True if it exports the entry of a forked child.
    pub(super) forks: bool,
    /// Globals that it exports itself.
    pub(super) exported_globals: Vec<u32>,
    /// Functions that it exports.
    pub(super) exported: BTreeMap<String, u32>,
    pub(super) preinit: Option<PreinitInfo>,
    /// Set if its instances are used again.
    pub(super) reuse: Option<Reuse>,
}

impl Layout {
    pub(super) fn of(wasm: &[u8]) -> Result<Self, RewriteError> {
        let mut layout = Self::default();
        let mut types = Vec::new();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => {
                    for ty in section.into_iter_err_on_gc_types() {
                        types.push(ty?);
                    }
                    layout.types = count(types.len())?;
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        let TypeRef::Func(ty) = import.ty else { continue };
                        let ty = types.get(ty as usize).cloned().ok_or_else(internal_error)?;
                        let (module, name) = (import.module.to_owned(), import.name.to_owned());
                        layout.imports.push(Import { module, name, ty });
                    }
                }
                Payload::FunctionSection(section) => layout.defined = section.count(),
                Payload::GlobalSection(section) => {
                    for global in section {
                        layout.globals.push(global?.ty.mutable);
                    }
                }
                Payload::MemorySection(section) => {
                    for memory in section {
                        layout.memory_pages = Some(memory?.initial);
                    }
                }
                Payload::StartSection { func, .. } => layout.start = Some(func),
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        match export.kind {
                            ExternalKind::Global => layout.exported_globals.push(export.index),
                            ExternalKind::Func => {
                                layout.forks |= export.name == "tidebox_fork_child";
                                layout.exported.insert(export.name.to_owned(), export.index);
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(layout)
    }

    fn imported(&self) -> u32 {
        u32::try_from(self.imports.len()).unwrap_or(u32::MAX)
    }

    /// Index of the function that suspends the guest.
    pub(super) fn wait(&self) -> u32 {
        self.imported()
    }

    /// Index of the function that ends the time slice or returns the next number of checks.
    pub(super) fn tick(&self) -> u32 {
        self.imported() + 1
    }

    /// Index of the function that requests memory.
    pub(super) fn may_grow(&self) -> u32 {
        self.imported() + 2
    }

    /// Index of the function that copies the response of a call.
    pub(super) fn answer(&self) -> u32 {
        self.imported() + 3
    }

    /// Returns the imported engine functions.
    pub(super) fn engine_functions(&self) -> &'static [(&'static str, usize)] {
        let [commands @ .., _] = &ENGINE_FUNCTIONS;
        if self.preinit.is_some() { &ENGINE_FUNCTIONS } else { commands }
    }

    fn engine_count(&self) -> u32 {
        u32::try_from(self.engine_functions().len()).unwrap_or(u32::MAX)
    }

    /// Returns the new index of a function.
    pub(super) fn function(&self, old: u32) -> u32 {
        match old.checked_sub(self.imported()) {
            Some(defined) => self.imported() + self.engine_count() + defined,
            None => self.wrapper(old),
        }
    }

    /// Returns the index of the wrapper of an import.
    pub(super) fn wrapper(&self, import: u32) -> u32 {
        self.imported() + self.engine_count() + self.defined + import
    }

    /// Index of the function that is called when the counter is exhausted.
    pub(super) fn check(&self) -> u32 {
        self.wrapper(self.imported())
    }

    /// Index of the replacement of `memory.grow`.
    pub(super) fn grow(&self) -> u32 {
        self.check() + 1
    }

    /// Index of the function that charges a fill or copy to the counter.
    pub(super) fn charge(&self) -> u32 {
        self.check() + 2
    }

    /// Index of the pid, a global that the engine provides.
    pub(super) fn pid(&self) -> u32 {
        0
    }

    pub(super) fn global(&self, old: u32) -> u32 {
        old + 1
    }

    /// Index of the counter of remaining checks.
    pub(super) fn counter(&self) -> u32 {
        u32::try_from(self.globals.len()).unwrap_or(u32::MAX - 1) + 1
    }

    /// Index of the lowest value of the stack pointer.
    pub(super) fn lowest_stack(&self) -> u32 {
        self.counter() + 1
    }

    /// Index of the size of the memory that the program sees, in pages. The memory of an instance that is used again may be larger.
    pub(super) fn memory_size(&self) -> u32 {
        self.counter() + 2
    }

    /// Returns whether it is a Tidebox guest.
    pub(super) fn is_tidebox_guest(&self) -> bool {
        self.preinit.is_some() || self.imports.iter().any(|import| import.module == "tidebox_v1")
    }
}

pub(super) fn count(n: usize) -> Result<u32, RewriteError> {
    u32::try_from(n).map_err(|_| internal_error())
}

/// Unreachable for a validated module.
pub(super) fn internal_error() -> RewriteError {
    RewriteError::new("the module has an invalid index")
}
