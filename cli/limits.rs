//! `--limits key=value,...`: the fields of [`Limits`] by name.

use std::fmt::Write as _;

use crate::Limits;

use crate::cli::args::parse_seconds;

/// A limit of `--limits`.
struct LimitKey {
    name: &'static str,
    /// Description for the help.
    meaning: &'static str,
    set: fn(&mut Limits, &str) -> Result<(), String>,
    /// Copies the value of the second argument.
    copy: fn(&mut Limits, &Limits),
    /// Formats the value as the user would type it.
    show: fn(&Limits) -> String,
}

/// A key with a count or a size in bytes.
macro_rules! number {
    ($name:literal, $field:ident, $meaning:literal) => {
        LimitKey {
            name: $name,
            meaning: $meaning,
            set: |limits, text| {
                limits.$field = size(text)?.try_into().map_err(|_| format!("{text:?} is too large"))?;
                Ok(())
            },
            copy: |limits, from| limits.$field = from.$field,
            show: |limits| format_size(limits.$field.into()),
        }
    };
}

const KEYS: &[LimitKey] = &[
    LimitKey {
        name: "wall-time",
        meaning: "seconds per command",
        set: |limits, text| {
            limits.wall_time = parse_seconds(text)?;
            Ok(())
        },
        copy: |limits, from| limits.wall_time = from.wall_time,
        show: |limits| limits.wall_time.as_secs_f64().to_string(),
    },
    LimitKey {
        name: "cpu-time",
        meaning: "seconds of processor time per command, or none",
        set: |limits, text| {
            limits.cpu_time = if text == "none" { None } else { Some(parse_seconds(text)?) };
            Ok(())
        },
        copy: |limits, from| limits.cpu_time = from.cpu_time,
        show: |limits| limits.cpu_time.map_or_else(|| "none".to_owned(), |time| time.as_secs_f64().to_string()),
    },
    number!("memory", sandbox_memory_bytes, "memory of all processes together"),
    number!("process-memory", process_memory_bytes, "memory of one process"),
    number!("processes", processes, "concurrent processes"),
    number!("descriptors", descriptors, "open descriptors of one process"),
    number!("pipe", pipe_bytes, "capacity of a pipe"),
    number!("sockets", sockets, "sockets of all processes"),
    number!("output", output_bytes, "captured output of one command"),
    number!("files", file_bytes, "bytes of all files"),
    number!("file", single_file_bytes, "bytes of one file"),
    number!("inodes", inodes, "files, directories and links"),
    number!("path", path_bytes, "length of a path"),
    number!("symlinks", symlink_depth, "links followed in one path"),
    number!("arguments", argument_bytes, "arguments and environment of one process"),
    number!("module", module_bytes, "size of a custom program"),
    number!("nesting", nesting, "nested function calls and processes"),
    number!("shell-state", shell_state_bytes, "variables and functions kept between commands"),
    number!("background", background_processes, "processes that outlive their command"),
    number!("background-output", background_output_bytes, "output kept of each of them"),
    number!("background-memory", background_memory_bytes, "memory of all of them together"),
    LimitKey {
        name: "background-time",
        meaning: "seconds for which each of them may run",
        set: |limits, text| {
            limits.background_time = parse_seconds(text)?;
            Ok(())
        },
        copy: |limits, from| limits.background_time = from.background_time,
        show: |limits| limits.background_time.as_secs_f64().to_string(),
    },
    number!("background-cpu", background_cpu_percent, "percent of one core that each of them may use"),
];

/// A value of `--limits`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LimitChanges {
    /// Limits with the values of the keys.
    limits: Limits,
    keys: Vec<&'static str>,
}

impl LimitChanges {
    /// Changes `limits`.
    pub(crate) fn apply(&self, limits: &mut Limits) {
        for key in KEYS.iter().filter(|key| self.keys.contains(&key.name)) {
            (key.copy)(limits, &self.limits);
        }
    }
}

