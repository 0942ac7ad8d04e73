//! Encodings of bytes as printable characters.

/// Invalid encoded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invalid;

/// An encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Base64,
    Base64Url,
    Base32,
    Base32Hex,
    Base16,
    /// Bits, most significant first.
    Base2Msbf,
    /// Bits, least significant first.
    Base2Lsbf,
    Z85,
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BASE32_HEX: &[u8; 32] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
const BASE16: &[u8; 16] = b"0123456789ABCDEF";
const Z85: &[u8; 85] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

impl Encoding {
    fn digits(self) -> &'static [u8] {
        match self {
            Self::Base64 => BASE64,
            Self::Base64Url => BASE64_URL,
            Self::Base32 => BASE32,
            Self::Base32Hex => BASE32_HEX,
            Self::Base16 => BASE16,
            Self::Base2Msbf | Self::Base2Lsbf => b"01",
            Self::Z85 => Z85,
        }
    }

    /// Bytes per encoded group.
    pub(crate) fn bytes_together(self) -> usize {
        match self {
            Self::Base64 | Self::Base64Url => 3,
            Self::Base32 | Self::Base32Hex => 5,
            Self::Z85 => 4,
            Self::Base16 | Self::Base2Msbf | Self::Base2Lsbf => 1,
        }
    }

    /// Characters per encoded group.
    pub(crate) fn characters_together(self) -> usize {
        match self {
            Self::Base64 | Self::Base64Url => 4,
            Self::Base32 | Self::Base32Hex | Self::Base2Msbf | Self::Base2Lsbf => 8,
            Self::Z85 => 5,
            Self::Base16 => 2,
        }
    }

    /// Returns the value of each character; 255 for invalid characters.
    pub(crate) fn values(self) -> [u8; 256] {
        let mut values = [255; 256];
        for (value, digit) in (0..).zip(self.digits()) {
            if let Some(entry) = values.get_mut(usize::from(*digit)) {
                *entry = value;
            }
        }
        values
    }

    /// Returns whether a character is valid in this encoding.
    pub(crate) fn accepts(self, values: &[u8; 256], byte: u8) -> bool {
        let padded = matches!(self, Self::Base64 | Self::Base64Url | Self::Base32 | Self::Base32Hex);
        value(values, byte).is_some() || (padded && byte == b'=')
    }

    /// Encodes bytes. Only the last group may be incomplete.
    pub(crate) fn encode(self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Invalid> {
        let digits = self.digits();
        let digit = |value: u64| digits.get(value as usize).copied().unwrap_or(b'=');
        for group in bytes.chunks(self.bytes_together()) {
            let full = self.bytes_together();
            let number = group.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte)) << (8 * (full - group.len()));
            match self {
                Self::Base64 | Self::Base64Url | Self::Base32 | Self::Base32Hex => {
                    let (bits, count) = if full == 3 { (6, 4) } else { (5, 8) };
                    let used = (group.len() * 8).div_ceil(bits);
                    for at in 0..count {
                        let value = number >> (bits * (count - 1 - at)) & ((1 << bits) - 1);
                        out.push(if at < used { digit(value) } else { b'=' });
                    }
                }
                Self::Base16 => out.extend([digit(number >> 4), digit(number & 15)]),
                Self::Base2Msbf => out.extend((0..8).rev().map(|bit| digit(number >> bit & 1))),
                Self::Base2Lsbf => out.extend((0..8).map(|bit| digit(number >> bit & 1))),
                Self::Z85 if group.len() < 4 => return Err(Invalid),
                Self::Z85 => out.extend([52_200_625, 614_125, 7225, 85, 1].map(|unit| digit(number / unit % 85))),
            }
        }
        Ok(())
    }

    /// Decodes one group of characters. On an error, `out` contains the bytes before the invalid part.
    pub(crate) fn decode(self, values: &[u8; 256], group: &[u8], out: &mut Vec<u8>) -> Result<(), Invalid> {
        match self {
            Self::Base64 | Self::Base64Url => decode_64(values, group, out),
            Self::Base32 | Self::Base32Hex => decode_32(values, group, out),
            Self::Base16 | Self::Base2Msbf | Self::Base2Lsbf => {
                let bits = if self == Self::Base16 { 4 } else { 1 };
                if group.len() < self.characters_together() {
                    return Err(Invalid);
                }
                let mut byte = 0u8;
                for (at, character) in group.iter().enumerate() {
                    let value = value(values, *character).ok_or(Invalid)?;
                    byte = match self {
                        Self::Base2Lsbf => byte | value << at,
                        _ => byte << bits | value,
                    };
                }
                out.push(byte);
                Ok(())
            }
            Self::Z85 => {
                let mut number = 0u64;
                for character in group {
                    number = number * 85 + u64::from(value(values, *character).ok_or(Invalid)?);
                }
                let number = u32::try_from(number).map_err(|_| Invalid)?;
                if group.len() < 5 {
                    return Err(Invalid);
                }
                out.extend(number.to_be_bytes());
                Ok(())
            }
        }
    }
}

fn value(values: &[u8; 256], byte: u8) -> Option<u8> {
    values.get(usize::from(byte)).copied().filter(|value| *value != 255)
}

/// Decodes up to four characters. Each byte is written as soon as it is complete.
fn decode_64(values: &[u8; 256], group: &[u8], out: &mut Vec<u8>) -> Result<(), Invalid> {
    let at = |index: usize| group.get(index).copied();
    let digit = |index: usize| at(index).and_then(|byte| value(values, byte)).ok_or(Invalid);
    let (first, second) = (digit(0)?, digit(1)?);
    out.push(first << 2 | second >> 4);
    if at(2) == Some(b'=') {
        return if at(3) == Some(b'=') { Ok(()) } else { Err(Invalid) };
    }
    let third = digit(2)?;
    out.push(second << 4 | third >> 2);
    if at(3) == Some(b'=') {
        return Ok(());
    }
    out.push(third << 6 | digit(3)?);
    Ok(())
}

/// Decodes eight characters, also byte by byte.
fn decode_32(values: &[u8; 256], group: &[u8], out: &mut Vec<u8>) -> Result<(), Invalid> {
    if group.len() < 8 {
        return Err(Invalid);
    }
    let padding = |from: usize| group.get(from..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'='));
    let digit = |index: usize| group.get(index).and_then(|byte| value(values, *byte)).ok_or(Invalid);
    let ends = |from: usize| -> Option<Result<(), Invalid>> {
        (group.get(from) == Some(&b'=')).then(|| if padding(from) { Ok(()) } else { Err(Invalid) })
    };
    let (first, second) = (digit(0)?, digit(1)?);
    out.push(first << 3 | second >> 2);
    if let Some(end) = ends(2) {
        return end;
    }
    let (third, fourth) = (digit(2)?, digit(3)?);
    out.push(second << 6 | third << 1 | fourth >> 4);
    if let Some(end) = ends(4) {
        return end;
    }
    let fifth = digit(4)?;
    out.push(fourth << 4 | fifth >> 1);
    if let Some(end) = ends(5) {
        return end;
    }
    let (sixth, seventh) = (digit(5)?, digit(6)?);
    out.push(fifth << 7 | sixth << 2 | seventh >> 3);
    if let Some(end) = ends(7) {
        return end;
    }
    out.push(seventh << 5 | digit(7)?);
    Ok(())
}
