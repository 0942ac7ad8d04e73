//! Shell command lines shared by all providers.

use tidebox_core::shell_backend::quote;

/// Wraps a command so that it reads a sandbox file as standard input and removes the file first. For providers that
/// cannot pass input to commands.
pub(crate) fn with_stdin_file(file: &str, command: &str) -> String {
    let (file, command) = (quote(file), quote(command));
    format!("exec < {file} && rm -f {file} && exec bash -c {command}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted() {
        assert_eq!(with_stdin_file("/tmp/x", "cat"), "exec < '/tmp/x' && rm -f '/tmp/x' && exec bash -c 'cat'");
    }
}
