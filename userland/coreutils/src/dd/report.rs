//! Final report of `dd`.

/// Numbers of complete and partial blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Records {
    pub(super) whole: u64,
    pub(super) part: u64,
}

impl Records {
    pub(super) fn count(&mut self, bytes: usize, block: u64) {
        if bytes as u64 == block {
            self.whole += 1;
        } else if bytes > 0 {
            self.part += 1;
        }
    }
}

const THOUSANDS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
const POWERS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Formats the last line: `1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.00052 s, 2.0 GB/s`.
pub(super) fn transferred(bytes: u64, seconds: f64) -> String {
    let word = if bytes == 1 { "byte" } else { "bytes" };
    let mut sizes = String::new();
    if bytes >= 1000 {
        sizes.push_str(&format!(" ({}", size(bytes, 1000.0, &THOUSANDS)));
        if bytes >= 1024 {
            sizes.push_str(&format!(", {}", size(bytes, 1024.0, &POWERS)));
        }
        sizes.push(')');
    }
    format!("{bytes} {word}{sizes} copied, {} s, {}/s", short(seconds), rate(bytes as f64 / seconds))
}

/// Formats a size with at least two digits.
pub(super) fn size(bytes: u64, base: f64, letters: &[&str]) -> String {
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= base && unit + 1 < letters.len() {
        value /= base;
        unit += 1;
    }
    let digits = usize::from(value < 9.95 && unit > 0);
    format!("{value:.digits$} {}", letters.get(unit).copied().unwrap_or_default())
}

/// Formats the size of a block that cannot be allocated.
pub(super) fn size_in_powers(bytes: u64) -> String {
    size(bytes, 1024.0, &POWERS)
}

/// Formats bytes per second, at least in kB.
fn rate(bytes: f64) -> String {
    let mut value = bytes / 1000.0;
    let mut unit = 1;
    while value >= 1000.0 && unit + 1 < THOUSANDS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(value < 99.95);
    format!("{value:.digits$} {}", THOUSANDS.get(unit).copied().unwrap_or_default())
}

/// Formats a number like `%g` of C, with at most six digits.
fn short(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        return trimmed(&format!("{value:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::transferred;

    #[test]
    fn the_report_has_the_format_of_gnu() {
        for (bytes, seconds, text) in [
            (0, 6.6468e-05, "0 bytes copied, 6.6468e-05 s, 0.0 kB/s"),
            (3, 2.8653e-05, "3 bytes copied, 2.8653e-05 s, 105 kB/s"),
            (31_457_280, 0.001, "31457280 bytes (31 MB, 30 MiB) copied, 0.001 s, 31.5 GB/s"),
            (999, 2.053e-05, "999 bytes copied, 2.053e-05 s, 48.7 MB/s"),
            (1, 2.0, "1 byte copied, 2 s, 0.0 kB/s"),
            (1024, 123.4567, "1024 bytes (1.0 kB, 1.0 KiB) copied, 123.457 s, 0.0 kB/s"),
        ] {
            assert_eq!(transferred(bytes, seconds), text);
        }
    }
}
