//! Columns of `ps`.

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::user::{Kind, Names};
use tidebox_gnu::zone::Zone;

use crate::process::{Memory, Process, booted, now, uptime};

/// A column: its value, header and width.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) key: &'static str,
    pub(crate) header: String,
    pub(crate) width: usize,
    right: bool,
}

/// Column names, values, headers, widths and alignment.
const KNOWN: &[(&str, &str, &str, usize, bool)] = &[
    ("%cpu", "%cpu", "%CPU", 4, true),
    ("%mem", "%mem", "%MEM", 4, true),
    ("args", "args", "COMMAND", 27, false),
    ("bsdstart", "bsdstart", "START", 6, true),
    ("bsdtime", "bsdtime", "TIME", 6, true),
    ("c", "c", "C", 2, true),
    ("cmd", "args", "CMD", 27, false),
    ("comm", "comm", "COMMAND", 15, false),
    ("command", "args", "COMMAND", 27, false),
    ("cputime", "time", "TIME", 8, true),
    ("egid", "gid", "EGID", 5, true),
    ("egroup", "group", "EGROUP", 8, false),
    ("etime", "etime", "ELAPSED", 11, true),
    ("etimes", "etimes", "ELAPSED", 7, true),
    ("euid", "uid", "EUID", 5, true),
    ("euser", "user", "EUSER", 8, false),
    ("f", "f", "F", 1, true),
    ("flag", "f", "F", 1, true),
    ("fname", "comm", "COMMAND", 8, false),
    ("gid", "gid", "GID", 5, true),
    ("group", "group", "GROUP", 8, false),
    ("lstart", "lstart", "STARTED", 24, true),
    ("ni", "ni", "NI", 3, true),
    ("nice", "ni", "NI", 3, true),
    ("nlwp", "nlwp", "NLWP", 4, true),
    ("pcpu", "%cpu", "%CPU", 4, true),
    ("pgid", "pgid", "PGID", 7, true),
    ("pgrp", "pgid", "PGRP", 7, true),
    ("pid", "pid", "PID", 7, true),
    ("pmem", "%mem", "%MEM", 4, true),
    ("ppid", "ppid", "PPID", 7, true),
    ("pri", "pri", "PRI", 3, true),
    ("rgroup", "group", "RGROUP", 8, false),
    ("rss", "rss", "RSS", 5, true),
    ("rsz", "rss", "RSZ", 5, true),
    ("ruid", "uid", "RUID", 5, true),
    ("ruser", "user", "RUSER", 8, false),
    ("s", "s", "S", 1, false),
    ("sess", "sid", "SESS", 7, true),
    ("sid", "sid", "SID", 7, true),
    ("size", "vsz", "SIZE", 5, true),
    ("start", "start", "STARTED", 8, true),
    ("start_time", "stime", "START", 5, true),
    ("stat", "stat", "STAT", 4, false),
    ("state", "s", "S", 1, false),
    ("stime", "stime", "STIME", 5, true),
    ("sz", "sz", "SZ", 5, true),
    ("thcount", "nlwp", "THCNT", 5, true),
    ("time", "time", "TIME", 8, true),
    ("tname", "tty", "TTY", 8, false),
    ("tt", "tty", "TT", 8, false),
    ("tty", "tty", "TT", 8, false),
    ("ucmd", "comm", "CMD", 15, false),
    ("ucomm", "comm", "COMMAND", 15, false),
    ("uid", "uid", "UID", 5, true),
    ("uname", "user", "USER", 8, false),
    ("user", "user", "USER", 8, false),
    ("vsize", "vsz", "VSZ", 6, true),
    ("vsz", "vsz", "VSZ", 6, true),
    ("wchan", "wchan", "WCHAN", 6, false),
];

/// The column with a name.
pub(crate) fn find(name: &str) -> Option<Column> {
    let (_, key, header, width, right) = KNOWN.iter().find(|(known, ..)| *known == name)?;
    Some(Column { key, header: (*header).to_owned(), width: *width, right: *right })
}

/// Parses columns like `pid,user:10,args=WHAT`. The error is the unknown name.
pub(crate) fn parse(text: &str) -> Result<Vec<Column>, String> {
    let mut columns = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find([',', ' ', '\t', '\n', '=']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        // The header follows the equals sign, up to the end.
        let header = after.strip_prefix('=');
        rest = if header.is_some() { "" } else { after.get(1..).unwrap_or_default() };
        if word.is_empty() && header.is_none() {
            continue;
        }
        let (name, width) = match word.split_once(':') {
            Some((name, width)) => (name, width.parse::<usize>().ok().filter(|width| *width > 0 && *width < 4096)),
            None => (word, None),
        };
        let mut column = find(&name.to_ascii_lowercase()).ok_or_else(|| name.to_owned())?;
        if let Some(width) = width {
            column.width = width;
        }
        if let Some(header) = header {
            column.width = column.width.max(header.chars().count());
            column.header = header.to_owned();
        }
        columns.push(column);
    }
    Ok(columns)
}

