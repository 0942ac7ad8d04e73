//! Signal names.

use tidebox_gnu::signal;

/// `SIGHUP`.
pub(crate) const HANGUP: u32 = 1;
/// `SIGTERM`.
pub(crate) const TERMINATE: u32 = 15;
/// `SIGKILL`.
pub(crate) const KILL: u32 = 9;
/// `SIGCHLD`.
pub(crate) const CHILD: u32 = 17;

/// Parses a name, a number or an exit status of a shell.
pub(crate) fn parse(text: &str) -> Option<u32> {
    if let Ok(number) = text.parse::<u32>() {
        // A shell reports death by signal n as 128 + n.
        let number = if number > 128 { number - 128 } else { number };
        return (number <= 31).then_some(number);
    }
    if matches!(text.to_ascii_uppercase().as_str(), "EXIT" | "SIGEXIT") {
        return Some(0);
    }
    signal::number(text)
}

/// Returns the name of a signal.
pub(crate) fn name(number: u32) -> Option<&'static str> {
    all().find(|(known, _)| *known == number).map(|(_, name)| name)
}

/// Returns all signals with their names.
pub(crate) fn all() -> impl Iterator<Item = (u32, &'static str)> {
    // The tools of coreutils call signal 29 by its other name.
    (1..).zip(signal::NAMES.map(|name| if name == "IO" { "POLL" } else { name }))
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
