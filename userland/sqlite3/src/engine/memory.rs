//! C library functions that SQLite calls under its own names.

use core::ffi::c_void;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn realloc(at: *mut c_void, size: usize) -> *mut c_void;
    fn free(at: *mut c_void);
    fn gmtime(seconds: *const i64) -> *mut c_void;
}

#[unsafe(no_mangle)]
extern "C" fn rust_sqlite_wasm_malloc(size: usize) -> *mut c_void {
    // SAFETY: any size is valid; SQLite checks for null.
    unsafe { malloc(size) }
}

/// # Safety
/// `at` is null or came from one of these functions and was not freed.
#[unsafe(no_mangle)]
unsafe extern "C" fn rust_sqlite_wasm_realloc(at: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise is that of `realloc`.
    unsafe { realloc(at, size) }
}

/// # Safety
/// `at` is null or came from one of these functions and was not freed.
#[unsafe(no_mangle)]
unsafe extern "C" fn rust_sqlite_wasm_free(at: *mut c_void) {
    // SAFETY: the caller's promise is that of `free`.
    unsafe { free(at) }
}

/// Local time equals UTC. The C library's structure is the one that SQLite was compiled with.
///
/// # Safety
/// `seconds` points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn rust_sqlite_wasm_localtime(seconds: *const i64) -> *mut c_void {
    // SAFETY: the caller's promise is that of `gmtime`.
    unsafe { gmtime(seconds) }
}
