//! SQLite VFS on the sandbox's files. Only one process runs at a time, so locks always succeed.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use sqlite_wasm_rs as sys;
use sys::{sqlite3_file, sqlite3_io_methods, sqlite3_vfs};
use tidebox_gnu::message::{bytes_path, path_bytes};

/// A file opened by SQLite, which allocates the memory and reads only the first field.
#[repr(C)]
struct Handle {
    base: sqlite3_file,
    state: *mut State,
}

struct State {
    file: File,
    /// Path to delete when the file is closed.
    temporary: Option<PathBuf>,
}

const MAX_PATH: c_int = 4096;

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(lock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

/// Registers this VFS with SQLite, which calls it once.
#[unsafe(no_mangle)]
extern "C" fn sqlite3_os_init() -> c_int {
    let vfs = Box::new(sqlite3_vfs {
        iVersion: 2,
        szOsFile: c_int::try_from(size_of::<Handle>()).unwrap_or(0),
        mxPathname: MAX_PATH,
        pNext: core::ptr::null_mut(),
        zName: c"tidebox".as_ptr(),
        pAppData: core::ptr::null_mut(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_path),
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: None,
        xCurrentTimeInt64: Some(current_milliseconds),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    });
    // SAFETY: the structure is complete and is never freed.
    unsafe { sys::sqlite3_vfs_register(Box::into_raw(vfs), 1) }
}

#[unsafe(no_mangle)]
extern "C" fn sqlite3_os_end() -> c_int {
    sys::SQLITE_OK
}

/// # Safety
/// `name` is a C string.
unsafe fn path_of<'a>(name: *const c_char) -> &'a Path {
    // SAFETY: guaranteed by the caller; the text outlives its use.
    bytes_path(unsafe { CStr::from_ptr(name) }.to_bytes())
}

/// # Safety
/// `file` was filled by [`open`] and not closed since.
unsafe fn state_of<'a>(file: *mut sqlite3_file) -> &'a mut State {
    // SAFETY: `open` stored a state there, and SQLite does not use a file concurrently.
    unsafe { &mut *(*file.cast::<Handle>()).state }
}

unsafe extern "C" fn open(
    _vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let handle = file.cast::<Handle>();
    // SAFETY: SQLite passes memory of `szOsFile` bytes. Without methods it is not closed if opening fails.
    unsafe { (*handle).base.pMethods = core::ptr::null() };
    let (path, temporary) = if name.is_null() {
        let path = PathBuf::from(format!("/tmp/etilqs_{}", u64::from_ne_bytes(random())));
        (path.clone(), Some(path))
    } else {
        // SAFETY: SQLite passes a C string.
        let path = unsafe { path_of(name) }.to_owned();
        (path.clone(), (flags & sys::SQLITE_OPEN_DELETEONCLOSE != 0).then_some(path))
    };
    let writable = flags & sys::SQLITE_OPEN_READWRITE != 0;
    let mut options = OpenOptions::new();
    options.read(true).write(writable);
    if flags & sys::SQLITE_OPEN_EXCLUSIVE != 0 {
        options.create_new(true);
    } else {
        options.create(writable && flags & sys::SQLITE_OPEN_CREATE != 0);
    }
    let (opened, told) = match options.open(&path) {
        Ok(file) => (file, flags),
        // Without write permission, open read-only.
        Err(_) if writable && path.is_file() => match File::open(&path) {
            Ok(file) => {
                let told = flags & !(sys::SQLITE_OPEN_READWRITE | sys::SQLITE_OPEN_CREATE);
                (file, told | sys::SQLITE_OPEN_READONLY)
            }
            Err(_) => return sys::SQLITE_CANTOPEN,
        },
        Err(_) => return sys::SQLITE_CANTOPEN,
    };
    if opened.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return sys::SQLITE_CANTOPEN;
    }
    let state = Box::into_raw(Box::new(State { file: opened, temporary }));
    // SAFETY: both pointers are SQLite's and of the right type; `close` takes the box back.
    unsafe {
        (*handle).state = state;
        (*handle).base.pMethods = &raw const METHODS;
        if !out_flags.is_null() {
            *out_flags = told;
        }
    }
    sys::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: the box came from `open`, and SQLite closes a file once.
    let state = unsafe { Box::from_raw((*file.cast::<Handle>()).state) };
    if let Some(path) = &state.temporary {
        // A file that no longer exists needs no removal.
        let _ = std::fs::remove_file(path);
    }
    sys::SQLITE_OK
}

unsafe extern "C" fn read(file: *mut sqlite3_file, to: *mut c_void, len: c_int, offset: i64) -> c_int {
    // SAFETY: SQLite passes an open file and a buffer of that length.
    let (state, buffer) = unsafe {
        (state_of(file), core::slice::from_raw_parts_mut(to.cast::<u8>(), usize::try_from(len).unwrap_or(0)))
    };
    if state.file.seek(SeekFrom::Start(u64::try_from(offset).unwrap_or(0))).is_err() {
        return sys::SQLITE_IOERR_READ;
    }
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match state.file.read(rest) {
            Ok(0) => {
                rest.fill(0);
                return sys::SQLITE_IOERR_SHORT_READ;
            }
            Ok(count) => filled += count,
            Err(_) => return sys::SQLITE_IOERR_READ,
        }
    }
    sys::SQLITE_OK
}

