use crate::base64::alphabet::{Encoding, Invalid};
use crate::common::check::entry;
use crate::common::digest::Algorithm;

const ENCODINGS: [Encoding; 8] = [
    Encoding::Base64,
    Encoding::Base64Url,
    Encoding::Base32,
    Encoding::Base32Hex,
    Encoding::Base16,
    Encoding::Base2Msbf,
    Encoding::Base2Lsbf,
    Encoding::Z85,
];

#[test]
fn decoding_reverts_encoding() {
    let bytes: Vec<u8> = (0..=255).chain([7, 0, 255, 255, 255, 255, 0, 0]).collect();
    for encoding in ENCODINGS {
        for length in 0..bytes.len() {
            if encoding == Encoding::Z85 && length % 4 != 0 {
                continue;
            }
            let (mut text, mut back) = (Vec::new(), Vec::new());
            let values = encoding.values();
            assert_eq!(encoding.encode(&bytes[..length], &mut text), Ok(()));
            for group in text.chunks(encoding.characters_together()) {
                assert_eq!(encoding.decode(&values, group, &mut back), Ok(()), "{encoding:?} {length}");
            }
            assert_eq!(back, &bytes[..length], "{encoding:?}");
        }
    }
}

#[test]
fn invalid_groups_are_decoded_up_to_the_error() {
    let values = Encoding::Base64.values();
    for (text, read) in [(&b"YWI"[..], &b"ab"[..]), (b"YW", b"a"), (b"Y", b""), (b"YW=x", b"a"), (b"Y*", b"")] {
        let mut out = Vec::new();
        assert_eq!(Encoding::Base64.decode(&values, text, &mut out), Err(Invalid));
        assert_eq!(out, read);
    }
}

#[test]
fn all_forms_of_checksum_lines_are_parsed() {
    let sum = "d41d8cd98f00b204e9800998ecf8427e";
    let name = |line: String| {
        let found = entry(Algorithm::Md5, line.as_bytes(), &mut None)?;
        assert_eq!(found.sum, sum.as_bytes());
        Some(String::from_utf8_lossy(&found.name).into_owned())
    };
    assert_eq!(name(format!("{sum}  a b")), Some("a b".to_owned()));
    assert_eq!(name(format!("{sum} *a")), Some("a".to_owned()));
    assert_eq!(name(format!("{sum} a")), Some("a".to_owned()));
    assert_eq!(name(format!("\\{sum}  a\\nb\\\\")), Some("a\nb\\".to_owned()));
    assert_eq!(name(format!("MD5 (a (b)) = {sum}")), Some("a (b)".to_owned()));
    assert_eq!(name(format!("MD5(a)= {sum}")), Some("a".to_owned()));
    assert_eq!(name(format!("{sum}x  a")), None);
    assert_eq!(name(format!("\\{sum}  a\\x")), None);
    assert_eq!(name(sum.to_owned()), None);
}
