//! Linear memories backed by a mapped file.

#![allow(unsafe_code, reason = "the compiler cannot check a file mapping that compiled code reads and writes")]

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap, mmap_anonymous, mprotect, munmap};
use wasmtime::{Config, LinearMemory, MemoryCreator, MemoryType};

use super::image::MemoryImage;

/// Memory creator of one engine. The program's memory starts as the image; other memories (Wasmtime keeps exceptions in
/// one) start empty.
pub(super) struct ImageMemoryCreator {
    image: Arc<MemoryImage>,
    /// Initial size of the program's memory according to its module, which identifies that memory.
    module_bytes: OnceLock<usize>,
}

impl ImageMemoryCreator {
    pub(super) fn new(image: Arc<MemoryImage>) -> Self {
        Self { image, module_bytes: OnceLock::new() }
    }

    /// Sets the initial size of the program's memory. Until then, no memory uses the image.
    pub(super) fn set_module_bytes(&self, module_bytes: usize) {
        self.module_bytes.get_or_init(|| module_bytes);
    }
}

/// Configures an engine to create its memories this way.
pub(super) fn install(config: &mut Config, creator: &Arc<ImageMemoryCreator>) -> Result<(), String> {
    config.with_host_memory(Arc::<ImageMemoryCreator>::clone(creator));
    Ok(())
}

// SAFETY: `Mapped` reserves the requested size followed by the guard. It never makes more accessible than the memory's
// size (or the image's, to which the engine grows the memory before any code runs), and never moves or shares its
// mapping.
unsafe impl MemoryCreator for ImageMemoryCreator {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        _: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let image = (self.module_bytes.get() == Some(&minimum)).then_some(&*self.image);
        let reserved = reserved.unwrap_or(minimum);
        Ok(Box::new(Mapped::new(minimum, reserved, guard, image).map_err(|errno| errno.to_string())?))
    }
}

/// A reservation of address space, accessible at its start.
struct Mapped {
    base: NonNull<c_void>,
    /// Reserved bytes, guard included.
    mapped: usize,
    reserved: usize,
    bytes: usize,
}

// SAFETY: only this value owns the mapping; Wasmtime synchronizes access as for its own memories.
unsafe impl Send for Mapped {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Mapped {}

impl Mapped {
    fn new(minimum: usize, reserved: usize, guard: usize, image: Option<&MemoryImage>) -> rustix::io::Result<Self> {
        let taken = reserved.checked_add(guard).filter(|taken| *taken > 0).ok_or(rustix::io::Errno::NOMEM)?;
        // SAFETY: a new mapping at an address chosen by the system touches no memory in use.
        let base = unsafe {
            mmap_anonymous(std::ptr::null_mut(), taken, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::NORESERVE)?
        };
        let base = NonNull::new(base).ok_or(rustix::io::Errno::NOMEM)?;
        // From here, dropping the value unmaps the reservation.
        let mapped = Self { base, mapped: taken, reserved, bytes: minimum };
        mapped.open(minimum)?;
        if let Some(image) = image.filter(|image| image.bytes <= reserved) {
            // SAFETY: the range lies within the reservation above, which is not shared yet. The mapping is private: the
            // program's writes never reach the file.
            unsafe {
                let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
                mmap(base.as_ptr(), image.bytes, ProtFlags::READ | ProtFlags::WRITE, flags, &image.file, 0)?;
            }
        }
        Ok(mapped)
    }

    /// Makes the first `bytes` readable and writable.
    fn open(&self, bytes: usize) -> rustix::io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the callers ensure that the range lies within the reservation.
        unsafe { mprotect(self.base.as_ptr(), bytes, MprotectFlags::READ | MprotectFlags::WRITE) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: this value owns the whole reservation, and Wasmtime drops a memory only when it is no longer used. A
        // mapping that cannot be removed only costs address space.
        let _ = unsafe { munmap(self.base.as_ptr(), self.mapped) };
    }
}

// SAFETY: `as_ptr` never changes, and `byte_size` bytes starting there are accessible.
unsafe impl LinearMemory for Mapped {
    fn byte_size(&self) -> usize {
        self.bytes
    }

    fn byte_capacity(&self) -> usize {
        self.reserved
    }

    fn grow_to(&mut self, bytes: usize) -> wasmtime::Result<()> {
        if bytes > self.reserved {
            return Err(wasmtime::Error::msg("the memory has no room to grow"));
        }
        self.open(bytes).map_err(std::io::Error::from)?;
        self.bytes = bytes;
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.base.as_ptr().cast()
    }
}