/// Data for computing values.
pub(crate) struct Context {
    users: Names,
    groups: Names,
    memory: Memory,
    uptime: f64,
    booted: i64,
    now: i64,
}

impl Context {
    pub(crate) fn new() -> Self {
        Self {
            users: Names::load(Kind::User),
            groups: Names::load(Kind::Group),
            memory: Memory::now(),
            uptime: uptime(),
            booted: booted(),
            now: now(),
        }
    }

    fn name(&self, names: &Names, id: u32) -> String {
        let name = names.name_or_id(id);
        // Names that do not fit are truncated and marked.
        if name.chars().count() > 8 { name.chars().take(7).chain(['+']).collect() } else { name }
    }

    fn started(&self, process: &Process) -> Moment {
        Zone::local().moment(self.booted + i64::try_from(process.started / 100).unwrap_or(0), 0)
    }

    fn elapsed(&self, process: &Process) -> u64 {
        (self.uptime as u64).saturating_sub(process.started / 100)
    }

    /// The value of a column.
    pub(crate) fn value(&self, key: &str, process: &Process) -> String {
        let dead = if process.state == 'Z' { " <defunct>" } else { "" };
        let field = |letter| self.started(process).field(letter).unwrap_or_default();
        let clock = |seconds: u64| {
            let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
            let days = if days > 0 { format!("{days}-") } else { String::new() };
            format!("{days}{hours:02}:{:02}:{:02}", seconds / 60 % 60, seconds % 60)
        };
        let used = process.used / 100;
        match key {
            "pid" => process.pid.to_string(),
            "ppid" => process.parent.to_string(),
            "pgid" => process.group.to_string(),
            "sid" => process.session.to_string(),
            "user" => self.name(&self.users, process.user),
            "group" => self.name(&self.groups, process.own_group),
            "uid" => process.user.to_string(),
            "gid" => process.own_group.to_string(),
            "comm" => format!("{}{dead}", process.name),
            "args" => process.command(),
            "tty" => "?".to_owned(),
            "s" => process.state.to_string(),
            "stat" => {
                let leads = if process.session == process.pid { "s" } else { "" };
                format!("{}{leads}", process.state)
            }
            "ni" => process.nice.to_string(),
            "pri" => (39 - process.priority).to_string(),
            "nlwp" => process.threads.to_string(),
            "vsz" => (process.memory / 1024).to_string(),
            "rss" => (process.resident / 1024).to_string(),
            "sz" => (process.memory / 4096).to_string(),
            "%cpu" => format!("{:.1}", self.share(process)),
            "c" => format!("{:.0}", self.share(process)),
            "%mem" => format!("{:.1}", 100.0 * (process.resident / 1024) as f64 / self.memory.total.max(1) as f64),
            "time" => clock(used),
            "bsdtime" => format!("{}:{:02}", used / 60, used % 60),
            "etimes" => self.elapsed(process).to_string(),
            "etime" => {
                let text = clock(self.elapsed(process));
                text.strip_prefix("00:").map(str::to_owned).unwrap_or(text)
            }
            "lstart" => field('c'),
            "start" => {
                if self.is_today(process) {
                    field('T')
                } else {
                    format!("{} {}", field('b'), field('d'))
                }
            }
            "stime" => {
                if self.is_today(process) {
                    field('R')
                } else {
                    format!("{}{}", field('b'), field('d'))
                }
            }
            "bsdstart" => {
                if self.is_today(process) {
                    field('R')
                } else {
                    format!("{} {}", field('b'), field('e'))
                }
            }
            "f" => "4".to_owned(),
            _ => "-".to_owned(),
        }
    }

    fn is_today(&self, process: &Process) -> bool {
        self.now - self.started(process).seconds < 86_400
    }

    /// CPU use since the start of the process, in percent.
    fn share(&self, process: &Process) -> f64 {
        let lived = self.uptime - process.started as f64 / 100.0;
        if lived > 0.0 { process.used as f64 / lived } else { 0.0 }
    }
}

/// A line of a table; the last column is as long as it is.
pub(crate) fn line(columns: &[Column], cells: &[String]) -> String {
    let mut out = String::new();
    for (at, (column, cell)) in columns.iter().zip(cells).enumerate() {
        let (width, last) = (column.width, at + 1 == columns.len());
        match (column.right, last) {
            (true, _) => out.push_str(&format!("{cell:>width$}")),
            (false, true) => out.push_str(cell),
            (false, false) if column.key == "args" || column.key == "comm" => {
                out.push_str(&format!("{cell:<width$.width$}"));
            }
            (false, false) => out.push_str(&format!("{cell:<width$}")),
        }
        if !last {
            out.push(' ');
        }
    }
    out.push('\n');
    out
}
