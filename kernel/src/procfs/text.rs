//! Content of the files in `/proc`.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::borrow::Cow;
use std::fmt::Write as _;

use super::{INIT, Text};
use crate::cpu_time::CpuTime;
use crate::errno::Errno;
use crate::fs::MountMode;
use crate::kernel::{Kernel, USER};
use crate::process::Process;
use crate::socket::SocketInfo;

const SECOND: u64 = 1_000_000_000;

/// Returns the current content of a file.
pub(crate) fn text(k: &Kernel, file: Text) -> Result<Cow<'_, [u8]>, Errno> {
    let string = match file {
        Text::Cpuinfo => "processor\t: 0\nvendor_id\t: tidebox\nmodel name\t: WebAssembly\n\n".to_owned(),
        Text::Loadavg => {
            let live = k.processes.iter().filter(|p| p.ended.is_none()).count();
            format!("0.00 0.00 0.00 {live}/{} {}\n", k.processes.len(), k.processes.last())
        }
        Text::Meminfo => meminfo(k),
        Text::Mounts => mounts(k),
        Text::NetTcp => tcp_sockets(k, false),
        Text::NetTcp6 => tcp_sockets(k, true),
        Text::Stat => {
            let boot = k.now().saturating_sub(uptime(k)) / SECOND;
            let user = k.visible_total_cpu_time() / (SECOND / 100);
            let idle = (uptime(k) / (SECOND / 100)).saturating_sub(user);
            format!(
                "cpu  {user} 0 0 {idle} 0 0 0 0 0 0\ncpu0 {user} 0 0 {idle} 0 0 0 0 0 0\nbtime {boot}\nprocesses {}\n",
                k.processes.last()
            )
        }
        Text::Uptime => {
            let (seconds, rest) = (uptime(k) / SECOND, uptime(k) % SECOND / 10_000_000);
            format!("{seconds}.{rest:02} 0.00\n")
        }
        Text::Version => concat!("Tidebox version ", env!("CARGO_PKG_VERSION"), " (WebAssembly)\n").to_owned(),
        Text::Hostname => format!("{}\n", k.hostname),
        Text::ProcessCmdline(INIT) => "init\0".to_owned(),
        Text::ProcessComm(INIT) => "init\n".to_owned(),
        // As on Linux for a process of another user.
        Text::ProcessEnviron(INIT) | Text::ProcessMaps(INIT) => return Err(Errno::Acces),
        Text::ProcessStat(INIT) => {
            let rest = " 0".repeat(44);
            format!("1 (init) S 0 1 1 0 -1{rest}\n")
        }
        Text::ProcessStatus(INIT) => INIT_STATUS.to_owned(),
        Text::ProcessLimits(_) => limits(k),
        Text::ProcessMaps(pid) => maps(k.process(pid)?),
        Text::ProcessCmdline(pid) => return Ok(Cow::Borrowed(&k.process(pid)?.program.argv.bytes)),
        Text::ProcessEnviron(pid) => return Ok(Cow::Borrowed(&k.process(pid)?.program.env.bytes)),
        Text::ProcessComm(pid) => {
            let mut name = comm(k.process(pid)?).to_vec();
            name.push(b'\n');
            return Ok(Cow::Owned(name));
        }
        Text::ProcessStat(pid) => stat(k.process(pid)?, k.visible_cpu_time(pid)),
        Text::ProcessStatus(pid) => status(k.process(pid)?),
    };
    Ok(Cow::Owned(string.into_bytes()))
}

fn uptime(k: &Kernel) -> u64 {
    k.clock.monotonic().saturating_sub(k.boot_time)
}

/// Lists the sockets with a port in the form of Linux: addresses are hexadecimal numbers in the byte order of the processor.
fn tcp_sockets(k: &Kernel, is_ipv6: bool) -> String {
    const LISTENING: u8 = 0x0a;
    const ESTABLISHED: u8 = 1;
    let columns = if is_ipv6 { 37 } else { 13 };
    let mut text = format!(
        "  sl  {:<columns$} {:<columns$} st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n",
        "local_address", "remote_address"
    );
    let any: SocketAddr =
        (if is_ipv6 { Ipv6Addr::UNSPECIFIED.into() } else { IpAddr::V4(Ipv4Addr::UNSPECIFIED) }, 0).into();
    // Linux does not list sockets that are bound and not connected.
    let is_listed = |info: &SocketInfo| info.is_ipv6 == is_ipv6 && (info.is_listening || info.peer.is_some());
    let of_family = k.socket_infos().into_iter().filter(is_listed);
    for (row, info) in of_family.enumerate() {
        let (local, peer) = (hex_address(info.local, is_ipv6), hex_address(info.peer.unwrap_or(any), is_ipv6));
        let state = if info.is_listening { LISTENING } else { ESTABLISHED };
        let _ = writeln!(
            text,
            "{row:4}: {local} {peer} {state:02X} 00000000:{:08X} 00:00000000 00000000 {:5}        0 {} 1 0",
            info.queued, USER.uid, info.number
        );
    }
    text
}