unsafe extern "C" fn write(file: *mut sqlite3_file, from: *const c_void, len: c_int, offset: i64) -> c_int {
    // SAFETY: SQLite passes an open file and a buffer of that length.
    let (state, buffer) =
        unsafe { (state_of(file), core::slice::from_raw_parts(from.cast::<u8>(), usize::try_from(len).unwrap_or(0))) };
    let at = SeekFrom::Start(u64::try_from(offset).unwrap_or(0));
    match state.file.seek(at).and_then(|_| state.file.write_all(buffer)) {
        Ok(()) => sys::SQLITE_OK,
        Err(error) if error.kind() == std::io::ErrorKind::StorageFull => sys::SQLITE_FULL,
        Err(_) => sys::SQLITE_IOERR_WRITE,
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: i64) -> c_int {
    // SAFETY: SQLite passes an open file.
    let state = unsafe { state_of(file) };
    match state.file.set_len(u64::try_from(size).unwrap_or(0)) {
        Ok(()) => sys::SQLITE_OK,
        Err(_) => sys::SQLITE_IOERR_TRUNCATE,
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: SQLite passes an open file.
    let state = unsafe { state_of(file) };
    if state.file.sync_data().is_ok() { sys::SQLITE_OK } else { sys::SQLITE_IOERR_FSYNC }
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: SQLite passes an open file.
    let state = unsafe { state_of(file) };
    let Ok(metadata) = state.file.metadata() else {
        return sys::SQLITE_IOERR_FSTAT;
    };
    // SAFETY: SQLite passes a valid pointer for the number.
    unsafe { *size = i64::try_from(metadata.len()).unwrap_or(i64::MAX) };
    sys::SQLITE_OK
}

unsafe extern "C" fn lock(_file: *mut sqlite3_file, _level: c_int) -> c_int {
    sys::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock(_file: *mut sqlite3_file, held: *mut c_int) -> c_int {
    // SAFETY: SQLite passes a valid pointer for the result.
    unsafe { *held = 0 };
    sys::SQLITE_OK
}

unsafe extern "C" fn file_control(_file: *mut sqlite3_file, _what: c_int, _argument: *mut c_void) -> c_int {
    sys::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_file: *mut sqlite3_file) -> c_int {
    4096
}

unsafe extern "C" fn characteristics(_file: *mut sqlite3_file) -> c_int {
    0
}

unsafe extern "C" fn delete(_vfs: *mut sqlite3_vfs, name: *const c_char, _sync: c_int) -> c_int {
    // SAFETY: SQLite passes a C string.
    match std::fs::remove_file(unsafe { path_of(name) }) {
        Ok(()) => sys::SQLITE_OK,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => sys::SQLITE_IOERR_DELETE_NOENT,
        Err(_) => sys::SQLITE_IOERR_DELETE,
    }
}

unsafe extern "C" fn access(_vfs: *mut sqlite3_vfs, name: *const c_char, what: c_int, answer: *mut c_int) -> c_int {
    // SAFETY: SQLite passes a C string.
    let path = unsafe { path_of(name) };
    let yes = match path.metadata() {
        // An empty journal does not count as one.
        Ok(metadata) if what == sys::SQLITE_ACCESS_EXISTS => metadata.len() > 0 || !metadata.is_file(),
        Ok(_) => tidebox_rt::access(path_bytes(path), if what == sys::SQLITE_ACCESS_READWRITE { 6 } else { 4 }).is_ok(),
        Err(_) => false,
    };
    // SAFETY: SQLite passes a valid pointer for the result.
    unsafe { *answer = c_int::from(yes) };
    sys::SQLITE_OK
}

unsafe extern "C" fn full_path(_vfs: *mut sqlite3_vfs, name: *const c_char, room: c_int, to: *mut c_char) -> c_int {
    // SAFETY: SQLite passes a C string.
    let path = unsafe { path_of(name) };
    let full = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")).join(path);
    let bytes = path_bytes(&full);
    if bytes.len() >= usize::try_from(room).unwrap_or(0) {
        return sys::SQLITE_CANTOPEN;
    }
    // SAFETY: SQLite passes a buffer of that size, which was just checked.
    unsafe {
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast::<u8>(), bytes.len());
        *to.add(bytes.len()) = 0;
    }
    sys::SQLITE_OK
}

fn random() -> [u8; 8] {
    let mut bytes = [0; 8];
    // Without randomness all names are equal, and the second one is rejected because it exists.
    let _ = tidebox_rt::random(&mut bytes);
    bytes
}

unsafe extern "C" fn randomness(_vfs: *mut sqlite3_vfs, len: c_int, to: *mut c_char) -> c_int {
    // SAFETY: SQLite passes a buffer of that length.
    let buffer = unsafe { core::slice::from_raw_parts_mut(to.cast::<u8>(), usize::try_from(len).unwrap_or(0)) };
    if tidebox_rt::random(buffer).is_ok() { len } else { 0 }
}

unsafe extern "C" fn sleep(_vfs: *mut sqlite3_vfs, microseconds: c_int) -> c_int {
    std::thread::sleep(std::time::Duration::from_micros(u64::try_from(microseconds).unwrap_or(0)));
    microseconds
}

/// Milliseconds since the start of the Julian day count.
fn julian_milliseconds() -> i64 {
    const UNIX_EPOCH_IN_MILLISECONDS: i64 = 210_866_760_000_000;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UNIX_EPOCH_IN_MILLISECONDS.saturating_add(i64::try_from(since.as_millis()).unwrap_or(0))
}

unsafe extern "C" fn current_milliseconds(_vfs: *mut sqlite3_vfs, to: *mut i64) -> c_int {
    // SAFETY: SQLite passes a valid pointer for the number.
    unsafe { *to = julian_milliseconds() };
    sys::SQLITE_OK
}

unsafe extern "C" fn current_time(_vfs: *mut sqlite3_vfs, to: *mut f64) -> c_int {
    #[expect(clippy::cast_precision_loss, reason = "that is how this older call tells it")]
    let days = julian_milliseconds() as f64 / 86_400_000.0;
    // SAFETY: SQLite passes a valid pointer for the number.
    unsafe { *to = days };
    sys::SQLITE_OK
}
