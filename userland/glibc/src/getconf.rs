//! `getconf`: prints configuration values of the system.

use tidebox_gnu::message::print_error;
use tidebox_gnu::tool::print;
use tidebox_rt::Errno;

/// All names in list order: `-`, or `/` for a path variable, the name, and its value.
const NAMES: &str = include_str!("getconf/names.txt");

const USAGE: &str = "Usage: getconf [-v specification] variable_name [pathname]\n       getconf -a [pathname]";

const HELP: &str = "\
Usage: getconf [-v SPEC] VAR
  or:  getconf [-v SPEC] PATH_VAR PATH
  or:  getconf -a [PATH]
Print the value of the variable VAR, or of PATH_VAR for PATH; with -a, of all.
";

const UNDEFINED: &str = "undefined";

/// Exit code of a usage error.
const MISUSE: i32 = 2;
/// Exit code of a missing path.
const TROUBLE: i32 = 3;

/// A name of the list.
struct Variable<'a> {
    of_path: bool,
    name: &'a str,
    value: &'a str,
}

fn variables() -> impl Iterator<Item = Variable<'static>> {
    NAMES.lines().filter_map(|line| {
        let (kind, rest) = line.split_once(' ')?;
        let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
        Some(Variable { of_path: kind == "/", name, value })
    })
}

impl Variable<'_> {
    /// Returns the value. Some values are determined at run time.
    fn text(&self) -> String {
        let limits = tidebox_rt::limits().unwrap_or_default();
        match self.value {
            "{processes}" => limits.processes.to_string(),
            "{descriptors}" => limits.descriptors.to_string(),
            "{pages}" => memory_pages("MemTotal:"),
            "{free}" => memory_pages("MemFree:"),
            value => value.to_owned(),
        }
    }
}

fn memory_pages(key: &str) -> String {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let kib: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.map_or_else(|| UNDEFINED.to_owned(), |kib| (kib / 4).to_string())
}

/// Runs `getconf`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let words: Vec<String> = arguments.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    // All specifications are equal, because there is only one compilation environment.
    match words.first() {
        Some(&"-v") => drop(words.drain(..words.len().min(2))),
        Some(word) if word.starts_with("-v") => drop(words.remove(0)),
        _ => {}
    }
    match words.as_slice() {
        ["--help"] => print("getconf", HELP.as_bytes()),
        ["--version"] => print("getconf", b"getconf (Tidebox) with the names of GNU libc 2.36\n"),
        ["-a"] => list("/"),
        ["-a", path] => list(path),
        [name] => one(name, None),
        [name, path] => one(name, Some(path)),
        _ => usage(),
    }
}

fn usage() -> i32 {
    tidebox_gnu::eprint_line!("{USAGE}");
    MISUSE
}

fn one(name: &str, path: Option<&str>) -> i32 {
    let Some(variable) = variables().find(|variable| variable.name == name) else {
        print_error("getconf", &format!("Unrecognized variable `{name}'"));
        return MISUSE;
    };
    if variable.of_path != path.is_some() {
        return usage();
    }
    if let Some(errno) = path.and_then(missing) {
        print_error("getconf", &format!("pathconf: {}: {}", path.unwrap_or_default(), errno.text()));
        return TROUBLE;
    }
    print("getconf", format!("{}\n", variable.text()).as_bytes())
}

fn missing(path: &str) -> Option<Errno> {
    tidebox_rt::stat(path.as_bytes(), true).err()
}

/// Prints all names. Those of a missing path have no value.
fn list(path: &str) -> i32 {
    let gone = missing(path).is_some();
    let mut text = String::new();
    for variable in variables() {
        let value = if variable.of_path && gone { String::new() } else { variable.text() };
        let value = if value == UNDEFINED { "" } else { &value };
        text.push_str(&format!("{:<34} {value}\n", variable.name));
    }
    print("getconf", text.as_bytes())
}
