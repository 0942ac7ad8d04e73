//! Commands that run without a shell.

/// Characters that only a shell interprets.
const SHELL_CHARACTERS: &[u8] = b"#;\"*?[]&|<>(){}$`^~!";

/// Shell builtins.
const SHELL_COMMANDS: &[&str] = &[
    ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "eval", "exec", "exit", "export", "fc",
    "fg", "for", "getopts", "hash", "if", "jobs", "login", "logout", "read", "readonly", "return", "set", "shift",
    "test", "times", "trap", "type", "ulimit", "umask", "unalias", "unset", "wait", "while",
];

/// The arguments of a command that make starts directly; `None` if it needs a shell.
pub(crate) fn arguments_without_shell(command: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut arguments: Vec<Vec<u8>> = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let (mut word_has_equals, mut seen_without) = (false, false);
    let mut bytes = command.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b' ' | b'\t' => {
                if let Some(done) = word.take() {
                    seen_without |= !word_has_equals;
                    word_has_equals = false;
                    arguments.push(done);
                }
            }
            b'=' => {
                // An assignment before the command sets a variable.
                if !seen_without {
                    return None;
                }
                word_has_equals = true;
                word.get_or_insert_default().push(byte);
            }
            b'\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match bytes.next()? {
                        b'\'' => break,
                        byte => word.push(byte),
                    }
                }
            }
            b'\\' => match bytes.next()? {
                b'\n' => {}
                byte => word.get_or_insert_default().push(byte),
            },
            b'\n' => return None,
            byte if SHELL_CHARACTERS.contains(&byte) => return None,
            byte => word.get_or_insert_default().push(byte),
        }
    }
    arguments.extend(word);
    let first = arguments.first()?;
    let builtin = SHELL_COMMANDS.iter().any(|known| known.as_bytes() == first.as_slice());
    if builtin || first.is_empty() { None } else { Some(arguments) }
}

/// The system's description of a signal.
pub(crate) fn signal_name(signal: u8) -> String {
    tidebox_gnu::signal::description(signal).map_or_else(|| format!("Unknown signal {signal}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::arguments_without_shell;

    #[test]
    fn a_shell_is_asked_only_for_what_only_it_understands() {
        let split = |command: &str| {
            let arguments = arguments_without_shell(command.as_bytes())?;
            Some(arguments.into_iter().map(|word| String::from_utf8_lossy(&word).into_owned()).collect::<Vec<_>>())
        };
        assert_eq!(
            split("echo a  'b c' d\\ e x=y"),
            Some(vec!["echo".into(), "a".into(), "b c".into(), "d e".into(), "x=y".into()])
        );
        for shell in ["X=1 echo", "cd a", "echo \"a\"", "a | b", "test -f x", "echo $x"] {
            assert_eq!(split(shell), None, "{shell}");
        }
    }
}
