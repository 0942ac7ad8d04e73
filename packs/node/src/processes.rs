//! Processes, signals, clocks and waiting.

use rquickjs::{Array, Ctx, Object, Result, Value};
use tidebox_rt::{Disposition, Errno, ExitStatus, Fd, SpawnRequest};

use crate::files::fd_of;
use crate::values::{Region, Text, code_of, define, field, lossy, status};

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "args" => || tidebox_rt::args().iter().map(|text| lossy(text)).collect::<Vec<_>>(),
        "environ" => || tidebox_rt::environ().iter().map(|text| lossy(text)).collect::<Vec<_>>(),
        "exit" => |code: u8| -> () { tidebox_rt::exit(code) },
        "monotonic" => || tidebox_rt::monotonic_ns().to_string(),
        "milliseconds" => || ms(tidebox_rt::monotonic_ns()),
        "realtime" => || ms(tidebox_rt::realtime_ns()),
        "cpuTimes" => || { let times = tidebox_rt::cpu_times(); vec![ms(times.own), ms(times.children)] },
        "random" => |mut into: Region<'js>| status(tidebox_rt::random(into.bytes_mut())),
        "ids" => || { let ids = tidebox_rt::getids().unwrap_or_default(); vec![ids.pid, ids.ppid, ids.pgid, ids.uid, ids.gid] },
        "memoryLimit" => || ms(tidebox_rt::limits().unwrap_or_default().process_memory_bytes) * 1e6,
        "memoryUsed" => memory_used,
        "kill" => |pid: i32, signal: u32| status(tidebox_rt::kill(pid, signal)),
        "catchSignal" => |signal: u32, caught: bool| {
            status(tidebox_rt::sig_set(signal, if caught { Disposition::Note } else { Disposition::Default }))
        },
        "takeSignals" => || code_of(tidebox_rt::sig_take(), signals),
        "spawn" => |request: Object<'js>| spawn(&request),
        "wait" => wait,
        "poll" => |ctx: Ctx<'js>, fds: Vec<u32>, timeout: f64| poll(&ctx, &fds, timeout),
    );
    Ok(())
}

/// Nanoseconds as milliseconds.
#[expect(clippy::cast_precision_loss, reason = "numbers of JavaScript")]
fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// Signals are below 53, so a number has a bit for each.
#[expect(clippy::cast_precision_loss, reason = "signals are below 53")]
fn signals(set: u64) -> f64 {
    (set & ((1 << 53) - 1)) as f64
}

#[cfg(target_family = "wasm")]
#[expect(clippy::cast_precision_loss, reason = "numbers of JavaScript")]
fn memory_used() -> f64 {
    core::arch::wasm32::memory_size(0) as f64 * 65536.0
}

#[cfg(not(target_family = "wasm"))]
fn memory_used() -> f64 {
    0.0
}

/// Starts a program: `path`, `args`, `env`, `cwd`, `fds` (pairs of the child's and the own descriptor), `group`.
fn spawn(request: &Object<'_>) -> Result<f64> {
    let texts = |name: &str| -> Result<Vec<Vec<u8>>> {
        Ok(field::<Vec<Text>>(request, name)?.unwrap_or_default().into_iter().map(|text| text.0).collect())
    };
    let (args, env) = (texts("args")?, texts("env")?);
    let path: Text = request.get("path")?;
    let cwd = field::<Text>(request, "cwd")?.map(|text| text.0).unwrap_or_default();
    let fds: Vec<u32> = request.get("fds")?;
    let fds: Vec<(Fd, Fd)> =
        fds.chunks_exact(2).filter_map(|pair| Some((fd_of(*pair.first()?), fd_of(*pair.get(1)?)))).collect();
    let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
    let env: Vec<&[u8]> = env.iter().map(Vec::as_slice).collect();
    let request = SpawnRequest {
        path: &path.0,
        args: &args,
        env: &env,
        cwd: &cwd,
        fds: &fds,
        group: u32::from(field::<bool>(request, "detached")?.unwrap_or(false)),
        ignored: 0,
    };
    Ok(code_of(tidebox_rt::spawn(&request), f64::from))
}

