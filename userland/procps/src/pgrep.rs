//! `pgrep`, `pkill` and `pidof`: processes by their names.

use regex_lite::Regex;
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::Errno;

use crate::process::{Process, uptime};
use crate::{print, usage_error};

const PGREP_USAGE: &str = "
Usage:
 pgrep [options] <pattern>

Lists the numbers of processes whose name matches a pattern.

Options:
";

const PKILL_USAGE: &str = "
Usage:
 pkill [options] <pattern>

Sends a signal to processes whose name matches a pattern.

Options:
";

tidebox_gnu::options! {
    /// Options of `pgrep` and `pkill`.
    enum Flag {
        Signal = "--signal <signal>", "signal to send (TERM); -<signal> does the same";
        Delimiter = "-d, --delimiter <string>", "separator of process ids";
        ListName = "-l, --list-name", "list name and number";
        ListFull = "-a, --list-full", "list command line and number";
        Lightweight = "-w", "";
        Echo = "-e, --echo", "display what is killed";
        Count = "-c, --count", "count of matching processes";
        Full = "-f, --full", "use full command line to match";
        Pgroup = "-g, --pgroup <id,...>", "match listed process group IDs";
        Group = "-G, --group <gid,...>", "match real group IDs";
        IgnoreCase = "-i, --ignore-case", "match case insensitively";
        Newest = "-n, --newest", "select most recently started";
        Oldest = "-o, --oldest", "select least recently started";
        Older = "-O, --older <seconds>", "select where older than seconds";
        Parent = "-P, --parent <ppid,...>", "match only children of the given parent";
        Session = "-s, --session <sid,...>", "match session IDs";
        Euid = "-u, --euid <id,...>", "match by effective IDs";
        Uid = "-U, --uid <id,...>", "match by real IDs";
        Inverse = "-v, --inverse", "negates the matching";
        Exact = "-x, --exact", "match exactly with the command name";
        Pidfile = "-F, --pidfile <file>", "read PIDs from file";
        Runstates = "-r, --runstates <state>", "match runstates [D,S,Z,...]";
        IgnoreAncestors = "-A, --ignore-ancestors", "exclude our ancestors from results";
        Help = "-h, --help", "display this help and exit";
        Version = "-V, --version", "output version information and exit";
    }
}

/// The number of a signal by its name or its digits.
pub(crate) fn signal(text: &str) -> Option<u32> {
    if let Ok(number) = text.parse::<u32>() {
        return (number < 65).then_some(number);
    }
    tidebox_gnu::signal::number(text)
}

#[derive(Default)]
struct Search {
    pattern: Option<String>,
    full: bool,
    exact: bool,
    ignore_case: bool,
    inverse: bool,
    newest: bool,
    oldest: bool,
    older: Option<u64>,
    groups: Option<Vec<u32>>,
    own_groups: Option<Vec<u32>>,
    parents: Option<Vec<u32>>,
    sessions: Option<Vec<u32>>,
    users: Option<Vec<u32>>,
    pids: Option<Vec<u32>>,
    states: Option<String>,
    ancestors_out: bool,
}

impl Search {
    fn has_criteria(&self) -> bool {
        let lists = [&self.groups, &self.own_groups, &self.parents, &self.sessions, &self.users, &self.pids];
        self.pattern.is_some()
            || lists.iter().any(|list| list.is_some())
            || self.states.is_some()
            || self.older.is_some()
    }

    /// The matching processes, excluding the caller.
    fn run(&self) -> Result<Vec<Process>, String> {
        let pattern = match &self.pattern {
            None => None,
            Some(pattern) => {
                let whole = if self.exact { format!("^(?:{pattern})$") } else { pattern.clone() };
                let whole = if self.ignore_case { format!("(?i){whole}") } else { whole };
                Some(Regex::new(&whole).map_err(|_| format!("regex error: Invalid regular expression: {pattern}"))?)
            }
        };
        let all = Process::all();
        let own = tidebox_rt::getids().unwrap_or_default();
        let ancestors = if self.ancestors_out { ancestors(&all, own.ppid) } else { Vec::new() };
        let within = |list: &Option<Vec<u32>>, value: u32| list.as_ref().is_none_or(|list| list.contains(&value));
        let fits = |process: &Process| {
            let text =
                if self.full && !process.arguments.is_empty() { process.command() } else { process.name.clone() };
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(&text))
                && within(&self.groups, process.group)
                && within(&self.own_groups, process.own_group)
                && within(&self.parents, process.parent)
                && within(&self.sessions, process.session)
                && within(&self.users, process.user)
                && within(&self.pids, process.pid)
                && self.states.as_ref().is_none_or(|states| states.contains(process.state))
                && self.older.is_none_or(|age| (uptime() as u64).saturating_sub(process.started / 100) >= age)
        };
        let mut found: Vec<Process> = all
            .into_iter()
            .filter(|process| process.pid != own.pid && !ancestors.contains(&process.pid))
            .filter(|process| fits(process) != self.inverse)
            .collect();
        let key = |process: &Process| (process.started, process.pid);
        if self.newest {
            found = found.into_iter().max_by_key(key).into_iter().collect();
        } else if self.oldest {
            found = found.into_iter().min_by_key(key).into_iter().collect();
        }
        Ok(found)
    }
}

