//! Global allocator that reports out-of-memory.

use super::{exit, write};

/// The allocator of std with an error message: if memory is exhausted, it writes a message and exits, where std would trap.
#[derive(Debug)]
pub struct EndingAllocator {
    /// Message on standard error.
    pub message: &'static [u8],
    /// The exit code.
    pub code: u8,
    /// Allocations of this many bytes or more fail as usual, so that callers of `try_reserve` can handle them.
    pub fails_from: usize,
}

impl EndingAllocator {
    fn checked(&self, at: *mut u8, size: usize) -> *mut u8 {
        if at.is_null() && size < self.fails_from {
            // Nothing may be allocated here, so the message has no size; without standard error it is lost.
            let _ = write(2, self.message);
            exit(self.code);
        }
        at
    }
}

// SAFETY: every call forwards its arguments to the system's allocator and returns its result.
unsafe impl std::alloc::GlobalAlloc for EndingAllocator {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of the system's allocator.
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
