//! The end of a program that takes more memory than there is.
#![allow(unsafe_code, reason = "an allocator is unsafe by its nature; this one hands everything on")]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which ends the process with jq's words when there is nothing left, where std would end it in a
/// trap.
#[derive(Debug)]
pub(crate) struct Ending;

// SAFETY: every call goes to the system's allocator with the arguments it came with, and what that answers is answered.
unsafe impl GlobalAlloc for Ending {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.realloc(at, layout, size) })
    }
}

fn checked(at: *mut u8) -> *mut u8 {
    if at.is_null() {
        // Nothing may be allocated here; without standard error nobody is told.
        let _ = tidebox_rt::write(2, b"error: cannot allocate memory\n");
        tidebox_rt::exit(2);
    }
    at
}
