//! The memory of a saved process: the pages that differ from the image.

use std::io;

use tidebox_kernel::SavedMemory;

use super::image::MemoryImage;

const PAGE: usize = SavedMemory::PAGE;

/// Returns the pages of a process's memory that differ from the image.
pub(super) fn save(memory: &[u8], image: &MemoryImage) -> io::Result<SavedMemory> {
    let written = WrittenPages::of(memory);
    let mut saved =
        SavedMemory { image: image.digest, bytes: memory.len() as u64, pages: Vec::new(), content: Vec::new() };
    let mut initial = [0; PAGE];
    for (number, page) in (0u32..).zip(memory.chunks_exact(PAGE)) {
        if !written.may_include(number as usize) {
            continue;
        }
        let at = number as usize * PAGE;
        if at < image.bytes {
            image.read_at(&mut initial, at as u64)?;
        } else {
            initial.fill(0);
        }
        if *page != initial {
            saved.pages.push(number);
            saved.content.extend_from_slice(page);
        }
    }
    Ok(saved)
}

/// Writes the saved pages into a memory that equals the image. The pages may be forged.
pub(super) fn restore(memory: &mut [u8], saved: &SavedMemory) -> Result<(), String> {
    if saved.content.len() != saved.pages.len().saturating_mul(PAGE) {
        return Err("the saved process has another number of pages than it says".to_owned());
    }
    for (&number, page) in saved.pages.iter().zip(saved.content.chunks_exact(PAGE)) {
        let at = (number as usize).checked_mul(PAGE);
        let target = at.and_then(|at| memory.get_mut(at..at.checked_add(PAGE)?));
        target.ok_or("the saved process has a page outside of its memory")?.copy_from_slice(page);
    }
    Ok(())
}

/// The pages that the process has written, as the system knows them. All pages, if it does not report them.
struct WrittenPages(Option<Vec<u8>>);

impl WrittenPages {
    /// Bytes of an entry of `/proc/self/pagemap`, see `proc_pid_pagemap(5)`.
    const ENTRY: usize = 8;
    /// Bits of an entry: in memory, in swap, and a page of a file that was not written (which maps the image).
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const OF_FILE: u64 = 1 << 61;

    #[cfg(target_os = "linux")]
    fn of(memory: &[u8]) -> Self {
        use std::os::unix::fs::FileExt;

        if rustix::param::page_size() != PAGE {
            return Self(None);
        }
        let mut entries = vec![0; memory.len() / PAGE * Self::ENTRY];
        let start = (memory.as_ptr().addr() / PAGE * Self::ENTRY) as u64;
        let read = std::fs::File::open("/proc/self/pagemap").and_then(|file| file.read_exact_at(&mut entries, start));
        Self(read.is_ok().then_some(entries))
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: &[u8]) -> Self {
        Self(None)
    }

    fn may_include(&self, number: usize) -> bool {
        let Some(entries) = &self.0 else { return true };
        let Some(entry) = entries.as_chunks::<{ Self::ENTRY }>().0.get(number) else { return true };
        let entry = u64::from_le_bytes(*entry);
        entry & (Self::PRESENT | Self::SWAPPED) != 0 && entry & Self::OF_FILE == 0
    }
}
