//! A readable form of bytes and texts in which a diff shows the changed line.
//!
//! A text of one line is a string. A text of several lines is a list of its lines, each with its newline. Content that is not
//! UTF-8 is `{"base64": ...}`, with a string or a list of strings.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Characters of base64 per line, as in MIME.
const BASE64_LINE: usize = 76;

/// Contents and output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::layer) struct Blob(pub(in crate::layer) Vec<u8>);

/// Text that may have several lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::layer) struct Text(pub(in crate::layer) String);

/// A path or a pattern: always one string, even if it contains a newline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::layer) struct Name(pub(in crate::layer) Vec<u8>);

impl Blob {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => lines(text, serializer),
            Err(_) => encoded(&self.0, serializer),
        }
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        lines(&self.0, serializer)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => encoded(&self.0, serializer),
        }
    }
}

fn lines<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut lines = text.split_inclusive('\n');
    if lines.by_ref().nth(1).is_none() {
        return serializer.serialize_str(text);
    }
    serializer.collect_seq(text.split_inclusive('\n'))
}

fn encoded<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry("base64", &Base64(STANDARD.encode(bytes)))?;
    map.end()
}

struct Base64(String);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.len() <= BASE64_LINE {
            return serializer.serialize_str(&self.0);
        }
        let mut list = serializer.serialize_seq(None)?;
        let mut rest = self.0.as_str();
        while !rest.is_empty() {
            // Base64 is ASCII, so that every index is a character boundary.
            let (line, remaining) = rest.split_at_checked(BASE64_LINE).unwrap_or((rest, ""));
            list.serialize_element(line)?;
            rest = remaining;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Bytes { base64: true }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Bytes { base64: true }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserializer.deserialize_any(Bytes { base64: false })?;
        String::from_utf8(bytes).map(Self).map_err(|_| D::Error::custom("text is not valid UTF-8"))
    }
}

struct Bytes {
    base64: bool,
}

impl<'de> Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of lines")?;
        if self.base64 { f.write_str(", or {\"base64\": ...}") } else { Ok(()) }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
        Ok(text.as_bytes().to_vec())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(line) = list.next_element::<String>()? {
            bytes.extend_from_slice(line.as_bytes());
        }
        Ok(bytes)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<u8>, A::Error> {
        if !self.base64 || map.next_key::<String>()?.as_deref() != Some("base64") {
            return Err(A::Error::custom("expected a string, a list of lines, or {\"base64\": ...}"));
        }
        let Text(encoded) = map.next_value()?;
        let bytes = STANDARD.decode(encoded).map_err(|bad| A::Error::custom(format!("invalid base64: {bad}")))?;
        match map.next_key::<String>()? {
            None => Ok(bytes),
            Some(key) => Err(A::Error::custom(format!("unexpected `{key}` next to `base64`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_strings_or_lists_and_binary_is_base64() {
        for (bytes, written) in [
            (&b""[..], r#""""#),
            (b"a", r#""a""#),
            (b"a\n", r#""a\n""#),
            (b"a\nb", r#"["a\n","b"]"#),
            (b"\n\n", r#"["\n","\n"]"#),
            (b"\xff\n", r#"{"base64":"/wo="}"#),
        ] {
            assert_eq!(serde_json::to_string(&Blob(bytes.to_vec())).unwrap(), written);
            assert_eq!(serde_json::from_str::<Blob>(written).unwrap().0, bytes);
        }
        let name = Name(b"/a\nb\nc".to_vec());
        assert_eq!(serde_json::to_string(&name).unwrap(), r#""/a\nb\nc""#);
        assert_eq!(serde_json::from_str::<Name>(r#"{"base64": ["L2", "H/"]}"#).unwrap().0, b"/a\xff");
    }

    #[test]
    fn long_base64_is_split_into_lines() {
        let bytes = vec![0xff; 1000];
        let written = serde_json::to_string_pretty(&Blob(bytes.clone())).unwrap();
        assert!(written.lines().all(|line| line.len() < 90), "{written}");
        assert_eq!(serde_json::from_str::<Blob>(&written).unwrap().0, bytes);
    }

    #[test]
    fn invalid_text_forms_are_rejected() {
        for bad in ["1", "null", r#"{"base64": "*"}"#, r#"{"hex": "ff"}"#, r#"{"base64": "", "x": 1}"#, "[1]", "{}"] {
            assert!(serde_json::from_str::<Blob>(bad).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Text>(r#"{"base64": "/w=="}"#).is_err());
    }
}
