//! Signal names.

/// `SIGHUP`.
pub(crate) const HANGUP: u32 = 1;
/// `SIGTERM`.
pub(crate) const TERMINATE: u32 = 15;
/// `SIGKILL`.
pub(crate) const KILL: u32 = 9;
/// `SIGCHLD`.
pub(crate) const CHILD: u32 = 17;

/// Names in the order of Linux, starting with signal 1.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "POLL",
    "PWR", "SYS",
];

/// Parses a name, a number or an exit status of a shell.
pub(crate) fn parse(text: &str) -> Option<u32> {
    if let Ok(number) = text.parse::<u32>() {
        // A shell reports death by signal n as 128 + n.
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

/// Returns the name of a signal.
pub(crate) fn name(number: u32) -> Option<&'static str> {
    NAMES.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}

/// Returns all signals with their names.
pub(crate) fn all() -> impl Iterator<Item = (u32, &'static str)> {
    (1..).zip(NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signal_numbers_are_those_of_linux() {
        for (name, number) in [("HUP", HANGUP), ("TERM", TERMINATE), ("KILL", KILL), ("CHLD", CHILD), ("SYS", 31)] {
            assert_eq!(parse(name), Some(number), "{name}");
        }
    }
}
