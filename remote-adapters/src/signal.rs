//! Signal names used by providers.

/// Returns the exit code of a command killed by a signal: 128 plus its Linux number, as in the shell. Accepts names
/// such as `SIGKILL`, and Go's descriptions, such as `killed`.
pub(crate) fn exit_code(signal: &str) -> Option<i32> {
    let number = match signal.strip_prefix("SIG").unwrap_or(signal) {
        "HUP" | "hangup" => 1,
        "INT" | "interrupt" => 2,
        "QUIT" | "quit" => 3,
        "ILL" | "illegal instruction" => 4,
        "TRAP" | "trace/breakpoint trap" => 5,
        "ABRT" | "aborted" => 6,
        "BUS" | "bus error" => 7,
        "FPE" | "floating point exception" => 8,
        "KILL" | "killed" => 9,
        "USR1" | "user defined signal 1" => 10,
        "SEGV" | "segmentation fault" => 11,
        "USR2" | "user defined signal 2" => 12,
        "PIPE" | "broken pipe" => 13,
        "ALRM" | "alarm clock" => 14,
        "TERM" | "terminated" => 15,
        "XCPU" | "CPU time limit exceeded" => 24,
        "XFSZ" | "file size limit exceeded" => 25,
        _ => return None,
    };
    Some(128 + number)
}

#[cfg(test)]
mod tests {
    use super::exit_code;

    #[test]
    fn signal_names_map_to_linux_numbers() {
        assert_eq!((exit_code("SIGKILL"), exit_code("killed")), (Some(137), Some(137)));
        assert_eq!(exit_code("terminated"), Some(143));
        assert_eq!(exit_code("a new one"), None);
    }
}