fn ancestors(all: &[Process], first: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut next = first;
    while next != 0 && !found.contains(&next) {
        found.push(next);
        next = all.iter().find(|process| process.pid == next).map_or(0, |process| process.parent);
    }
    found
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split(',').map(|word| word.parse().ok()).collect()
}

fn ids(text: &str, kind: Kind) -> Result<Vec<u32>, String> {
    let (names, what) = (Names::load(kind), if kind == Kind::User { "user" } else { "group" });
    text.split(',').map(|word| names.id(word).ok_or_else(|| format!("invalid {what} name: {word}"))).collect()
}

/// Output format of the matches.
struct Shown {
    delimiter: String,
    names: bool,
    full: bool,
    count: bool,
    echo: bool,
    signal: u32,
}

/// Options not supported by `pkill`.
const KILLS_WITHOUT: &[Flag] = &[Flag::Delimiter, Flag::ListName, Flag::ListFull, Flag::Lightweight];

/// `pgrep`.
pub fn pgrep(arguments: Vec<Vec<u8>>) -> i32 {
    run("pgrep", arguments)
}

/// `pkill`.
pub fn pkill(arguments: Vec<Vec<u8>>) -> i32 {
    run("pkill", arguments)
}

fn run(tool: &'static str, mut arguments: Vec<Vec<u8>>) -> i32 {
    let kills = tool == "pkill";
    let mut search = Search::default();
    let mut shown =
        Shown { delimiter: "\n".to_owned(), names: false, full: false, count: false, echo: false, signal: 15 };
    if kills {
        // `-9` and `-KILL` are signals and not options.
        let asked = arguments.iter().position(|word| {
            word.strip_prefix(b"-").is_some_and(|name| name.len() > 1 || name.first().is_some_and(u8::is_ascii_digit))
                && word.strip_prefix(b"-").and_then(|name| signal(std::str::from_utf8(name).ok()?)).is_some()
        });
        if let Some(at) = asked {
            let word = arguments.remove(at);
            let name = String::from_utf8_lossy(word.get(1..).unwrap_or_default()).into_owned();
            shown.signal = signal(&name).unwrap_or(15);
        }
    }
    let version = format!("{tool} from procps-ng 4.0.2\n");
    let line = Syntax {
        indent: 1,
        version: &version,
        usage_exit_code: 2,
        without: if kills { KILLS_WITHOUT } else { &[Flag::Echo] },
        ..Syntax::new(tool, if kills { PKILL_USAGE } else { PGREP_USAGE }, 29)
    };
    let read = line.parse(arguments, |flag, value| {
        set(&mut search, &mut shown, flag, &String::from_utf8_lossy(&value))
            .map_err(|message| ToolResult::Usage(message, 2))
    });
    let mut patterns: Vec<String> = match read {
        Ok(words) => words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
        Err(ToolResult::Usage(message, code)) => return usage_error(tool, &message, &line.help(), code),
        Err(answer) => return answer.into_exit_code(tool),
    };
    if patterns.len() > 1 {
        print_error(tool, "only one pattern can be provided");
        tidebox_gnu::eprint_line!("Try `{tool} --help' for more information.");
        return 2;
    }
    search.pattern = patterns.pop();
    if !search.has_criteria() {
        print_error(tool, "no matching criteria specified");
        tidebox_gnu::eprint_line!("Try `{tool} --help' for more information.");
        return 2;
    }
    let found = match search.run() {
        Ok(found) => found,
        Err(message) => {
            print_error(tool, &message);
            return 2;
        }
    };
    if kills { kill(&found, &shown) } else { list(&found, &shown) }
}

fn set(search: &mut Search, shown: &mut Shown, flag: Flag, value: &str) -> Result<(), String> {
    let list = || numbers(value).ok_or_else(|| format!("invalid argument: {value}"));
    match flag {
        Flag::Signal => shown.signal = signal(value).ok_or_else(|| format!("Unknown signal \"{value}\"."))?,
        Flag::Count => shown.count = true,
        Flag::Delimiter => shown.delimiter = value.to_owned(),
        Flag::Echo => shown.echo = true,
        Flag::ListName => shown.names = true,
        Flag::ListFull => shown.full = true,
        Flag::Full => search.full = true,
        Flag::Pgroup => search.groups = Some(list()?),
        Flag::Group => search.own_groups = Some(ids(value, Kind::Group)?),
        Flag::IgnoreCase => search.ignore_case = true,
        Flag::IgnoreAncestors => search.ancestors_out = true,
        Flag::Newest => search.newest = true,
        Flag::Oldest => search.oldest = true,
        Flag::Older => search.older = Some(value.parse().map_err(|_| format!("invalid argument: {value}"))?),
        Flag::Parent => search.parents = Some(list()?),
        Flag::Session => search.sessions = Some(list()?),
        Flag::Euid | Flag::Uid => search.users = Some(ids(value, Kind::User)?),
        Flag::Inverse => search.inverse = true,
        Flag::Exact => search.exact = true,
        Flag::Runstates => search.states = Some(value.to_owned()),
        Flag::Pidfile => {
            let text = tidebox_gnu::stream::read_all(value.as_bytes()).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let pid = text.split_whitespace().next().and_then(|word| word.parse().ok());
            search.pids = Some(vec![pid.ok_or("pidfile not valid")?]);
        }
        _ => {}
    }
    Ok(())
}

