//! Linear memories that begin as a mapped file.

#![allow(
    unsafe_code,
    reason = "mapping a file where compiled code will read and write cannot be checked by the compiler"
)]

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap, mmap_anonymous, mprotect, munmap};
use wasmtime::{Config, LinearMemory, MemoryCreator, MemoryType};

use super::image::MemoryImage;

/// Makes the memories of one engine: the program's begin as the image, others (Wasmtime keeps exceptions in one) empty.
pub(super) struct Creator {
    image: Arc<MemoryImage>,
    /// The size of the program's memory as its module tells it, by which it is known.
    module_bytes: OnceLock<usize>,
}

impl Creator {
    pub(super) fn new(image: Arc<MemoryImage>) -> Self {
        Self { image, module_bytes: OnceLock::new() }
    }

    /// Tells how large the program's memory is at first. Before that, no memory begins as the image.
    pub(super) fn know(&self, module_bytes: usize) {
        self.module_bytes.get_or_init(|| module_bytes);
    }
}

/// Has an engine make its memories this way.
pub(super) fn install(config: &mut Config, creator: &Arc<Creator>) -> Result<(), String> {
    config.with_host_memory(Arc::<Creator>::clone(creator));
    Ok(())
}

// SAFETY: `Mapped` reserves what it is asked for with the guard behind it, opens no more than the memory's size (or the
// image's, which the engine grows the memory to before any code runs), and never moves or hands out what it has mapped.
unsafe impl MemoryCreator for Creator {
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

/// A reservation, of which the beginning can be used.
struct Mapped {
    base: NonNull<c_void>,
    /// Address space taken, guard included.
    taken: usize,
    reserved: usize,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone; Wasmtime orders the uses of it as it does those of its own memories.
unsafe impl Send for Mapped {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Mapped {}

impl Mapped {
    fn new(minimum: usize, reserved: usize, guard: usize, image: Option<&MemoryImage>) -> rustix::io::Result<Self> {
        let taken = reserved.checked_add(guard).filter(|taken| *taken > 0).ok_or(rustix::io::Errno::NOMEM)?;
        // SAFETY: a new mapping at a place of the system's choice touches no memory that is in use.
        let base = unsafe {
            mmap_anonymous(std::ptr::null_mut(), taken, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::NORESERVE)?
        };
        let base = NonNull::new(base).ok_or(rustix::io::Errno::NOMEM)?;
        // From here on dropping it unmaps it.
        let mapped = Self { base, taken, reserved, bytes: minimum };
        mapped.open(minimum)?;
        if let Some(image) = image.filter(|image| image.bytes <= reserved) {
            // SAFETY: the range lies within the reservation above, which nobody else knows yet. The mapping is private:
            // what the program writes never reaches the file.
            unsafe {
                let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
                mmap(base.as_ptr(), image.bytes, ProtFlags::READ | ProtFlags::WRITE, flags, &image.file, 0)?;
            }
        }
        Ok(mapped)
    }

    /// Lets the first `bytes` be read and written.
    fn open(&self, bytes: usize) -> rustix::io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the range lies within the reservation, as the callers make sure.
        unsafe { mprotect(self.base.as_ptr(), bytes, MprotectFlags::READ | MprotectFlags::WRITE) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the whole reservation is this value's, and Wasmtime drops a memory only when nothing uses it any more.
        // A mapping that cannot be removed stays, which costs address space and nothing else.
        let _ = unsafe { munmap(self.base.as_ptr(), self.taken) };
    }
}

// SAFETY: `as_ptr` stays the same from the beginning to the end, and `byte_size` bytes from it on are open.
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