fn hex_address(address: SocketAddr, is_ipv6: bool) -> String {
    let octets = match address.ip() {
        IpAddr::V4(ip) if is_ipv6 && ip.is_unspecified() => vec![0; 16],
        IpAddr::V4(ip) if is_ipv6 => ip.to_ipv6_mapped().octets().to_vec(),
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words: String =
        octets.as_chunks::<4>().0.iter().map(|word| format!("{:08X}", u32::from_le_bytes(*word))).collect();
    format!("{words}:{:04X}", address.port())
}

fn meminfo(k: &Kernel) -> String {
    let total = k.limits.sandbox_memory_bytes / 1024;
    let free = total.saturating_sub(k.memory_bytes / 1024);
    let mut out = String::new();
    for (name, kib) in
        [("MemTotal", total), ("MemFree", free), ("MemAvailable", free), ("SwapTotal", 0), ("SwapFree", 0)]
    {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{:<15} {kib:>8} kB", format!("{name}:"));
    }
    out
}

/// `status` of the init process, which user 0 owns.
const INIT_STATUS: &str = "Name:\tinit\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t1\nPid:\t1\nPPid:\t0\nUid:\t0\t0\t0\t0\n\
                           Gid:\t0\t0\t0\t0\nVmSize:\t       0 kB\nVmRSS:\t       0 kB\nThreads:\t1\n";

/// Formats `proc_pid_limits(5)` with the limits of the sandbox that have a counterpart on Linux.
fn limits(k: &Kernel) -> String {
    let limits = &k.limits;
    let unlimited = || "unlimited".to_owned();
    let cpu_time = limits.cpu_time.map_or_else(unlimited, |time| time.as_secs().to_string());
    let rows = [
        ("Max cpu time", cpu_time, "seconds"),
        ("Max file size", limits.single_file_bytes.to_string(), "bytes"),
        ("Max address space", limits.process_memory_bytes.to_string(), "bytes"),
        ("Max processes", limits.processes.to_string(), "processes"),
        ("Max open files", limits.descriptors.to_string(), "files"),
        ("Max locked memory", unlimited(), "bytes"),
        ("Max file locks", unlimited(), "locks"),
        ("Max pending signals", unlimited(), "signals"),
    ];
    let mut out = "Limit                     Soft Limit           Hard Limit           Units     \n".to_owned();
    for (name, value, unit) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name:<25} {value:<20} {value:<20} {unit:<10}");
    }
    out
}

/// Formats `proc_pid_maps(5)`: the linear memory.
fn maps(process: &Process) -> String {
    format!("00000000-{:08x} rw-p 00000000 00:00 0                          [heap]\n", process.memory_bytes)
}

/// Returns the file's name, at most 15 bytes as on Linux.
fn comm(process: &Process) -> &[u8] {
    let name = process.program.path.rsplit(|b| *b == b'/').next().unwrap_or_default();
    name.get(..15).unwrap_or(name)
}

fn state(process: &Process) -> char {
    match process.ended {
        Some(_) => 'Z',
        None if process.stopped.is_some() => 'T',
        None => 'S',
    }
}

fn status(process: &Process) -> String {
    let state = match state(process) {
        'Z' => "Z (zombie)",
        'T' => "T (stopped)",
        _ => "S (sleeping)",
    };
    let (uid, gid, kib) = (USER.uid, USER.gid, process.memory_bytes / 1024);
    let signals = process.signals;
    format!(
        "Name:\t{}\nUmask:\t{:04o}\nState:\t{state}\nTgid:\t{pid}\nPid:\t{pid}\nPPid:\t{}\n\
         Uid:\t{uid}\t{uid}\t{uid}\t{uid}\nGid:\t{gid}\t{gid}\t{gid}\t{gid}\n\
         VmSize:\t{kib:>8} kB\nVmRSS:\t{kib:>8} kB\nThreads:\t1\nSigPnd:\t{:016x}\nSigIgn:\t{:016x}\nSigCgt:\t{:016x}\n",
        String::from_utf8_lossy(comm(process)),
        process.umask,
        process.parent,
        // Linux counts the bits from signal 1.
        signals.pending >> 1,
        signals.ignored >> 1,
        signals.caught >> 1,
        pid = process.pid,
    )
}

/// Formats the 52 fields of `proc_pid_stat(5)`; fields without a meaning here are 0.
fn stat(process: &Process, cpu_time: CpuTime) -> String {
    let name = String::from_utf8_lossy(comm(process));
    let [started, own, children] =
        [process.started, cpu_time.own, cpu_time.children].map(|nanos| nanos / (SECOND / 100));
    let mut out = format!(
        "{} ({name}) {} {} {} {} 0 -1",
        process.pid,
        state(process),
        process.parent,
        process.group,
        process.execution.0
    );
    for field in 9..=52 {
        let value = match field {
            18 => (20 + i64::from(process.nice)).unsigned_abs(),
            19 => {
                let _ = write!(out, " {}", process.nice);
                continue;
            }
            20 => 1,
            // All time is user time.
            14 => own,
            16 => children,
            22 => started,
            23 => process.memory_bytes,
            24 => process.memory_bytes / 65536,
            _ => 0,
        };
        let _ = write!(out, " {value}");
    }
    out.push('\n');
    out
}

/// Formats the mounts like `fstab`: source, mount point, type, options. A space in a path is `\040`, as `getmntent` reads it.
fn mounts(k: &Kernel) -> String {
    let mut text = "tidebox / tidebox rw 0 0\nproc /proc proc ro 0 0\n".to_owned();
    for (path, mode) in k.fs.mounts() {
        let kind = if mode == MountMode::CopyOnWrite { "overlay" } else { "mount" };
        let options = if mode == MountMode::ReadOnly { "ro" } else { "rw" };
        text += "mount ";
        for &byte in &path {
            match byte {
                b'!'..=b'~' if byte != b'\\' => text.push(char::from(byte)),
                _ => text += &format!("\\{byte:03o}"),
            }
        }
        text += &format!(" {kind} {options} 0 0\n");
    }
    text
}
