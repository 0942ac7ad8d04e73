//! Processes in `/proc`.

use tidebox_gnu::stream::read_all;

/// A snapshot of a process.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Process id of the parent.
    pub parent: u32,
    /// Process group.
    pub group: u32,
    /// Session.
    pub session: u32,
    /// State as in `/proc/PID/stat`: `R`, `S`, `Z` and so on.
    pub state: char,
    /// Name of the program, shortened by the kernel.
    pub name: String,
    /// Command line; empty for a zombie.
    pub arguments: Vec<Vec<u8>>,
    /// User id.
    pub user: u32,
    /// Group id.
    pub own_group: u32,
    /// Nice value.
    pub nice: i64,
    /// Priority.
    pub priority: i64,
    /// Number of threads.
    pub threads: u64,
    /// Virtual memory in bytes.
    pub memory: u64,
    /// Resident memory in bytes.
    pub resident: u64,
    /// Processor time in hundredths of a second.
    pub used: u64,
    /// Start, in hundredths of a second since boot.
    pub started: u64,
}

fn text(path: &str) -> Option<String> {
    read_all(path.as_bytes()).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

impl Process {
    /// The current processes, sorted by id.
    pub fn all() -> Vec<Self> {
        let entries = tidebox_rt::read_dir(b"/proc").unwrap_or_default();
        let number = |entry: &tidebox_rt::Entry| std::str::from_utf8(&entry.name).ok()?.parse::<u32>().ok();
        let mut pids: Vec<u32> = entries.iter().filter_map(number).collect();
        pids.sort_unstable();
        // A process that has just exited is missing.
        pids.into_iter().filter_map(Self::read).collect()
    }

    fn read(pid: u32) -> Option<Self> {
        let stat = text(&format!("/proc/{pid}/stat"))?;
        // The name is in parentheses and may contain parentheses.
        let (head, tail) = stat.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = tail.split_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i64>().ok()).unwrap_or(0);
        let positive = |at: usize| u64::try_from(number(at)).unwrap_or(0);
        let short = |at: usize| u32::try_from(number(at)).unwrap_or(0);
        let status = text(&format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let arguments = read_all(format!("/proc/{pid}/cmdline").as_bytes()).unwrap_or_default();
        let arguments = arguments.strip_suffix(b"\0").unwrap_or(&arguments);
        let words: Vec<Vec<u8>> = arguments.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        Some(Self {
            pid,
            state: fields.first().and_then(|field| field.chars().next()).unwrap_or('?'),
            parent: short(1),
            group: short(2),
            session: short(3),
            name,
            arguments: if arguments.is_empty() { Vec::new() } else { words },
            user: field("Uid:").and_then(|id| u32::try_from(id).ok()).unwrap_or(0),
            own_group: field("Gid:").and_then(|id| u32::try_from(id).ok()).unwrap_or(0),
            used: positive(11).saturating_add(positive(12)),
            priority: number(15),
            nice: number(16),
            threads: positive(17),
            started: positive(19),
            memory: positive(20),
            resident: field("VmRSS:").unwrap_or(0).saturating_mul(1024),
        })
    }

    /// The whole command line; without one, the name in brackets.
    pub fn command(&self) -> String {
        let dead = if self.state == 'Z' { " <defunct>" } else { "" };
        if self.arguments.is_empty() {
            return format!("[{}]{dead}", self.name);
        }
        let words: Vec<String> = self
            .arguments
            .iter()
            .map(|word| {
                let shown = String::from_utf8_lossy(word).into_owned();
                shown.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
            })
            .collect();
        words.join(" ") + dead
    }
}

/// Seconds since boot, with fraction.
pub(crate) fn uptime() -> f64 {
    let text = text("/proc/uptime").unwrap_or_default();
    text.split_whitespace().next().and_then(|seconds| seconds.parse().ok()).unwrap_or(0.0)
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    i64::try_from(tidebox_rt::realtime_ns() / 1_000_000_000).unwrap_or(0)
}

/// Boot time in seconds since 1970.
pub(crate) fn booted() -> i64 {
    now() - uptime() as i64
}

/// The three load averages.
pub(crate) fn load() -> String {
    let text = text("/proc/loadavg").unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().take(3).collect();
    if words.len() == 3 { words.join(", ") } else { "0.00, 0.00, 0.00".to_owned() }
}

/// Amounts of memory in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) total: u64,
    pub(crate) free: u64,
    pub(crate) available: u64,
    pub(crate) shared: u64,
    pub(crate) buffers: u64,
    pub(crate) cache: u64,
    pub(crate) swap_total: u64,
    pub(crate) swap_free: u64,
}

impl Memory {
    pub(crate) fn now() -> Self {
        let text = text("/proc/meminfo").unwrap_or_default();
        let amount = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let of = |key: &str| amount(key).unwrap_or(0);
        Self {
            total: of("MemTotal:"),
            free: of("MemFree:"),
            available: amount("MemAvailable:").unwrap_or_else(|| of("MemFree:")),
            shared: of("Shmem:"),
            buffers: of("Buffers:"),
            cache: of("Cached:").saturating_add(of("SReclaimable:")),
            swap_total: of("SwapTotal:"),
            swap_free: of("SwapFree:"),
        }
    }
}
