//! `ps`: the current processes.

use std::cmp::Ordering;

use tidebox_gnu::user::{Kind, Names};

use crate::columns::{Column, Context, find, line, parse};
use crate::forest::{Style, sort_as_tree};
use crate::print;
use crate::process::Process;

const USAGE: &str = "
Usage:
 ps [options]

 Try 'ps --help <simple|list|output|threads|misc|all>'
  or 'ps --help <s|l|o|t|m|a>'
 for additional help text.

For more details see ps(1).
";

const HELP: &str = "
Usage:
 ps [options]

Which processes:
 -A, -e               all processes
 -a, -d, T            processes of the terminal (there is none, so all)
 a, x, ax             all processes
 -C <command>         command name
 -g, --group <GID>    session or group
 -G, --Group <GID>    real group id or name
 -N, --deselect       all that the others leave out
 -p, p, --pid <PID>   process id
     --ppid <PID>     parent process id
 -q, q, --quick-pid <PID>  process id
 -s, --sid <session>  session id
 -t, t, --tty <tty>   terminal
 -u, U, --user <UID>  effective user id or name
 -U, --User <UID>     real user id or name

How they are shown:
 -f                   full-format, including command lines
 -F                   extra full
 -j, j                jobs format
 -l, l                long format
 -o, o, --format <format>  user-defined format
 -O, O <format>       preloaded with default columns
 u, v                 other formats
 --no-headers         do not print header at all
 --sort <spec>        specify sort order as: [+|-]key[,[+|-]key[,...]]
 f, --forest          show a tree, with lines
 -H                   show a tree
 w, -w                (have no effect: lines are not cut)
 -V, --version        display version information
";

/// Selection and format.
#[derive(Default)]
struct Selection {
    everyone: bool,
    /// Requested without dashes, which shows states.
    bsd: bool,
    deselect: bool,
    pids: Option<Vec<u32>>,
    parents: Option<Vec<u32>>,
    groups: Option<Vec<u32>>,
    names: Option<Vec<String>>,
    users: Option<Vec<u32>>,
    own_groups: Option<Vec<u32>>,
    ttys: Option<Vec<String>>,
    columns: Vec<Column>,
    format: Option<&'static str>,
    no_headers: bool,
    tree: Option<Style>,
    sort: Vec<(bool, &'static str)>,
}

/// Reason to show nothing: a message and the usage, or a text and exit.
enum Stop {
    Wrong(String),
    Print(&'static str),
}

fn usage_error(message: &str) -> Stop {
    Stop::Wrong(message.to_owned())
}

/// Runs `ps`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let words: Vec<String> = arguments.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    match read(&words) {
        Ok(selection) => show(selection),
        Err(Stop::Print(text)) => print("ps", text, 0),
        Err(Stop::Wrong(message)) => {
            tidebox_gnu::eprint_part!("error: {message}\n{USAGE}");
            1
        }
    }
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ', '\t']).filter(|word| !word.is_empty())
}

fn numbers(text: &str, what: &str) -> Result<Vec<u32>, Stop> {
    let words: Vec<&str> = list(text).collect();
    if words.is_empty() {
        return Err(usage_error(what));
    }
    words.into_iter().map(|word| word.parse().map_err(|_| usage_error(what))).collect()
}

fn ids(text: &str, kind: Kind) -> Result<Vec<u32>, Stop> {
    let (names, what) =
        (Names::load(kind), if kind == Kind::User { "user name does not exist" } else { "group name does not exist" });
    list(text).map(|word| names.id(word).ok_or_else(|| usage_error(what))).collect()
}

fn read(words: &[String]) -> Result<Selection, Stop> {
    let mut selection = Selection::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
            selection.long(name, value, &mut rest)?;
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            match letters.parse::<u32>() {
                Ok(pid) => selection.pids.get_or_insert_default().push(pid),
                Err(_) => selection.cluster(letters, true, &mut rest)?,
            }
        } else if word.starts_with(|letter: char| letter.is_ascii_digit()) {
            selection.pids.get_or_insert_default().extend(numbers(word, "process ID list syntax error")?);
        } else {
            selection.cluster(word, false, &mut rest)?;
        }
    }
    Ok(selection)
}

