//! Character sets: decoding and encoding.

use encoding_rs::{DecoderResult, EncoderResult, Encoding};

/// A character set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Charset {
    Utf8,
    Ascii,
    Latin1,
    /// Code units of this many bytes. `None` means that a byte order mark decides, little-endian without one.
    Wide {
        bytes: usize,
        big: Option<bool>,
        marked: bool,
        /// Characters beyond the BMP are surrogate pairs; UCS-2 does not support them.
        pairs: bool,
    },
    Other(&'static Encoding),
}

/// Characters with their offsets.
pub(crate) type Characters = Vec<(char, usize)>;

/// Offset and length of the invalid input; no length if it is only truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidInput {
    pub(crate) at: usize,
    pub(crate) length: Option<usize>,
}

impl Charset {
    /// The set with that name, with or without dashes and case-insensitive.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let plain: String = name.to_ascii_uppercase().chars().filter(|char| !matches!(char, '-' | '_' | ' ')).collect();
        let wide = |bytes, big, marked| Some(Self::Wide { bytes, big, marked, pairs: !plain.contains("UCS2") });
        match plain.as_str() {
            "UTF8" => Some(Self::Utf8),
            "ASCII" | "USASCII" | "ANSIX3.41968" | "ISO646US" | "646" | "C" => Some(Self::Ascii),
            "ISO88591" | "LATIN1" | "L1" | "ISO8859_1" | "IBM819" | "CP819" | "88591" => Some(Self::Latin1),
            "UTF16" | "UNICODE" => wide(2, None, true),
            "UTF16LE" | "UCS2LE" | "UNICODELITTLE" => wide(2, Some(false), false),
            "UTF16BE" | "UCS2BE" | "UNICODEBIG" => wide(2, Some(true), false),
            "UCS2" | "ISO10646UCS2" => wide(2, Some(false), false),
            "UTF32" => wide(4, None, true),
            "UTF32LE" | "UCS4LE" => wide(4, Some(false), false),
            "UTF32BE" | "UCS4BE" | "UCS4" | "ISO10646" => wide(4, Some(true), false),
            _ => {
                let code_page = plain.strip_prefix("CP125").map(|digit| format!("windows-125{digit}"));
                let labels = [code_page.as_deref().unwrap_or(name), name, plain.as_str()];
                let found = labels.iter().find_map(|label| Encoding::for_label_no_replacement(label.as_bytes()));
                found.filter(|found| !matches!(found.name(), "UTF-8" | "UTF-16LE" | "UTF-16BE")).map(Self::Other)
            }
        }
    }

    /// Decodes characters up to the first error.
    pub(crate) fn decode(self, text: &[u8], from: usize, out: &mut Characters) -> Result<(), InvalidInput> {
        let rest = text.get(from..).unwrap_or_default();
        match self {
            Self::Utf8 => decode_utf8(rest, from, out),
            Self::Ascii | Self::Latin1 => {
                let most = if matches!(self, Self::Ascii) { 0x7f } else { 0xff };
                for (at, byte) in (from..).zip(rest) {
                    if *byte > most {
                        return Err(InvalidInput { at, length: Some(1) });
                    }
                    out.push((char::from(*byte), at));
                }
                Ok(())
            }
            Self::Wide { bytes, big, .. } => decode_wide(text, from, bytes, big, out),
            Self::Other(encoding) => decode_other(encoding, rest, from, out),
        }
    }

    /// Byte order mark.
    pub(crate) fn mark(self) -> &'static [u8] {
        match self {
            Self::Wide { bytes: 2, marked: true, .. } => b"\xff\xfe",
            Self::Wide { marked: true, .. } => b"\xff\xfe\0\0",
            _ => b"",
        }
    }

    /// Encodes a character; false if the set lacks it.
    pub(crate) fn encode(self, char: char, out: &mut Vec<u8>) -> bool {
        let code = u32::from(char);
        match self {
            Self::Utf8 => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            Self::Ascii | Self::Latin1 => {
                let most = if matches!(self, Self::Ascii) { 0x7f } else { 0xff };
                match u8::try_from(code) {
                    Ok(byte) if byte <= most => out.push(byte),
                    _ => return false,
                }
            }
            Self::Wide { bytes: 2, pairs: false, .. } if code > 0xffff => return false,
            Self::Wide { bytes: 2, big, .. } => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    out.extend(if big == Some(true) { unit.to_be_bytes() } else { unit.to_le_bytes() });
                }
            }
            Self::Wide { big, .. } => {
                out.extend(if big == Some(true) { code.to_be_bytes() } else { code.to_le_bytes() })
            }
            Self::Other(encoding) => {
                let mut bytes = [0; 16];
                let mut buffer = [0; 4];
                let text: &str = char.encode_utf8(&mut buffer);
                let (result, _, written) =
                    encoding.new_encoder().encode_from_utf8_without_replacement(text, &mut bytes, true);
                if result != EncoderResult::InputEmpty {
                    return false;
                }
                out.extend_from_slice(bytes.get(..written).unwrap_or_default());
            }
        }
        true
    }
}

