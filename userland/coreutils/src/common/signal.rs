//! Signals by their names.

/// Ends a process whose terminal is gone.
pub(crate) const HANGUP: u32 = 1;
/// Asks a process to end.
pub(crate) const TERMINATE: u32 = 15;
/// Ends a process whatever it wants.
pub(crate) const KILL: u32 = 9;
/// A child has ended.
pub(crate) const CHILD: u32 = 17;

/// Names in the order of Linux, from 1 on.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "POLL",
    "PWR", "SYS",
];

/// The number that Linux gives a name or a number.
pub(crate) fn parse(text: &str) -> Option<u32> {
    if let Ok(number) = text.parse::<u32>() {
        // 128 + n is how a shell shows a signal.
        let number = if number > 128 { number - 128 } else { number };
        return (number <= 31).then_some(number);
    }
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    if name == "EXIT" {
        return Some(0);
    }
    let name = if name == "IO" { "POLL" } else { name };
    let at = NAMES.iter().position(|known| *known == name)?;
    u32::try_from(at + 1).ok()
}

/// The name of a number of Linux.
pub(crate) fn name(number: u32) -> Option<&'static str> {
    NAMES.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}

/// All names with their numbers.
pub(crate) fn all() -> impl Iterator<Item = (u32, &'static str)> {
    (1..).zip(NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_border_counts_signals_as_linux_does() {
        for (name, number) in [("HUP", HANGUP), ("TERM", TERMINATE), ("KILL", KILL), ("CHLD", CHILD), ("SYS", 31)] {
            assert_eq!(parse(name), Some(number), "{name}");
        }
    }
}
