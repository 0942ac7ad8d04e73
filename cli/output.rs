//! Output of the commands.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use serde::Serialize;

/// Context of an error of standard output.
pub(crate) const STDOUT_FAILED: &str = "cannot write to stdout";

/// Returns whether an error means that the reader of standard output has exited.
pub(crate) fn is_output_closed(error: &anyhow::Error) -> bool {
    let is_broken_pipe = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.to_string() == STDOUT_FAILED && error.chain().filter_map(|cause| cause.downcast_ref()).any(is_broken_pipe)
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(value).context("cannot write the result as JSON")?;
    line.push(b'\n');
    io::stdout().lock().write_all(&line).context(STDOUT_FAILED)
}

/// Formats a number of bytes for people, with one decimal.
pub(crate) fn format_bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", bytes as f64 / size as f64),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::format_bytes;

    #[test]
    fn bytes_are_shown_in_the_largest_unit_that_fits() {
        for (bytes, expected) in
            [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 20, "5.0 MiB"), (1 << 40, "1024.0 GiB")]
        {
            assert_eq!(format_bytes(bytes), expected);
        }
    }
}
