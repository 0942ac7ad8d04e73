//! Where everything is in the module before and after.

use std::collections::BTreeMap;

use wasmparser::{ExternalKind, FuncType, Parser, Payload, TypeRef};

use super::Refusal;

/// Functions of the engine that a module imports after its own imports, and their numbers of parameters. The last one is for
/// prepared programs.
const ENGINE_FUNCTIONS: [(&str, usize); 4] = [("wait", 2), ("tick", 1), ("grow", 3), ("answer", 4)];

/// A function that the module imports.
#[derive(Clone, Debug)]
pub(super) struct Import {
    pub(super) module: String,
    pub(super) name: String,
    pub(super) ty: FuncType,
}

/// What is known of a prepared program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared {
    /// The function that makes room for an answer, in the old module.
    pub(super) room: u32,
    /// Pages of the memory that it begins with.
    pub(super) pages: u32,
}

/// Numbers of the old module, and where they are in the new one.
///
/// Functions are, in this order: the module's imports, those of the engine, the module's own, a wrapper for each import,
/// and those of [`Layout::check`], [`Layout::grow`] and [`Layout::charge`]. Globals are the process's number, the module's own, and the
/// counter.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) types: u32,
    pub(super) imports: Vec<Import>,
    /// Functions that the module defines.
    pub(super) defined: u32,
    /// Globals that the module defines, and whether each can be changed.
    pub(super) globals: Vec<bool>,
    /// Initial pages of the memory; `None` without a memory.
    pub(super) memory_pages: Option<u64>,
    pub(super) start: Option<u32>,
    /// Whether it has the function that a fork's child enters.
    pub(super) forks: bool,
    /// Globals that it exports by itself.
    pub(super) exported_globals: Vec<u32>,
    /// Functions that it exports.
    pub(super) exported: BTreeMap<String, u32>,
    pub(super) prepared: Option<Prepared>,
}

impl Layout {
    pub(super) fn of(wasm: &[u8]) -> Result<Self, Refusal> {
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
                        let ty = types.get(ty as usize).cloned().ok_or_else(broken)?;
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

    /// Suspends the guest until it can go on.
    pub(super) fn wait(&self) -> u32 {
        self.imported()
    }

    /// Asks whether the guest may go on, and for how many checks.
    pub(super) fn tick(&self) -> u32 {
        self.imported() + 1
    }

    /// Asks for memory.
    pub(super) fn may_grow(&self) -> u32 {
        self.imported() + 2
    }

    /// Takes the answer of a call over.
    pub(super) fn answer(&self) -> u32 {
        self.imported() + 3
    }

    /// The functions of the engine that it imports.
    pub(super) fn engine_functions(&self) -> &'static [(&'static str, usize)] {
        let [commands @ .., _] = &ENGINE_FUNCTIONS;
        if self.prepared.is_some() { &ENGINE_FUNCTIONS } else { commands }
    }

    fn engine_count(&self) -> u32 {
        u32::try_from(self.engine_functions().len()).unwrap_or(u32::MAX)
    }

    /// A function of the old module in the new one.
    pub(super) fn function(&self, old: u32) -> u32 {
        match old.checked_sub(self.imported()) {
            Some(defined) => self.imported() + self.engine_count() + defined,
            None => self.wrapper(old),
        }
    }

    /// The wrapper of an import.
    pub(super) fn wrapper(&self, import: u32) -> u32 {
        self.imported() + self.engine_count() + self.defined + import
    }

    /// What is called when the counter has run out.
    pub(super) fn check(&self) -> u32 {
        self.wrapper(self.imported())
    }

    /// What stands for `memory.grow`.
    pub(super) fn grow(&self) -> u32 {
        self.check() + 1
    }

    /// What takes the length of a piece of memory off the counter before it is filled or copied.
    pub(super) fn charge(&self) -> u32 {
        self.check() + 2
    }

    /// The number of the process, a global that the engine gives.
    pub(super) fn pid(&self) -> u32 {
        0
    }

    pub(super) fn global(&self, old: u32) -> u32 {
        old + 1
    }

    /// The counter of checks that are left.
    pub(super) fn counter(&self) -> u32 {
        u32::try_from(self.globals.len()).unwrap_or(u32::MAX - 1) + 1
    }

    /// Whether it asks for more of a Unix than preview1 has.
    pub(super) fn is_aware(&self) -> bool {
        self.prepared.is_some() || self.imports.iter().any(|import| import.module == "tidebox_v1")
    }
}

pub(super) fn count(n: usize) -> Result<u32, Refusal> {
    u32::try_from(n).map_err(|_| broken())
}

/// What was validated cannot be so; the message is for the case that it is.
pub(super) fn broken() -> Refusal {
    Refusal::new("the module refers to what is not there")
}
