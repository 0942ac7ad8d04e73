//! Hexadecimal floating-point numbers, which Rust does not read.

/// The value of a number such as `-0x1.8p3`, and what follows it.
pub(super) fn hexadecimal(text: &str) -> Option<(f64, &str)> {
    let (sign, unsigned) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (if text.starts_with('-') { -1.0 } else { 1.0 }, rest),
        None => (1.0, text),
    };
    let mut rest = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"))?;
    let (mut value, mut exponent, mut digits, mut point) = (0.0_f64, 0_i32, 0, false);
    while let Some(char) = rest.chars().next() {
        match char.to_digit(16) {
            Some(digit) => {
                value = value * 16.0 + f64::from(digit);
                exponent = exponent.saturating_sub(if point { 4 } else { 0 });
                digits += 1;
            }
            None if char == '.' && !point => point = true,
            None => break,
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    if digits == 0 {
        // Only the zero is a number then.
        return Some((0.0 * sign, unsigned.get(1..).unwrap_or_default()));
    }
    if let Some(power) = rest.strip_prefix(['p', 'P']) {
        let signs = usize::from(power.starts_with(['-', '+']));
        let len = power.get(signs..).unwrap_or_default().bytes().take_while(u8::is_ascii_digit).count();
        if let Some(Ok(by)) = power.get(..signs + len).map(str::parse::<i32>) {
            exponent = exponent.saturating_add(by);
            rest = power.get(signs + len..).unwrap_or_default();
        }
    }
    Some((sign * value * 2.0_f64.powi(exponent), rest))
}
