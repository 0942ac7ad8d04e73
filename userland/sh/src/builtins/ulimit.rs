//! `ulimit`.

use std::collections::BTreeMap;

use tidebox_rt::{self as rt, Errno};

use crate::builtins::option_letters::Letters;
use crate::expand::lossy;
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

/// A soft and a hard value; `u64::MAX` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    soft: u64,
    hard: u64,
}

/// Limits set by the script, by letter.
pub(crate) type Bounds = BTreeMap<u8, Bound>;

const NONE: u64 = u64::MAX;
/// Kilobytes of stack that a program expects to have.
const STACK: u64 = 8192;

/// Permission to set a limit. It can only be set to values that the sandbox keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// The sandbox does not use the resource, or the shell enforces the limit.
    Kept,
    /// Only to a value at least as high as the actual limit.
    Loose,
    /// It cannot be set.
    Fixed,
    /// Linux has no such limit.
    Never,
}

/// A limit: letter, description, unit, value, whether it may be set.
type Row = (u8, &'static str, &'static str, Bound, Hold);

/// All limits, in the order of `ulimit -a`. Limits that the sandbox does not enforce have the usual values of Linux.
fn table(set: &Bounds) -> Vec<Row> {
    let limits = rt::limits().unwrap_or_default();
    let memory = limits.process_memory_bytes / 1024;
    let processes = u64::from(limits.processes);
    let both = |value| Bound { soft: value, hard: value };
    let mut rows = vec![
        (b'R', "real-time non-blocking time", "microseconds", both(NONE), Hold::Kept),
        (b'c', "core file size", "blocks", Bound { soft: 0, hard: NONE }, Hold::Kept),
        (b'd', "data seg size", "kbytes", both(memory), Hold::Fixed),
        (b'e', "scheduling priority", "", both(0), Hold::Kept),
        (b'f', "file size", "blocks", both(limits.file_bytes / 1024), Hold::Fixed),
        (b'i', "pending signals", "", both(processes), Hold::Kept),
        (b'l', "max locked memory", "kbytes", both(8192), Hold::Kept),
        (b'm', "max memory size", "kbytes", both(NONE), Hold::Kept),
        (b'n', "open files", "", both(u64::from(limits.descriptors)), Hold::Kept),
        (b'p', "pipe size", "512 bytes", both(8), Hold::Never),
        (b'q', "POSIX message queues", "bytes", both(819_200), Hold::Kept),
        (b'r', "real-time priority", "", both(0), Hold::Kept),
        (b's', "stack size", "kbytes", Bound { soft: STACK, hard: NONE }, Hold::Loose),
        (b't', "cpu time", "seconds", both(NONE), Hold::Fixed),
        (b'u', "max user processes", "", both(processes), Hold::Fixed),
        (b'v', "virtual memory", "kbytes", both(memory), Hold::Fixed),
        (b'x', "file locks", "", both(NONE), Hold::Kept),
    ];
    for row in &mut rows {
        if let Some(bound) = set.get(&row.0) {
            row.3 = *bound;
        }
    }
    rows
}

pub(super) fn ulimit(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let rows = table(&shell.builtin.limits);
    let (mut all, mut soft, mut hard) = (false, false, false);
    let mut requested = Vec::<(Row, Option<Bytes>)>::new();
    let mut letters = Letters::of(args);
    while let Some(letter) = letters.next() {
        match letter {
            b'a' => all = true,
            b'S' => soft = true,
            b'H' => hard = true,
            letter => match rows.iter().find(|row| row.0 == letter) {
                Some(row) => requested.push((*row, letters.optional_argument().map(<[u8]>::to_vec))),
                None => return Ok(letters.invalid_option(shell)),
            },
        }
    }
    let words = letters.words();
    let which = Which { soft: soft || !hard, hard: hard || !soft, shows_hard: hard && !soft };
    if all {
        let text: String = rows.iter().map(|row| line(row, which)).collect();
        return Ok(shell.print(text));
    }
    match (requested.last_mut(), words.first()) {
        (Some((_, value @ None)), Some(word)) => *value = Some(word.clone()),
        (None, word) => {
            let size = rows.iter().find(|row| row.0 == b'f').copied();
            requested.extend(size.map(|row| (row, word.cloned())));
        }
        _ => {}
    }
    let several = requested.len() > 1;
    for (row, value) in requested {
        match value {
            Some(value) if !change(shell, &row, which, &value) => return Ok(1),
            Some(_) => {}
            None if several => drop(shell.print(line(&row, which))),
            None => drop(shell.print(format!("{}\n", format_value(&row, which)))),
        }
    }
    Ok(0)
}

/// The soft or the hard value.
#[derive(Clone, Copy, Debug)]
struct Which {
    soft: bool,
    hard: bool,
    shows_hard: bool,
}

fn format_value(row: &Row, which: Which) -> String {
    match if which.shows_hard { row.3.hard } else { row.3.soft } {
        NONE => "unlimited".to_owned(),
        value => value.to_string(),
    }
}

fn line(row: &Row, which: Which) -> String {
    let (letter, name, unit, ..) = row;
    let unit = if unit.is_empty() { String::new() } else { format!("{unit}, ") };
    let unit = format!("({unit}-{})", char::from(*letter));
    format!("{name:<20}{unit:>20} {}\n", format_value(row, which))
}

/// Sets a limit. Returns whether it succeeded.
fn change(shell: &mut Shell, row: &Row, which: Which, value: &[u8]) -> bool {
    let (letter, name, _, old, hold) = *row;
    let number = match value {
        b"hard" => old.hard,
        b"soft" => old.soft,
        b"unlimited" => NONE,
        digits if digits.iter().all(u8::is_ascii_digit) => lossy(digits).parse().unwrap_or(NONE),
        _ => {
            shell.report_builtin_error([value, b": invalid number"].concat());
            return false;
        }
    };
    let new =
        Bound { soft: if which.soft { number } else { old.soft }, hard: if which.hard { number } else { old.hard } };
    let refused = match hold {
        Hold::Never => Some(Errno::INVAL),
        _ if new.soft > new.hard => Some(Errno::INVAL),
        _ if new.hard > old.hard => Some(Errno::PERM),
        Hold::Fixed if new != old => Some(Errno::PERM),
        Hold::Loose if new.soft < STACK => Some(Errno::PERM),
        _ => None,
    };
    if let Some(errno) = refused {
        shell.report_builtin_error(format!("{name}: cannot modify limit: {errno}"));
        return false;
    }
    shell.builtin.limits.insert(letter, new);
    if letter == b'n' {
        shell.io.set_max_fd(u32::try_from(new.soft).unwrap_or(u32::MAX));
    }
    true
}