fn decode_utf8(rest: &[u8], from: usize, out: &mut Characters) -> Result<(), InvalidInput> {
    let (valid, error) = match std::str::from_utf8(rest) {
        Ok(valid) => (valid, None),
        Err(error) => {
            let valid = rest.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok());
            (valid.unwrap_or_default(), Some(error))
        }
    };
    out.extend(valid.char_indices().map(|(at, char)| (char, from + at)));
    match error {
        None => Ok(()),
        Some(error) => Err(InvalidInput { at: from + error.valid_up_to(), length: error.error_len() }),
    }
}

fn decode_wide(
    text: &[u8],
    from: usize,
    bytes: usize,
    big: Option<bool>,
    out: &mut Characters,
) -> Result<(), InvalidInput> {
    let unit = |at: usize, big: bool| -> Option<u32> {
        let unit = text.get(at..at + bytes)?;
        let join = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
        Some(if big { unit.iter().fold(0, join) } else { unit.iter().rev().fold(0, join) })
    };
    let swapped = if bytes == 2 { 0xfffe } else { 0xfffe_0000 };
    let marked = big.is_none() && (unit(0, false) == Some(0xfeff) || unit(0, false) == Some(swapped));
    let big = big.unwrap_or_else(|| unit(0, false) == Some(swapped));
    let mut at = if marked && from == 0 { bytes } else { from };
    while at < text.len() {
        let Some(first) = unit(at, big) else {
            return Err(InvalidInput { at, length: None });
        };
        let (code, length) = match first {
            0xd800..=0xdbff if bytes == 2 => match unit(at + 2, big) {
                None => return Err(InvalidInput { at, length: None }),
                Some(second @ 0xdc00..=0xdfff) => (0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), 4),
                Some(_) => return Err(InvalidInput { at, length: Some(2) }),
            },
            code => (code, bytes),
        };
        match char::from_u32(code) {
            Some(char) => out.push((char, at)),
            None => return Err(InvalidInput { at, length: Some(bytes) }),
        }
        at += length;
    }
    Ok(())
}

fn decode_other(
    encoding: &'static Encoding,
    rest: &[u8],
    from: usize,
    out: &mut Characters,
) -> Result<(), InvalidInput> {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut buffer = [0; 16];
    // Byte by byte, to record the offset of each character.
    let mut begin = 0;
    for (at, byte) in rest.iter().enumerate() {
        let last = at + 1 == rest.len();
        let (result, _, written) =
            decoder.decode_to_utf8_without_replacement(std::slice::from_ref(byte), &mut buffer, last);
        let text = buffer.get(..written).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        out.extend(text.chars().map(|char| (char, from + begin)));
        match result {
            DecoderResult::Malformed(..) => {
                return Err(InvalidInput { at: from + begin, length: if last { None } else { Some(at + 1 - begin) } });
            }
            _ if written > 0 => begin = at + 1,
            _ => {}
        }
    }
    Ok(())
}

