//! The progress table that curl writes to standard error unless it is silent.

use std::fmt::Write as _;

const HEAD: &str = "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n\
                    \x20                                Dload  Upload   Total   Spent    Left  Speed\n";

/// Writes the header and a first line of zeros.
pub(super) fn begin() -> String {
    format!("{HEAD}\r{}", line(None, 0, None, 0, 0))
}

/// Writes the last line. Lengths are the announced ones.
pub(super) fn end(length: Option<u64>, received: u64, to_send: Option<u64>, sent: u64, total_us: u64) -> String {
    let mut text = String::from("\r");
    text.push_str(&line(length, received, to_send, sent, total_us));
    text.push('\n');
    text
}

fn line(length: Option<u64>, received: u64, to_send: Option<u64>, sent: u64, total_us: u64) -> String {
    let speed = |bytes: u64| bytes.saturating_mul(1_000_000).checked_div(total_us).unwrap_or(0);
    let percent = |part: u64, whole: Option<u64>| match whole {
        Some(whole) if whole > 0 => part.saturating_mul(100) / whole,
        _ => 0,
    };
    let whole = (length.is_some() || to_send.is_some())
        .then(|| length.unwrap_or(received).saturating_add(to_send.unwrap_or(0)));
    let seconds = total_us / 1_000_000;
    let spent = if seconds == 0 {
        "--:--:--".to_owned()
    } else {
        format!("{:2}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    };
    let mut line = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        line,
        "{:3} {:>5}  {:3} {:>5}  {:3} {:>5}  {:>5}  {:>5} {} {} --:--:-- {:>5}",
        percent(received.saturating_add(sent), whole),
        size(whole.unwrap_or(received)),
        percent(received, length),
        size(received),
        percent(sent, to_send),
        size(sent),
        size(speed(received)),
        size(speed(sent)),
        if seconds == 0 { "--:--:--".to_owned() } else { spent.clone() },
        spent,
        size(speed(received).max(speed(sent))),
    );
    line
}

/// At most five characters.
fn size(bytes: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    match bytes {
        0..100_000 => bytes.to_string(),
        _ if bytes < 10_000 * KIB => format!("{}k", bytes / KIB),
        _ if bytes < 100 * MIB => format!("{}.{}M", bytes / MIB, bytes % MIB / (MIB / 10)),
        _ if bytes < 10_000 * MIB => format!("{}M", bytes / MIB),
        _ => format!("{}G", bytes / GIB),
    }
}

#[cfg(test)]
mod tests {
    use super::{begin, end, size};

    #[test]
    fn the_lines_are_those_of_curl() {
        assert!(begin().ends_with("\r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0"));
        assert_eq!(
            end(Some(5), 5, None, 0, 10_000),
            "\r100     5  100     5    0     0    500      0 --:--:-- --:--:-- --:--:--   500\n"
        );
        for (bytes, shown) in [(99_999, "99999"), (100_000, "97k"), (20_971_520, "20.0M"), (1 << 30, "1024M")] {
            assert_eq!(size(bytes), shown);
        }
    }
}
