//! What every provider's shell is asked in the same way.

use tidebox_core::shell_backend::quote;

/// A command that reads a file of the sandbox as its standard input, and removes the file at once. For providers that give no
/// input to commands.
pub(crate) fn reading_from(file: &str, command: &str) -> String {
    let (file, command) = (quote(file), quote(command));
    format!("exec < {file} && rm -f {file} && exec bash -c {command}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_caller_stay_words() {
        assert_eq!(reading_from("/tmp/x", "cat"), "exec < '/tmp/x' && rm -f '/tmp/x' && exec bash -c 'cat'");
    }
}
