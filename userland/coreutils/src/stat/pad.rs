//! Padding of fields.

/// Maximum width of a field. It bounds the memory for the output.
const MAX_WIDTH: usize = 4096;

/// Padding of a field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pad {
    pub(super) left: bool,
    pub(super) zeros: bool,
    pub(super) alternate: bool,
    /// Sign of non-negative numbers.
    pub(super) sign: &'static [u8],
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
}

impl Pad {
    /// Parses flags, width and precision. Returns them with their length.
    pub(super) fn read(rest: &[u8]) -> (Self, usize) {
        let mut at = 0;
        let mut pad = Self::default();
        while let Some(flag) = rest.get(at).filter(|flag| b"-0+ #'".contains(flag)) {
            match flag {
                b'-' => pad.left = true,
                b'0' => pad.zeros = true,
                b'#' => pad.alternate = true,
                b'+' => pad.sign = b"+",
                b' ' if pad.sign.is_empty() => pad.sign = b" ",
                _ => {}
            }
            at += 1;
        }
        pad.width = digits(rest, &mut at).unwrap_or(0).min(MAX_WIDTH);
        if rest.get(at) == Some(&b'.') {
            at += 1;
            pad.precision = Some(digits(rest, &mut at).unwrap_or(9).min(MAX_WIDTH));
        }
        (pad, at)
    }

    pub(super) fn write(self, value: &[u8], out: &mut Vec<u8>) {
        let is_number = value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
        // Numbers are already formatted with the precision.
        let length = self.precision.filter(|_| !is_number).unwrap_or(value.len());
        let value = value.get(..length).unwrap_or(value);
        let (sign, value) = match value.strip_prefix(b"0x") {
            Some(digits) if self.alternate => (&b"0x"[..], digits),
            _ => (if is_number { self.sign } else { b"" }, value),
        };
        let is_number = is_number || sign == b"0x";
        let missing = self.width.saturating_sub(value.len() + sign.len());
        if self.zeros && !self.left && is_number {
            out.extend_from_slice(sign);
            out.extend(std::iter::repeat_n(b'0', missing));
            out.extend_from_slice(value);
            return;
        }
        let fill = std::iter::repeat_n(b' ', missing);
        if !self.left {
            out.extend(fill.clone());
        }
        out.extend_from_slice(sign);
        out.extend_from_slice(value);
        if self.left {
            out.extend(fill);
        }
    }
}

fn digits(rest: &[u8], at: &mut usize) -> Option<usize> {
    let start = *at;
    while rest.get(*at).is_some_and(u8::is_ascii_digit) {
        *at += 1;
    }
    std::str::from_utf8(rest.get(start..*at)?).ok()?.parse().ok()
}
