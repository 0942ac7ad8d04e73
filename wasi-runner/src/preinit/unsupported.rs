//! Stub for hosts that cannot map files into linear memory: pre-initialized programs do not run there.

use std::sync::Arc;

use wasmtime::Config;

use super::image::MemoryImage;

pub(super) struct ImageMemoryCreator;

impl ImageMemoryCreator {
    pub(super) fn new(_: Arc<MemoryImage>) -> Self {
        Self
    }

    pub(super) fn set_module_bytes(&self, _: usize) {}
}

pub(super) fn install(_: &mut Config, _: &Arc<ImageMemoryCreator>) -> Result<(), String> {
    Err("cannot run a pack on this host: packs need Unix".into())
}