impl Selection {
    fn long<'a>(
        &mut self,
        name: &str,
        value: Option<String>,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), Stop> {
        let mut value =
            || value.clone().or_else(|| rest.next().cloned()).ok_or_else(|| usage_error("option requires an argument"));
        match name {
            "help" => return Err(Stop::Print(HELP)),
            "version" => return Err(Stop::Print("ps from procps-ng 4.0.2\n")),
            "no-headers" | "no-heading" | "noheaders" | "noheader" | "no-header" => self.no_headers = true,
            "headers" | "cols" | "columns" | "width" | "rows" | "lines" | "cumulative" => {
                if matches!(name, "cols" | "columns" | "width" | "rows" | "lines") {
                    value()?;
                }
            }
            "forest" => self.tree = Some(Style::Lines),
            "deselect" => self.deselect = true,
            "pid" | "quick-pid" => {
                self.pids.get_or_insert_default().extend(numbers(&value()?, "process ID list syntax error")?);
            }
            "ppid" => self.parents.get_or_insert_default().extend(numbers(&value()?, "process ID list syntax error")?),
            "user" | "User" => self.users.get_or_insert_default().extend(ids(&value()?, Kind::User)?),
            "group" | "Group" => self.own_groups.get_or_insert_default().extend(ids(&value()?, Kind::Group)?),
            "sid" => self.groups.get_or_insert_default().extend(numbers(&value()?, "process ID list syntax error")?),
            "tty" => self.ttys.get_or_insert_default().push(value()?),
            "format" => self.columns_of(&value()?)?,
            "sort" => self.sort_by(&value()?)?,
            _ => return Err(usage_error("unknown gnu long option")),
        }
        Ok(())
    }

    fn columns_of(&mut self, text: &str) -> Result<(), Stop> {
        let columns =
            parse(text).map_err(|name| Stop::Wrong(format!("unknown user-defined format specifier \"{name}\"")))?;
        self.columns.extend(columns);
        Ok(())
    }

    fn sort_by(&mut self, text: &str) -> Result<(), Stop> {
        for word in list(text) {
            let (down, name) = match word.strip_prefix('-') {
                Some(name) => (true, name),
                None => (false, word.strip_prefix('+').unwrap_or(word)),
            };
            let column = find(&name.to_ascii_lowercase()).ok_or_else(|| usage_error("unknown sort specifier"))?;
            self.sort.push((down, column.key));
        }
        Ok(())
    }

    fn cluster<'a>(
        &mut self,
        letters: &str,
        dashed: bool,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), Stop> {
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            // The value follows in the same argument, or is the next argument.
            let mut value = || {
                let attached = letters.as_str().to_owned();
                letters = "".chars();
                let value = if attached.is_empty() { rest.next().cloned() } else { Some(attached) };
                value.ok_or_else(|| usage_error("option requires an argument"))
            };
            match (letter, dashed) {
                ('A' | 'e' | 'a' | 'd', true) => self.everyone = true,
                ('a' | 'x' | 'T' | 'g' | 'r', false) => (self.everyone, self.bsd) = (true, true),
                ('N', true) => self.deselect = true,
                ('f', true) => self.format = Some("f"),
                ('F', true) => self.format = Some("F"),
                ('l', _) => self.format = Some(if dashed { "l" } else { "bsd l" }),
                ('j', _) => self.format = Some(if dashed { "j" } else { "bsd j" }),
                ('u', false) => self.format = Some("u"),
                ('v', false) => self.format = Some("v"),
                ('X' | 's', false) => return Err(usage_error("this format is not supported")),
                ('o', _) => {
                    let text = value()?;
                    self.columns_of(&text)?;
                }
                ('O', _) => {
                    let text = value()?;
                    self.columns_of("pid")?;
                    self.columns_of(&text)?;
                    self.columns_of(if dashed { "s,tname,time,cmd" } else { "stat,tname,bsdtime,command" })?;
                }
                ('p' | 'q', _) => {
                    let text = value()?;
                    self.pids.get_or_insert_default().extend(numbers(&text, "process ID list syntax error")?);
                }
                ('C', true) => {
                    let text = value()?;
                    self.names.get_or_insert_default().extend(list(&text).map(str::to_owned));
                }
                ('u' | 'U', true) | ('U', false) => {
                    let text = value()?;
                    self.users.get_or_insert_default().extend(ids(&text, Kind::User)?);
                }
                ('G', true) => {
                    let text = value()?;
                    self.own_groups.get_or_insert_default().extend(ids(&text, Kind::Group)?);
                }
                ('g' | 's', true) => {
                    let text = value()?;
                    self.groups.get_or_insert_default().extend(numbers(&text, "process ID list syntax error")?);
                }
                ('t', _) => {
                    let text = value()?;
                    self.ttys.get_or_insert_default().push(text);
                }
                ('h', false) => self.no_headers = true,
                ('k', false) => {
                    let text = value()?;
                    self.sort_by(&text)?;
                }
                ('V', _) => return Err(Stop::Print("ps from procps-ng 4.0.2\n")),
                ('H', true) => self.tree = Some(Style::Blanks),
                ('f', false) => self.tree = Some(Style::Lines),
                // Line truncation; lines are not truncated here.
                ('w' | 'c' | 'y' | 'M' | 'Z', true) | ('w' | 'e' | 'c' | 'n' | 'S' | 'm' | 'H', false) => {}
                (_, true) => return Err(usage_error("unsupported SysV option")),
                (_, false) => return Err(usage_error("unsupported option (BSD syntax)")),
            }
        }
        Ok(())
    }

    fn selects(&self, process: &Process, own: u32) -> bool {
        let mut given = false;
        let mut any = false;
        let mut of = |is_given: bool, fits: bool| {
            given |= is_given;
            any |= is_given && fits;
        };
        let has = |list: &Option<Vec<u32>>, value: u32| list.as_ref().is_some_and(|list| list.contains(&value));
        of(self.everyone, true);
        of(self.pids.is_some(), has(&self.pids, process.pid));
        of(self.parents.is_some(), has(&self.parents, process.parent));
        of(self.groups.is_some(), has(&self.groups, process.session) || has(&self.groups, process.group));
        of(self.users.is_some(), has(&self.users, process.user));
        of(self.own_groups.is_some(), has(&self.own_groups, process.own_group));
        let names = self.names.as_ref();
        of(names.is_some(), names.is_some_and(|names| names.contains(&process.name)));
        let ttys = self.ttys.as_ref();
        of(ttys.is_some(), ttys.is_some_and(|ttys| ttys.iter().any(|tty| tty == "?" || tty == "-")));
        // Without a terminal, all processes of the caller count as on the caller's terminal.
        let chosen = if given { any } else { process.user == own };
        chosen != self.deselect
    }

    fn format(&self) -> Vec<Column> {
        if !self.columns.is_empty() {
            return self.columns.clone();
        }
        let text = match self.format {
            Some("f") => "user:8=UID,pid,ppid,c,stime,tname,time,args=CMD",
            Some("F") => "user:8=UID,pid,ppid,c,sz,rss,stime,tname,time,args=CMD",
            Some("l") => "f,s,uid,pid,ppid,c,pri,ni,wchan:4=ADDR,sz,wchan,tname,time,ucmd",
            Some("bsd l") => "f,uid,pid,ppid,pri,ni,vsz,rss,wchan,stat,tname,bsdtime,command",
            Some("j") => "pid,pgid,sid,tname,time,ucmd",
            Some("bsd j") => "ppid,pid,pgid,sid,tname,stat,uid,bsdtime,command",
            Some("u") => "user,pid,%cpu,%mem,vsz,rss,tname,stat,bsdstart,bsdtime,command",
            Some("v") => "pid,tname,stat,time,vsz,rss,%mem,command",
            _ if self.bsd => "pid,tname,stat,bsdtime,command",
            _ => "pid,tname,time,ucmd",
        };
        split(text).iter().filter_map(|word| parse(word).ok()).flatten().collect()
    }
}