fn list(found: &[Process], shown: &Shown) -> i32 {
    let code = i32::from(found.is_empty());
    if shown.count {
        return print("pgrep", &format!("{}\n", found.len()), code);
    }
    let line = |process: &Process| match (shown.full, shown.names) {
        (true, _) => format!("{} {}", process.pid, process.command()),
        (_, true) => format!("{} {}", process.pid, process.name),
        _ => process.pid.to_string(),
    };
    let lines: Vec<String> = found.iter().map(line).collect();
    let end = if lines.is_empty() { "" } else { "\n" };
    print("pgrep", &(lines.join(&shown.delimiter) + end), code)
}

fn kill(found: &[Process], shown: &Shown) -> i32 {
    let mut killed = 0;
    let mut out = String::new();
    for process in found {
        let result = i32::try_from(process.pid).map_err(|_| Errno::SRCH);
        match result.and_then(|pid| tidebox_rt::kill(pid, shown.signal)) {
            Ok(()) => {
                killed += 1;
                if shown.echo {
                    out.push_str(&format!("{} killed (pid {})\n", process.name, process.pid));
                }
            }
            // A process that has just exited needs no signal.
            Err(Errno::SRCH) => {}
            Err(errno) => print_error("pkill", &format!("killing pid {} failed: {}", process.pid, errno.text())),
        }
    }
    if shown.count {
        out.push_str(&format!("{}\n", found.len()));
    }
    print("pkill", &out, i32::from(killed == 0))
}

tidebox_gnu::options! {
    /// Options of `pidof`.
    enum PidofFlag {
        Single = "-s", "";
        Quiet = "-q", "";
        Scripts = "-x", "";
        Omit = "-o PID", "";
        Separator = "-S SEP, -d SEP", "";
        Version = "-V", "";
        Ignored = "-c, -n, -z, -h", "";
    }
}

/// `pidof`.
pub fn pidof(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut single, mut quiet, mut scripts) = (false, false, false);
    let (mut omitted, mut separator) = (Vec::new(), " ".to_owned());
    let line = Syntax::new("pidof", "", 0);
    let read = line.parse::<ToolResult>(arguments, |flag, value| {
        let value = String::from_utf8_lossy(&value).into_owned();
        match flag {
            PidofFlag::Single => single = true,
            PidofFlag::Quiet => quiet = true,
            PidofFlag::Scripts => scripts = true,
            PidofFlag::Omit => omitted.extend(value.split(',').filter_map(|word| match word {
                "%PPID" => Some(tidebox_rt::getids().map_or(0, |ids| ids.ppid)),
                word => word.parse().ok(),
            })),
            PidofFlag::Separator => separator = value,
            PidofFlag::Version => return Err("pidof from procps-ng 4.0.2\n".into()),
            PidofFlag::Ignored => {}
        }
        Ok(())
    });
    let names: Vec<String> = match read {
        Ok(words) => words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
        Err(ToolResult::Usage(message, code)) => {
            print_error("pidof", &message);
            return code;
        }
        Err(answer) => return answer.into_exit_code("pidof"),
    };
    let mut found: Vec<u32> = Process::all()
        .into_iter()
        .filter(|process| !omitted.contains(&process.pid) && process.state != 'Z')
        .filter(|process| names.iter().any(|name| is_called(process, name, scripts)))
        .map(|process| process.pid)
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(if single { 1 } else { usize::MAX });
    if found.is_empty() {
        return 1;
    }
    let pids: Vec<String> = found.iter().map(u32::to_string).collect();
    if quiet { 0 } else { print("pidof", &(pids.join(&separator) + "\n"), 0) }
}

fn is_called(process: &Process, name: &str, scripts: bool) -> bool {
    let last = |word: &[u8]| {
        let text = String::from_utf8_lossy(word).into_owned();
        text.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let word =
        |at: usize| process.arguments.get(at).map(|word| (String::from_utf8_lossy(word).into_owned(), last(word)));
    let fits = |(whole, last): (String, String)| whole == name || last == name || whole.strip_prefix('-') == Some(name);
    process.name == name || word(0).is_some_and(fits) || scripts && word(1).is_some_and(fits)
}
