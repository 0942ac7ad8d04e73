//! `getent`: entries of the databases in `/etc`.

use std::collections::BTreeSet;
use std::net::IpAddr;

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Output, read_all};

const USAGE: &str = "\
Usage: getent [OPTION...] database [key ...]
Get entries from administrative database.

";

const NOTES: &str = "
Supported databases:
ahosts ahostsv4 ahostsv6 group hosts passwd protocols services shadow
";

tidebox_gnu::options! {
    /// Options of `getent`. The only service is `files`, so they have no effect.
    enum Flag {
        NoAddrConfig = "-A, --no-addrconfig", "do not filter out unsupported IPv4/IPv6 addresses\n(with ahosts*)";
        NoIdn = "-i, --no-idn", "disable IDN encoding";
        Service = "-s, --service=CONFIG", "Service configuration to be used";
        Help = "-?, --help", "Give this help list";
        Usage = "--usage", "Give a short usage message";
        Version = "-V, --version", "Print program version";
    }
}

const SYNTAX: Syntax<'_, Flag> =
    Syntax { notes: NOTES, version: "getent (GNU libc) 2.36\n", ..Syntax::new("getent", USAGE, 29) };

const TRY: &str = "Try `getent --help' or `getent --usage' for more information.\n";

/// Exit code of a missing key.
const NOT_FOUND: i32 = 2;
/// Exit code of an unknown option, from `sysexits.h`.
const MISUSE: i32 = 64;

/// Runs `getent`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let operands = SYNTAX.parse::<ToolResult>(arguments, |flag, _| match flag {
        Flag::Usage => Err(SYNTAX.help().as_str().into()),
        _ => Ok(()),
    });
    let operands = match operands {
        Ok(operands) => operands,
        Err(ToolResult::Usage(message, _)) => {
            print_error("getent", &message);
            tidebox_gnu::eprint_part!("{TRY}");
            return MISUSE;
        }
        Err(result) => return result.into_exit_code("getent"),
    };
    let Some((database, keys)) = operands.split_first() else {
        return wrong("wrong number of arguments");
    };
    let keys: Vec<String> = keys.iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect();
    let mut out = Output::standard();
    let code = match database.as_slice() {
        b"passwd" => records("/etc/passwd", &keys, &mut out),
        b"group" => records("/etc/group", &keys, &mut out),
        b"shadow" => records("/etc/shadow", &keys, &mut out),
        b"services" => services(&keys, &mut out),
        b"protocols" => protocols(&keys, &mut out),
        b"hosts" => hosts(&keys, &mut out),
        b"ahosts" => addresses(&keys, |_| true, &mut out),
        b"ahostsv4" => addresses(&keys, IpAddr::is_ipv4, &mut out),
        b"ahostsv6" => addresses(&keys, IpAddr::is_ipv6, &mut out),
        other => {
            tidebox_gnu::eprint_line!("Unknown database: {}", String::from_utf8_lossy(other));
            out.push(TRY.as_bytes());
            1
        }
    };
    out.finish("getent", code)
}

fn wrong(message: &str) -> i32 {
    print_error("getent", message);
    tidebox_gnu::tool::print("getent", TRY.as_bytes());
    1
}

fn lines(file: &str) -> Vec<String> {
    // A missing database has no entries.
    let text = read_all(file.as_bytes()).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}

/// Prints the entry of each key, or all entries.
fn each<'a, T: 'a>(
    all: &'a [T],
    keys: &[String],
    out: &mut Output,
    matches: impl Fn(&T, &str) -> bool,
    format: impl Fn(&T) -> String,
) -> i32 {
    if keys.is_empty() {
        all.iter().for_each(|entry| out.push(format(entry).as_bytes()));
        return 0;
    }
    let mut code = 0;
    for key in keys {
        match all.iter().find(|entry| matches(entry, key)) {
            Some(entry) => out.push(format(entry).as_bytes()),
            None => code = NOT_FOUND,
        }
    }
    code
}