/// Column names one by one, because a header after an equals sign ends a list.
fn split(text: &str) -> Vec<&str> {
    text.split(',').collect()
}

fn show(selection: Selection) -> i32 {
    let columns = selection.format();
    let context = Context::new();
    let own = tidebox_rt::getids().map_or(0, |ids| ids.uid);
    let mut processes: Vec<Process> =
        Process::all().into_iter().filter(|process| selection.selects(process, own)).collect();
    processes.sort_by(|a, b| {
        let by = |(down, key): &(bool, &'static str)| {
            let (left, right) = (context.value(key, a), context.value(key, b));
            let order = match (left.parse::<f64>(), right.parse::<f64>()) {
                (Ok(left), Ok(right)) => left.partial_cmp(&right).unwrap_or(Ordering::Equal),
                _ => left.cmp(&right),
            };
            if *down { order.reverse() } else { order }
        };
        selection.sort.iter().map(by).find(|order| *order != Ordering::Equal).unwrap_or_else(|| a.pid.cmp(&b.pid))
    });
    let mut out = String::new();
    let headers: Vec<String> = columns.iter().map(|column| column.header.clone()).collect();
    if !selection.no_headers && headers.iter().any(|header| !header.is_empty()) {
        out.push_str(&line(&columns, &headers));
    }
    let none = processes.is_empty();
    let rows = match selection.tree {
        Some(style) => sort_as_tree(processes, style),
        None => processes.into_iter().map(|process| (String::new(), process)).collect(),
    };
    for (lead, process) in &rows {
        let cell = |column: &Column| {
            let value = context.value(column.key, process);
            if matches!(column.key, "args" | "comm") { format!("{lead}{value}") } else { value }
        };
        out.push_str(&line(&columns, &columns.iter().map(cell).collect::<Vec<_>>()));
    }
    print("ps", &out, i32::from(none))
}
