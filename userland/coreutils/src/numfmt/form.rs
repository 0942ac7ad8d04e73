//! Format of a number.

use tidebox_gnu::message::quote_value;

/// Width, alignment and surrounding text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
    pub(super) width: usize,
    pub(super) left: bool,
    pub(super) zeros: bool,
    /// Minimum number of digits, padded with zeros.
    pub(super) digits: usize,
    pub(super) grouping: bool,
    pub(super) precision: Option<usize>,
}

/// Copies text up to the next directive, and `%%` as `%`. Returns it with the position of the directive, if any.
fn literal(text: &[u8], mut at: usize) -> (Vec<u8>, Option<usize>) {
    let mut out = Vec::new();
    while let Some(byte) = text.get(at) {
        match text.get(at + 1) {
            Some(b'%') if *byte == b'%' => at += 1,
            _ if *byte == b'%' => return (out, Some(at)),
            _ => {}
        }
        out.push(*byte);
        at += 1;
    }
    (out, None)
}

impl Form {
    /// Parses `%[0]['][-][N][.N]f` with text around it. The error is the message.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let shown = || quote_value(text);
        let byte = |at: usize| text.get(at).copied();
        let (before, directive) = literal(text, 0);
        let mut at = directive.ok_or_else(|| format!("format {} has no % directive", shown()))? + 1;
        let mut form = Self { before, ..Self::default() };
        loop {
            match byte(at) {
                Some(b'\'') => form.grouping = true,
                Some(b'0') => form.zeros = true,
                Some(b' ') => {}
                _ => break,
            }
            at += 1;
        }
        if byte(at) == Some(b'-') {
            (form.left, at) = (true, at + 1);
        }
        let digits = |from: usize| {
            let digits: Vec<u8> = text.iter().skip(from).copied().take_while(u8::is_ascii_digit).collect();
            (digits.len(), String::from_utf8_lossy(&digits).parse::<usize>().ok())
        };
        let (length, width) = digits(at);
        if length > 0 {
            form.width = width
                .filter(|width| *width < 1 << 24)
                .ok_or_else(|| format!("invalid format {} (width overflow)", shown()))?;
        }
        if form.zeros && !form.left {
            (form.digits, form.width) = (form.width, 0);
        }
        at += length;
        if byte(at) == Some(b'.') {
            let (length, precision) = digits(at + 1);
            if matches!(byte(at + 1), Some(b'-' | b'+' | b' ')) {
                return Err(format!("invalid precision in format {}", shown()));
            }
            form.precision = Some(precision.unwrap_or_default().min(1000));
            at += 1 + length;
        }
        match byte(at) {
            None => return Err(format!("format {} ends in %", shown())),
            Some(b'f') => at += 1,
            Some(_) => {
                return Err(format!("invalid format {}, directive must be %[0]['][-][N][.][N]f", shown()));
            }
        }
        let (after, directive) = literal(text, at);
        if directive.is_some() {
            return Err(format!("format {} has too many % directives", shown()));
        }
        Ok(Self { after, ..form })
    }

    /// Formats the digits of a number.
    pub(super) fn apply(&self, number: &[u8]) -> Vec<u8> {
        let (sign, digits) = number.split_at_checked(usize::from(number.starts_with(b"-"))).unwrap_or((b"", number));
        let zeros = vec![b'0'; self.digits.saturating_sub(number.len())];
        let number = [sign, &zeros, digits].concat();
        let missing = self.width.saturating_sub(number.len());
        let mut out = self.before.clone();
        if self.left {
            out.extend_from_slice(&number);
            out.resize(out.len() + missing, b' ');
        } else {
            out.resize(out.len() + missing, b' ');
            out.extend_from_slice(&number);
        }
        out.extend_from_slice(&self.after);
        out
    }
}
