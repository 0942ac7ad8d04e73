//! Files: the calls of `fs`. Each returns a value, or the negative error number of preview1.

use rquickjs::function::Opt;
use rquickjs::{Ctx, Object, Result, Value};
use tidebox_rt::{Errno, Fd, FileKind, Open, Stat, Time};

use crate::values::{Region, Text, code_of, define, lossy, status, value_of};

/// Bits of the first argument of `open`, as in `js/files.js`.
mod flag {
    pub(super) const READ: u32 = 1;
    pub(super) const WRITE: u32 = 2;
    pub(super) const APPEND: u32 = 4;
    pub(super) const CREATE: u32 = 8;
    pub(super) const EXCLUSIVE: u32 = 16;
    pub(super) const TRUNCATE: u32 = 32;
    pub(super) const DIRECTORY: u32 = 64;
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define_paths(ctx, native)?;
    define_descriptors(ctx, native)
}

fn define_paths<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "open" => |path: Text, flags: u32| code_of(open(&path.0, flags), number_of_fd),
        "stat" => |ctx: Ctx<'js>, path: Text, follow: bool, out: Value<'js>| stat(&ctx, tidebox_rt::stat(&path.0, follow), &out),
        "access" => |path: Text, mode: u32| status(tidebox_rt::access(&path.0, mode)),
        "chmod" => |path: Text, mode: u32| status(tidebox_rt::chmod(&path.0, mode)),
        "umask" => |mask: Opt<u32>| code_of(tidebox_rt::umask(mask.0), f64::from),
        "chdir" => |path: Text| status(enter(&path.0)),
        "readlink" => readlink,
        "unlink" => |path: Text| status(tidebox_rt::unlink(&path.0)),
        "mkdir" => |path: Text| status(tidebox_rt::make_dir(&path.0)),
        "rmdir" => |path: Text| status(tidebox_rt::remove_dir(&path.0)),
        "symlink" => |target: Text, path: Text| status(tidebox_rt::symlink(&target.0, &path.0)),
        "link" => |old: Text, path: Text| status(tidebox_rt::link(&old.0, &path.0)),
        "rename" => |from: Text, to: Text| status(tidebox_rt::rename(&from.0, &to.0)),
        "setTimes" => |path: Text, follow: bool, accessed: f64, changed: f64| {
            status(tidebox_rt::set_times(&path.0, follow, time(accessed), time(changed)))
        },
        "getcwd" => getcwd,
        "readdir" => readdir,
    );
    Ok(())
}

fn define_descriptors<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "fstat" => |ctx: Ctx<'js>, fd: u32, out: Value<'js>| stat(&ctx, tidebox_rt::fstat(fd_of(fd)), &out),
        "close" => |fd: u32| status(tidebox_rt::close(fd_of(fd))),
        "read" => read,
        "write" => write,
        "truncate" => |fd: u32, size: f64| status(tidebox_rt::set_size(fd_of(fd), unsigned(size))),
        "isTerminal" => |fd: u32| tidebox_rt::is_terminal(fd_of(fd)),
        "terminalSize" => |fd: u32| match tidebox_rt::terminal_mode(fd_of(fd)) {
            Ok(mode) => vec![mode.columns, mode.rows],
            Err(_) => Vec::new(),
        },
        "setRawMode" => |fd: u32, raw: bool| status(set_raw_mode(fd_of(fd), raw)),
        "pipe" => || match tidebox_rt::pipe() {
            Ok((read, write)) => vec![number_of_fd(read), number_of_fd(write)],
            Err(Errno(code)) => vec![-f64::from(code)],
        },
    );
    Ok(())
}

/// Returns the WASI descriptor of a Unix descriptor.
pub(crate) fn fd_of(fd: u32) -> Fd {
    // Elsewhere than in a sandbox the numbers are Unix's.
    if cfg!(target_family = "wasm") { tidebox_rt::fd_of_unix(fd) } else { fd }
}

