//! `-d` and related options.

use std::io;

use super::config::slurp;
use tidebox_host_http::address;

/// One value of `-d`, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Data(pub(super) Vec<u8>);

/// Parses a value by the rules of the option. The error is the name of an unreadable file.
pub(super) fn read(option: &str, value: &[u8]) -> Result<Data, Vec<u8>> {
    let file = |name: &[u8]| slurp(name).map_err(|_: io::Error| name.to_vec());
    let content = match (option, value.strip_prefix(b"@")) {
        ("data-raw", _) => value.to_vec(),
        ("data-urlencode", _) => urlencode(value)?,
        ("data-binary", Some(name)) => file(name)?,
        // Lines of a file are joined, so that wrapped form data works.
        (_, Some(name)) => file(name)?.into_iter().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)).collect(),
        (_, None) => value.to_vec(),
    };
    Ok(Data(content))
}

/// `content`, `=content`, `name=content`, `@file` or `name@file`.
fn urlencode(value: &[u8]) -> Result<Vec<u8>, Vec<u8>> {
    let at = value.iter().position(|byte| matches!(byte, b'=' | b'@'));
    let Some((at, sign)) = at.and_then(|at| Some((at, *value.get(at)?))) else {
        return Ok(encode(value).into_bytes());
    };
    let (name, rest) = (value.get(..at).unwrap_or_default(), value.get(at + 1..).unwrap_or_default());
    let content = if sign == b'@' { encode(&slurp(rest).map_err(|_: io::Error| rest.to_vec())?) } else { encode(rest) };
    let equals: &[u8] = if name.is_empty() { b"" } else { b"=" };
    Ok([name, equals, content.as_bytes()].concat())
}

/// Form encoding: a space is a plus.
fn encode(bytes: &[u8]) -> String {
    address::encode(bytes).replace("%20", "+")
}

/// Joins all values into one body: form pairs, or parts of JSON.
pub(super) fn join(data: &[Data], is_json: bool) -> Vec<u8> {
    let pieces: Vec<&[u8]> = data.iter().map(|data| data.0.as_slice()).collect();
    pieces.join(if is_json { b"".as_slice() } else { b"&" })
}

#[cfg(test)]
mod tests {
    use super::{Data, join, read};

    fn urlencode(value: &str) -> String {
        String::from_utf8(read("data-urlencode", value.as_bytes()).expect("nothing is opened").0).expect("it is ASCII")
    }

    #[test]
    fn values_are_encoded_after_their_name() {
        for (value, coded) in [("a b", "a+b"), ("=a=b", "a%3Db"), ("n=a b&c", "n=a+b%26c"), ("", ""), ("n=", "n=")] {
            assert_eq!(urlencode(value), coded);
        }
    }

    #[test]
    fn values_are_joined_as_a_form_or_as_json() {
        let data = [Data(b"a=1".to_vec()), Data(b"b".to_vec())];
        assert_eq!(join(&data, false), b"a=1&b");
        assert_eq!(join(&data, true), b"a=1b");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        assert_eq!(read("data", b"@/nowhere/at/all"), Err(b"/nowhere/at/all".to_vec()));
        assert_eq!(read("data-raw", b"@x").expect("it is text"), Data(b"@x".to_vec()));
    }
}