/// Prints lines of fields between colons. The first field is the name, the third is the number.
fn records(file: &str, keys: &[String], out: &mut Output) -> i32 {
    let all: Vec<String> =
        lines(file).into_iter().filter(|line| line.contains(':') && !line.starts_with('#')).collect();
    let numbers = file == "/etc/passwd" || file == "/etc/group";
    each(
        &all,
        keys,
        out,
        |line, key| {
            let mut fields = line.split(':');
            let name = fields.next();
            let is_number = numbers && !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
            if is_number { fields.nth(1) == Some(key) } else { name == Some(key) }
        },
        |line| format!("{line}\n"),
    )
}

/// Splits each line at white space, without comments.
fn words(file: &str) -> Vec<Vec<String>> {
    let bare =
        |line: String| line.split('#').next().unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    lines(file).into_iter().map(bare).filter(|words: &Vec<String>| words.len() > 1).collect()
}

/// Formats name, number, and other names in columns.
fn row(entry: &[String]) -> String {
    let (name, value) = (entry.first().map_or("", String::as_str), entry.get(1).map_or("", String::as_str));
    let others: String = entry.iter().skip(2).map(|other| format!(" {other}")).collect();
    format!("{name:<21} {value}{others}\n")
}

fn has_name(entry: &[String], key: &str) -> bool {
    entry.iter().enumerate().any(|(at, name)| at != 1 && name == key)
}

fn services(keys: &[String], out: &mut Output) -> i32 {
    let found = |entry: &Vec<String>, key: &str| {
        let (wanted, protocol) = key.split_once('/').map_or((key, None), |(name, protocol)| (name, Some(protocol)));
        let Some((port, kind)) = entry.get(1).and_then(|value| value.split_once('/')) else { return false };
        protocol.is_none_or(|protocol| protocol == kind) && (port == wanted || has_name(entry, wanted))
    };
    each(&words("/etc/services"), keys, out, found, |entry| row(entry))
}

fn protocols(keys: &[String], out: &mut Output) -> i32 {
    let matches =
        |entry: &Vec<String>, key: &str| entry.get(1).is_some_and(|number| number == key) || has_name(entry, key);
    each(&words("/etc/protocols"), keys, out, matches, |entry| row(entry))
}

/// Returns the lines of `/etc/hosts` that have an address.
fn known_hosts() -> Vec<(IpAddr, Vec<String>)> {
    let hosts = words("/etc/hosts").into_iter();
    hosts.filter_map(|words| Some((words.first()?.parse().ok()?, words.into_iter().skip(1).collect()))).collect()
}

fn hosts(keys: &[String], out: &mut Output) -> i32 {
    let found = |(address, names): &(IpAddr, Vec<String>), key: &str| {
        names.iter().any(|name| name.eq_ignore_ascii_case(key)) || key.parse() == Ok(*address)
    };
    each(&known_hosts(), keys, out, found, |(address, names)| {
        format!("{:<15} {}\n", address.to_string(), names.join(" "))
    })
}

fn addresses(keys: &[String], fits: impl Fn(&IpAddr) -> bool, out: &mut Output) -> i32 {
    let all: Vec<_> = known_hosts().into_iter().filter(|(address, _)| fits(address)).collect();
    if keys.is_empty() {
        return hosts(keys, out);
    }
    let mut code = 0;
    for key in keys {
        let given = key.parse::<IpAddr>().ok().filter(&fits);
        let named = all.iter().filter(|(_, names)| names.iter().any(|name| name.eq_ignore_ascii_case(key)));
        let found: Vec<IpAddr> = given.into_iter().chain(named.map(|(address, _)| *address)).collect();
        let mut seen = BTreeSet::new();
        for (at, address) in found.iter().filter(|address| seen.insert(**address)).enumerate() {
            let shown = address.to_string();
            let name = if at == 0 { key.as_str() } else { "" };
            out.push(format!("{shown:<15} STREAM {name}\n{shown:<15} DGRAM  \n{shown:<15} RAW    \n").as_bytes());
        }
        if found.is_empty() {
            code = NOT_FOUND;
        }
    }
    code
}