/// Returns the Unix descriptor of a WASI descriptor.
pub(crate) fn number_of_fd(fd: Fd) -> f64 {
    f64::from(if cfg!(target_family = "wasm") { tidebox_rt::unix_of_fd(fd).unwrap_or(fd) } else { fd })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn unsigned(number: f64) -> u64 {
    number as u64
}

/// Seconds since the epoch; NaN leaves the time unchanged.
fn time(seconds: f64) -> Time {
    if seconds.is_nan() { Time::Omit } else { Time::At(unsigned((seconds * 1e6).round() * 1e3)) }
}

fn open(path: &[u8], flags: u32) -> tidebox_rt::Result<Fd> {
    let has = |bit: u32| flags & bit != 0;
    let how = Open {
        read: has(flag::READ),
        write: has(flag::WRITE),
        append: has(flag::APPEND),
        create: has(flag::CREATE),
        exclusive: has(flag::EXCLUSIVE),
        truncate: has(flag::TRUNCATE),
        directory: has(flag::DIRECTORY),
        nonblock: false,
    };
    tidebox_rt::open(path, how)
}

fn enter(path: &[u8]) -> tidebox_rt::Result<()> {
    tidebox_rt::chdir(path)?;
    // The directory of std, for its own paths, which this program does not use; so a failure has no effect.
    let _ = std::env::set_current_dir(tidebox_rt::path_of_bytes(&tidebox_rt::getcwd()?));
    Ok(())
}

fn getcwd(ctx: Ctx<'_>) -> Result<Value<'_>> {
    value_of(&ctx, tidebox_rt::getcwd(), |path| lossy(&path))
}

fn readlink(ctx: Ctx<'_>, path: Text) -> Result<Value<'_>> {
    value_of(&ctx, tidebox_rt::read_link(&path.0), |target| lossy(&target))
}

/// Returns the names and the types, the types as in `fs.constants.UV_DIRENT_*`.
fn readdir(ctx: Ctx<'_>, path: Text) -> Result<Value<'_>> {
    value_of(&ctx, tidebox_rt::read_dir(&path.0), |mut entries| {
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        let names: Vec<String> = entries.iter().map(|entry| lossy(&entry.name)).collect();
        let kinds: Vec<u32> = entries.iter().map(|entry| number_of_kind(entry.kind)).collect();
        rquickjs::convert::List((names, kinds))
    })
}

fn number_of_kind(kind: FileKind) -> u32 {
    match kind {
        FileKind::Unknown => 0,
        FileKind::File => 1,
        FileKind::Dir => 2,
        FileKind::Symlink => 3,
        FileKind::Pipe => 4,
        FileKind::Socket => 5,
        FileKind::CharDevice => 6,
        FileKind::BlockDevice => 7,
    }
}

/// Writes metadata into a `Float64Array` of 13 numbers: Node's order up to the blocks, then times in nanoseconds as seconds and rest.
#[expect(clippy::cast_precision_loss, reason = "numbers of JavaScript")]
fn stat(ctx: &Ctx<'_>, found: tidebox_rt::Result<Stat>, out: &Value<'_>) -> Result<f64> {
    let found = match found {
        Ok(found) => found,
        Err(Errno(code)) => return Ok(-f64::from(code)),
    };
    let out = out.as_object().ok_or_else(|| rquickjs::Exception::throw_type(ctx, "expected an array"))?;
    let numbers = [
        f64::from(found.dev),
        f64::from(found.mode),
        found.nlink as f64,
        f64::from(found.uid),
        f64::from(found.gid),
        0.0,
        4096.0,
        found.ino as f64,
        found.size as f64,
        (found.size.div_ceil(4096) * 8) as f64,
    ];
    for (at, number) in (0..).zip(numbers) {
        out.set::<u32, f64>(at, number)?;
    }
    for (at, ns) in (0..).zip([found.atime_ns, found.mtime_ns, found.ctime_ns, found.ctime_ns]) {
        out.set::<u32, f64>(10 + 2 * at, (ns / 1_000_000_000) as f64)?;
        out.set::<u32, f64>(11 + 2 * at, (ns % 1_000_000_000) as f64)?;
    }
    Ok(0.0)
}

#[expect(unsafe_code, reason = "std has no pread on wasm")]
unsafe extern "C" {
    fn pread(fd: i32, into: *mut u8, len: usize, at: i64) -> isize;
    fn pwrite(fd: i32, from: *const u8, len: usize, at: i64) -> isize;
}

/// Returns the result of a call of the C library.
fn counted(got: isize) -> f64 {
    if got < 0 {
        let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(29);
        return -f64::from(code);
    }
    #[expect(clippy::cast_precision_loss, reason = "a number of bytes in memory")]
    let got = got as f64;
    got
}

#[expect(clippy::cast_possible_truncation, reason = "offsets of files are below 2^53")]
fn offset(at: f64) -> i64 {
    at as i64
}

/// Reads into `len` bytes from `start`; a negative `at` reads at the position of the open file.
#[expect(clippy::cast_precision_loss, reason = "a number of bytes in memory")]
fn read(fd: u32, mut into: Region<'_>, start: usize, len: usize, at: f64) -> f64 {
    let room = into.len();
    let bytes = into.bytes_mut().get_mut(start.min(room)..start.saturating_add(len).min(room)).unwrap_or_default();
    if at < 0.0 {
        return code_of(tidebox_rt::read(fd_of(fd), bytes), |got| got as f64);
    }
    // SAFETY: the slice is alive for the call.
    #[expect(unsafe_code, reason = "std has no pread on wasm")]
    let got = unsafe { pread(fd_of(fd).cast_signed(), bytes.as_mut_ptr(), bytes.len(), offset(at)) };
    counted(got)
}

/// Writes `len` bytes from `start`; a negative `at` writes at the position of the open file.
#[expect(clippy::cast_precision_loss, reason = "a number of bytes in memory")]
fn write(fd: u32, from: Region<'_>, start: usize, len: usize, at: f64) -> f64 {
    let bytes = from.part(start, start.saturating_add(len));
    if at < 0.0 {
        return code_of(tidebox_rt::write(fd_of(fd), bytes), |put| put as f64);
    }
    // SAFETY: the slice is alive for the call.
    #[expect(unsafe_code, reason = "std has no pwrite on wasm")]
    let put = unsafe { pwrite(fd_of(fd).cast_signed(), bytes.as_ptr(), bytes.len(), offset(at)) };
    counted(put)
}

fn set_raw_mode(fd: Fd, raw: bool) -> tidebox_rt::Result<()> {
    use tidebox_rt::terminal_flag::{ECHO, ICANON, ISIG};
    let mut mode = tidebox_rt::terminal_mode(fd)?;
    let flags = ECHO | ICANON | ISIG;
    if raw {
        mode.local &= !flags;
        mode.set_minimum(1, 0);
    } else {
        mode.local |= flags;
    }
    tidebox_rt::set_terminal_mode(fd, &mode, false)
}
