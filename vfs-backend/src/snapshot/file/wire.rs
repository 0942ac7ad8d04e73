//! Encoding of numbers and byte strings.

use tidebox_core::Result;

use super::corrupt_snapshot;

#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    /// LEB128: seven bits per byte, lowest first; the eighth bit marks continuation.
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[derive(Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?.first().copied().unwrap_or_default();
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(corrupt_snapshot("a number is too large"))
    }

    /// As [`number`](Self::number), of at most 32 bits.
    pub(super) fn small(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| corrupt_snapshot("a number is too large"))
    }

    /// A byte string of at most `longest`.
    pub(super) fn bytes(&mut self, max_len: usize) -> Result<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok().filter(|&length| length <= max_len);
        self.take(length.ok_or_else(|| corrupt_snapshot("a text is too long"))?)
    }

    /// Checks that no input is left.
    pub(super) fn end(&self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(corrupt_snapshot("unexpected trailing data")) }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or_else(|| corrupt_snapshot("the records end too early"))?;
        self.0 = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_round_trip() {
        let mut writer = Writer::default();
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        numbers.into_iter().for_each(|number| writer.number(number));
        writer.bytes(b"text");
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        for number in numbers {
            assert_eq!(reader.number().unwrap(), number);
        }
        assert_eq!(reader.bytes(4).unwrap(), b"text");
        reader.end().unwrap();
    }

    #[test]
    fn too_long_or_truncated_input_is_an_error() {
        assert!(Reader::new(&[0xff; 10]).number().is_err());
        assert!(Reader::new(&[0xff; 9]).number().is_err());
        assert!(Reader::new(b"\x04text").bytes(3).is_err());
        assert!(Reader::new(b"\x05text").bytes(9).is_err());
        assert!(Reader::new(b"\xff\xff\xff\xff\x7f").small().is_err());
        assert!(Reader::new(b"x").end().is_err());
    }
}