/// Returns the process, its exit code or -1, and the signal that ended it or 0; one negative number for an error; nothing if no child
/// has ended.
fn wait(pid: i32, block: bool) -> Vec<i32> {
    match tidebox_rt::wait(pid, block) {
        Ok(None) => Vec::new(),
        Ok(Some(found)) => {
            let (code, signal) = match found.status {
                ExitStatus::Exited(code) => (i32::from(code), 0),
                ExitStatus::Killed(signal) => (-1, i32::from(signal)),
            };
            vec![found.pid.cast_signed(), code, signal]
        }
        Err(Errno(code)) => vec![-i32::from(code)],
    }
}

/// Added to a descriptor to wait until it takes bytes.
const WRITABLE: u32 = 1 << 20;

/// Waits until one of the descriptors is readable (or writable, with [`WRITABLE`]), at most `timeout` milliseconds (negative: without a bound). Returns the readable
/// ones; none after a signal.
fn poll<'js>(ctx: &Ctx<'js>, fds: &[u32], timeout: f64) -> Result<Value<'js>> {
    let ready = Array::new(ctx.clone())?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
    let timeout = (timeout >= 0.0).then_some((timeout * 1e6) as u64);
    let found = wait_readable(fds, timeout).unwrap_or_default();
    for (at, fd) in found.into_iter().enumerate() {
        ready.set(at, fd)?;
    }
    Ok(ready.into_value())
}

#[cfg(target_family = "wasm")]
fn wait_readable(fds: &[u32], timeout: Option<u64>) -> tidebox_rt::Result<Vec<u32>> {
    #[expect(unsafe_code, reason = "tidebox-rt polls at most two descriptors")]
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        fn poll_oneoff(input: *const [u64; 6], output: *mut [u64; 4], count: usize, events: *mut usize) -> i32;
    }
    const CLOCK: u64 = 0;
    const FD_READ: u64 = 1;
    const FD_WRITE: u64 = 2;
    let subscription = |&fd: &u32| {
        let kind = if fd < WRITABLE { FD_READ } else { FD_WRITE };
        [u64::from(fd) + 1, kind, u64::from(fd_of(fd % WRITABLE)), 0, 0, 0]
    };
    let mut subscriptions: Vec<[u64; 6]> = fds.iter().map(subscription).collect();
    if let Some(timeout) = timeout {
        subscriptions.push([0, CLOCK, 1, timeout, 0, 0]);
    }
    if subscriptions.is_empty() {
        // Nothing but a signal can end this wait.
        subscriptions.push([0, CLOCK, 1, 1_000_000_000, 0, 0]);
    }
    let mut events = vec![[0; 4]; subscriptions.len()];
    let mut count = 0;
    // SAFETY: both vectors have `len` elements of the layout of subscriptions and events, and live for the call.
    #[expect(unsafe_code, reason = "tidebox-rt polls at most two descriptors")]
    let code = unsafe { poll_oneoff(subscriptions.as_ptr(), events.as_mut_ptr(), subscriptions.len(), &mut count) };
    match u16::try_from(code) {
        Ok(0) => {}
        other => return Err(Errno(other.unwrap_or(29))),
    }
    Ok(events.iter().take(count).filter_map(|event| u32::try_from(event[0].checked_sub(1)?).ok()).collect())
}

#[cfg(not(target_family = "wasm"))]
fn wait_readable(fds: &[u32], timeout: Option<u64>) -> tidebox_rt::Result<Vec<u32>> {
    let writable = fds.iter().copied().find(|fd| *fd >= WRITABLE);
    let mut readers = fds.iter().copied().filter(|fd| *fd < WRITABLE);
    let Some(first) = readers.next() else {
        if writable.is_none() {
            std::thread::sleep(std::time::Duration::from_nanos(timeout.unwrap_or(1_000_000).min(1_000_000_000)));
        }
        return Ok(writable.into_iter().collect());
    };
    let second = readers.next();
    let timeout = if writable.is_some() { Some(0) } else { timeout.or(Some(10_000_000)) };
    let (one, other) = tidebox_rt::poll_reads(fd_of(first), second.map(fd_of), timeout)?;
    Ok([one.then_some(first), second.filter(|_| other), writable].into_iter().flatten().collect())
}
