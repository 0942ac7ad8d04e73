//! An allocator that says so when memory is spent.

use super::{exit, write};

/// The allocator of std with an end in words: where there is no memory left, it writes a message and ends the program, where
/// std would end it in a trap.
#[derive(Debug)]
pub struct EndingAllocator {
    /// What is written to standard error.
    pub message: &'static [u8],
    /// The exit code.
    pub code: u8,
    /// Allocations of so many bytes and more fail as usual, so that who made them by `try_reserve` can answer.
    pub fails_from: usize,
}

impl EndingAllocator {
    fn checked(&self, at: *mut u8, size: usize) -> *mut u8 {
        if at.is_null() && size < self.fails_from {
            // Nothing may be allocated here, so the number of bytes stays untold; without standard error nobody is told.
            let _ = write(2, self.message);
            exit(self.code);
        }
        at
    }
}

// SAFETY: every call goes to the system's allocator with the arguments it came with, and what that answers is answered.
unsafe impl std::alloc::GlobalAlloc for EndingAllocator {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        self.checked(unsafe { std::alloc::System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: std::alloc::Layout) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { std::alloc::System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: as above.
        unsafe { std::alloc::System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: std::alloc::Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { std::alloc::System.realloc(at, layout, size) }, size)
    }
}
