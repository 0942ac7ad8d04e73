//! Processes out of `/proc`.

use tidebox_gnu::stream::read_all;

/// A process as it is when it is looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    pub(crate) state: char,
    pub(crate) name: String,
    pub(crate) arguments: Vec<Vec<u8>>,
    pub(crate) user: u32,
    pub(crate) own_group: u32,
    pub(crate) nice: i64,
    pub(crate) priority: i64,
    pub(crate) threads: u64,
    /// Bytes.
    pub(crate) memory: u64,
    pub(crate) resident: u64,
    /// Hundredths of a second: of the processor, and of the start since the system began.
    pub(crate) used: u64,
    pub(crate) started: u64,
}

fn text(path: &str) -> Option<String> {
    read_all(path.as_bytes()).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

impl Process {
    /// The processes of now, by their numbers.
    pub(crate) fn all() -> Vec<Self> {
        let entries = tidebox_rt::read_dir(b"/proc").unwrap_or_default();
        let number = |entry: &tidebox_rt::Entry| std::str::from_utf8(&entry.name).ok()?.parse::<u32>().ok();
        let mut pids: Vec<u32> = entries.iter().filter_map(number).collect();
        pids.sort_unstable();
        // One that has just ended is not there.
        pids.into_iter().filter_map(Self::read).collect()
    }

    fn read(pid: u32) -> Option<Self> {
        let stat = text(&format!("/proc/{pid}/stat"))?;
        // The name stands in parentheses and may hold some.
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

    /// The whole command line; of one that has none, the name in brackets.
    pub(crate) fn command(&self) -> String {
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

/// Seconds since the system began, with their fraction.
pub(crate) fn uptime() -> f64 {
    let text = text("/proc/uptime").unwrap_or_default();
    text.split_whitespace().next().and_then(|seconds| seconds.parse().ok()).unwrap_or(0.0)
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    i64::try_from(tidebox_rt::realtime_ns() / 1_000_000_000).unwrap_or(0)
}

/// When the system began, in seconds since 1970.
pub(crate) fn booted() -> i64 {
    now() - uptime() as i64
}

/// The three averages of how much there was to do.
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
