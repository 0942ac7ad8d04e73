//! Conversions of `conv=`: case and byte order.

/// Conversion state of `conv=`.
#[derive(Debug)]
pub(super) struct Converter {
    lower: bool,
    upper: bool,
    swap: bool,
    /// First byte of an incomplete pair.
    odd: Option<u8>,
}

impl Converter {
    /// Creates a converter. `has` returns whether `conv=` contains a keyword. An error is the message about keywords that
    /// exclude each other.
    pub(super) fn new(has: impl Fn(&str) -> bool) -> Result<Self, String> {
        for (one, other) in [("lcase", "ucase"), ("excl", "nocreat")] {
            if has(one) && has(other) {
                return Err(format!("cannot combine {one} and {other}"));
            }
        }
        Ok(Self { lower: has("lcase"), upper: has("ucase"), swap: has("swab"), odd: None })
    }

    /// Converts a block, which is overwritten, and appends the result to `out`.
    pub(super) fn feed(&mut self, chunk: &mut [u8], out: &mut Vec<u8>) {
        if self.lower {
            chunk.make_ascii_lowercase();
        }
        if self.upper {
            chunk.make_ascii_uppercase();
        }
        if !self.swap {
            return out.extend_from_slice(chunk);
        }
        // Swaps the bytes of each pair. A pair may span blocks.
        for byte in chunk {
            match self.odd.take() {
                Some(first) => out.extend([*byte, first]),
                None => self.odd = Some(*byte),
            }
        }
    }

    /// Appends the incomplete pair.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        out.extend(self.odd.take());
    }
}