/// Substitute for a character missing in a set, as in glibc.
pub(crate) fn likeness(char: char) -> Option<&'static str> {
    const LETTERS: &[(&str, &str)] = &[
        ("A", "\u{c0}\u{c1}\u{c2}\u{c3}\u{c4}\u{c5}\u{100}\u{102}\u{104}"),
        ("C", "\u{c7}\u{106}\u{108}\u{10a}\u{10c}"),
        ("D", "\u{10e}\u{110}\u{d0}"),
        ("E", "\u{c8}\u{c9}\u{ca}\u{cb}\u{112}\u{114}\u{116}\u{118}\u{11a}"),
        ("G", "\u{11c}\u{11e}\u{120}\u{122}"),
        ("I", "\u{cc}\u{cd}\u{ce}\u{cf}\u{128}\u{12a}\u{12c}\u{12e}\u{130}"),
        ("L", "\u{139}\u{13b}\u{13d}\u{141}"),
        ("N", "\u{d1}\u{143}\u{145}\u{147}"),
        ("O", "\u{d2}\u{d3}\u{d4}\u{d5}\u{d6}\u{d8}\u{14c}\u{14e}\u{150}"),
        ("R", "\u{154}\u{156}\u{158}"),
        ("S", "\u{15a}\u{15c}\u{15e}\u{160}"),
        ("T", "\u{162}\u{164}\u{166}"),
        ("U", "\u{d9}\u{da}\u{db}\u{dc}\u{168}\u{16a}\u{16c}\u{16e}\u{170}\u{172}"),
        ("Y", "\u{dd}\u{176}\u{178}"),
        ("Z", "\u{179}\u{17b}\u{17d}"),
        ("a", "\u{e0}\u{e1}\u{e2}\u{e3}\u{e4}\u{e5}\u{101}\u{103}\u{105}"),
        ("c", "\u{e7}\u{107}\u{109}\u{10b}\u{10d}"),
        ("d", "\u{10f}\u{111}\u{f0}"),
        ("e", "\u{e8}\u{e9}\u{ea}\u{eb}\u{113}\u{115}\u{117}\u{119}\u{11b}"),
        ("g", "\u{11d}\u{11f}\u{121}\u{123}"),
        ("i", "\u{ec}\u{ed}\u{ee}\u{ef}\u{129}\u{12b}\u{12d}\u{12f}\u{131}"),
        ("l", "\u{13a}\u{13c}\u{13e}\u{142}"),
        ("n", "\u{f1}\u{144}\u{146}\u{148}"),
        ("o", "\u{f2}\u{f3}\u{f4}\u{f5}\u{f6}\u{f8}\u{14d}\u{14f}\u{151}"),
        ("r", "\u{155}\u{157}\u{159}"),
        ("s", "\u{15b}\u{15d}\u{15f}\u{161}"),
        ("t", "\u{163}\u{165}\u{167}"),
        ("u", "\u{f9}\u{fa}\u{fb}\u{fc}\u{169}\u{16b}\u{16d}\u{16f}\u{171}\u{173}"),
        ("y", "\u{fd}\u{ff}\u{177}"),
        ("z", "\u{17a}\u{17c}\u{17e}"),
        ("AE", "\u{c6}"),
        ("ae", "\u{e6}"),
        ("OE", "\u{152}"),
        ("oe", "\u{153}"),
        ("ss", "\u{df}"),
        ("\"", "\u{201c}\u{201d}\u{201e}"),
        ("'", "\u{2018}\u{2019}"),
        (",", "\u{201a}"),
        ("-", "\u{2010}\u{2011}\u{2012}\u{2013}\u{2212}"),
        ("...", "\u{2026}"),
        ("EUR", "\u{20ac}"),
        ("(C)", "\u{a9}"),
        ("(R)", "\u{ae}"),
        ("(TM)", "\u{2122}"),
        ("<<", "\u{ab}"),
        (">>", "\u{bb}"),
        ("x", "\u{d7}"),
        (" ", "\u{a0}\u{2002}\u{2003}\u{2009}"),
        ("o", "\u{2022}"),
        ("->", "\u{2192}"),
    ];
    match char {
        // The em dash is missing here; use a hyphen.
        '\u{2014}' => Some("-"),
        char => LETTERS.iter().find(|(_, from)| from.contains(char)).map(|(to, _)| *to),
    }
}
