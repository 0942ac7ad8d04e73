//! How a number is laid out.

use tidebox_gnu::message::quote_value;

/// A width, a side and what stands around.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) before: Vec<u8>,
    pub(super) behind: Vec<u8>,
    pub(super) width: usize,
    pub(super) left: bool,
    pub(super) zeros: bool,
    /// How many digits zeros fill.
    pub(super) digits: usize,
    pub(super) grouping: bool,
    pub(super) precision: Option<usize>,
}

/// The text before the directive, past whose sign `at` is moved.
fn before(text: &[u8], at: &mut usize) -> Result<Vec<u8>, String> {
    let mut signs = 0;
    loop {
        match (text.get(*at), text.get(*at + 1)) {
            (None, _) => return Err(format!("format {} has no % directive", quote_value(text))),
            (Some(b'%'), Some(b'%')) => *at += 2,
            (Some(b'%'), _) => break,
            (Some(_), _) => *at += 1,
        }
        signs += 1;
    }
    *at += 1;
    // GNU takes as many bytes as there are signs, though two stand for one of them.
    Ok(text.get(..signs).unwrap_or_default().to_vec())
}

/// The text behind the directive, as GNU takes it: both signs of a pair.
fn behind(text: &[u8], from: usize) -> Result<Vec<u8>, String> {
    let mut rest = text.iter().skip(from).copied();
    let mut behind = Vec::new();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            if rest.next() != Some(b'%') {
                return Err(format!("format {} has too many % directives", quote_value(text)));
            }
            behind.push(b'%');
        }
        behind.push(byte);
    }
    Ok(behind)
}

impl Form {
    /// Reads `%[0]['][-][N][.N]f` with text around it. An error is the message.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let shown = || quote_value(text);
        let mut form = Self::default();
        let mut at = 0;
        let byte = |at: usize| text.get(at).copied();
        form.before = before(text, &mut at)?;
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
        form.behind = behind(text, at)?;
        Ok(form)
    }

    /// The number with what belongs around it.
    pub(super) fn dress(&self, number: &[u8]) -> Vec<u8> {
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
        out.extend_from_slice(&self.behind);
        out
    }
}
