//! `getconf`: constants of the system.

use tidebox_gnu::message::complain;

use crate::print;

const USAGE: &str = "Usage: getconf [-v specification] variable_name [pathname]\n       getconf -a [pathname]";

/// What a name stands for.
fn value(name: &str) -> Option<String> {
    let limits = tidebox_rt::limits().unwrap_or_default();
    Some(match name {
        "ARG_MAX" | "_POSIX_ARG_MAX" => "2097152".to_owned(),
        "CHAR_BIT" => "8".to_owned(),
        "CHILD_MAX" => limits.processes.to_string(),
        "CLK_TCK" => "100".to_owned(),
        "GNU_LIBC_VERSION" => return None,
        "HOST_NAME_MAX" => "64".to_owned(),
        "INT_MAX" => i32::MAX.to_string(),
        "INT_MIN" => i32::MIN.to_string(),
        "IOV_MAX" => "1024".to_owned(),
        "LINE_MAX" => "2048".to_owned(),
        "LOGIN_NAME_MAX" => "256".to_owned(),
        "LONG_BIT" => "64".to_owned(),
        "NAME_MAX" => "255".to_owned(),
        "NGROUPS_MAX" => "65536".to_owned(),
        "OPEN_MAX" => limits.descriptors.to_string(),
        "PAGESIZE" | "PAGE_SIZE" => "4096".to_owned(),
        "PATH" | "CS_PATH" => "/bin:/usr/bin".to_owned(),
        "PATH_MAX" => "4096".to_owned(),
        "PIPE_BUF" => "4096".to_owned(),
        "SSIZE_MAX" | "LONG_MAX" => i64::MAX.to_string(),
        "TZNAME_MAX" => String::new(),
        "UINT_MAX" => u32::MAX.to_string(),
        "WORD_BIT" => "32".to_owned(),
        "_NPROCESSORS_CONF" | "_NPROCESSORS_ONLN" => "1".to_owned(),
        "_PHYS_PAGES" | "_AVPHYS_PAGES" => memory_pages(name)?,
        "_POSIX_VERSION" | "_POSIX2_VERSION" => "200809".to_owned(),
        _ => return None,
    })
}

fn memory_pages(name: &str) -> Option<String> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let key = if name == "_PHYS_PAGES" { "MemTotal:" } else { "MemFree:" };
    let kib: u64 = text.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()?;
    Some((kib / 4).to_string())
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let words: Vec<String> = arguments.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let words: &[String] = match words.first().map(String::as_str) {
        Some("-v") => words.get(2..).unwrap_or_default(),
        _ => &words,
    };
    match words {
        [name] if name == "-a" => {
            complain("getconf", "the list of everything (-a) is not supported");
            2
        }
        [name] | [name, _] => match value(name) {
            Some(value) => print("getconf", format!("{value}\n").as_bytes()),
            None => {
                eprintln!("getconf: Unrecognized variable `{name}'");
                2
            }
        },
        _ => {
            eprintln!("{USAGE}");
            2
        }
    }
}