/// Parses `key=value,...`.
pub(crate) fn parse(text: &str) -> Result<LimitChanges, String> {
    let mut changes = LimitChanges { limits: Limits::default(), keys: Vec::new() };
    for pair in text.split(',') {
        let (name, value) = pair.split_once('=').ok_or("expected KEY=VALUE")?;
        let key = KEYS
            .iter()
            .find(|key| key.name == name)
            .ok_or_else(|| format!("unknown limit {name:?}; expected one of: {}", names()))?;
        (key.set)(&mut changes.limits, value).map_err(|error| format!("{name}: {error}"))?;
        changes.keys.push(key.name);
    }
    Ok(changes)
}

/// Returns the table of all keys with their defaults, for the help.
pub(crate) fn table() -> String {
    table_of(&Limits::default())
}

/// Returns the table of all keys with the values of `limits`.
pub(crate) fn table_of(limits: &Limits) -> String {
    let mut table = String::new();
    for key in KEYS {
        let value = (key.show)(limits);
        writeln!(table, "  {:<17} {:<7} {}", key.name, value, key.meaning).expect("writing to a String cannot fail");
    }
    table
}

fn names() -> String {
    KEYS.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
}

/// Parses an integer with an optional unit of 1024 (`K`), 1024² (`M`) or 1024³ (`G`).
fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 1 << 10),
        None => match text.strip_suffix(['M', 'm']) {
            Some(digits) => (digits, 1 << 20),
            None => match text.strip_suffix(['G', 'g']) {
                Some(digits) => (digits, 1 << 30),
                None => (text, 1),
            },
        },
    };
    digits.parse::<u64>().ok().filter(|number| *number > 0).and_then(|number| number.checked_mul(unit)).ok_or_else(
        || format!("invalid number {text:?}: expected an integer greater than 0, for example 64, 16K, 512M or 1G"),
    )
}

/// Formats a size in the largest unit that divides it.
fn format_size(number: u64) -> String {
    for (unit, letter) in [(1 << 30, 'G'), (1 << 20, 'M'), (1 << 10, 'K')] {
        if number > 0 && number.is_multiple_of(unit) {
            return format!("{}{letter}", number / unit);
        }
    }
    number.to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn sizes_are_read_in_units_of_1024() {
        let mut limits = Limits::default();
        let changes = parse("memory=64M,output=3K,wall-time=0.5,inodes=12,files=2g").expect("the limits are valid");
        changes.apply(&mut limits);
        assert_eq!(limits.sandbox_memory_bytes, 64 << 20);
        assert_eq!(limits.output_bytes, 3 << 10);
        assert_eq!(limits.wall_time, Duration::from_millis(500));
        assert_eq!(limits.inodes, 12);
        assert_eq!(limits.file_bytes, 2 << 30);
    }

    #[test]
    fn errors_name_the_invalid_limit() {
        for (text, expected) in [
            ("memory", "expected KEY=VALUE"),
            ("", "expected KEY=VALUE"),
            ("speed=1", "unknown limit \"speed\""),
            ("memory=lots", "memory: invalid number \"lots\""),
            ("memory=-1", "expected an integer greater than 0"),
            ("memory=0", "expected an integer greater than 0"),
            ("memory=99999999999999999999G", "expected an integer greater than 0"),
            ("memory=18446744073709551615G", "expected an integer greater than 0"),
            ("processes=8G", "processes: \"8G\" is too large"),
            ("wall-time=0", "expected seconds greater than 0"),
        ] {
            let error = parse(text).expect_err("the limit is invalid");
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn displayed_defaults_can_be_parsed() {
        let limits = Limits::default();
        for key in KEYS {
            let mut copy = limits.clone();
            (key.set)(&mut copy, &(key.show)(&limits)).expect("the displayed value is valid");
            assert_eq!(copy, limits, "{}", key.name);
            // Every key copies its own value.
            (key.set)(&mut copy, "7").expect("7 is valid");
            let mut target = limits.clone();
            (key.copy)(&mut target, &copy);
            assert_eq!(target, copy, "{}", key.name);
        }
        assert!(table().contains("memory            1G"), "{}", table());
    }
}
