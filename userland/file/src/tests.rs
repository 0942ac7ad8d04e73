use crate::data::detect;

fn text_of(bytes: &[u8]) -> String {
    detect(bytes).text
}

#[test]
fn registry_names_what_this_program_is() {
    assert_eq!(tidebox_gnu::tool::registered("file.wasm"), ["file"]);
}

#[test]
fn lines_and_encodings_are_detected() {
    for (bytes, wanted) in [
        (b"a\r\nb\n".as_slice(), "ASCII text, with CRLF, LF line terminators"),
        (b"a\rb\r", "ASCII text, with CR line terminators"),
        (b"ab", "ASCII text, with no line terminators"),
        (b"a\x1b[1m\n", "ASCII text, with escape sequences"),
        (b"\xef\xbb\xbfhi\n", "Unicode text, UTF-8 (with BOM) text"),
        (b"h\xe9\n", "ISO-8859 text"),
        (b"a\0b\n", "data"),
        (b"x", "very short file (no magic)"),
    ] {
        assert_eq!(text_of(bytes), wanted);
    }
    assert_eq!(text_of(&[b'x'; 301]), "ASCII text, with very long lines (301), with no line terminators");
}

#[test]
fn cut_and_broken_files_are_described_without_a_panic() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0";
    assert_eq!(text_of(png), "PNG image data, 16 x 16, 8-bit/color RGBA, non-interlaced");
    let beginnings: [&[u8]; 10] = [
        png,
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"MZ\xff\xff\xff\xff\xff\xff",
        b"\x1f\x8b\x08\x08\0\0\0\0\0\0",
        b"PK\x03\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xff\xd8\xff\xe0\0\0\xff",
        b"II*\0\xff\xff\xff\xff",
        b"SQLite format 3\0\x10\0",
        b"RIFF\xff\xff\xff\xffWAVEfmt ",
        b"ID3\x03\0\0\x7f\x7f\x7f\x7f",
    ];
    for bytes in beginnings {
        for end in 0..=bytes.len() {
            let mut cut = bytes[..end].to_vec();
            assert!(!text_of(&cut).is_empty() || cut.is_empty());
            cut.extend([0xff; 64]);
            assert!(!text_of(&cut).is_empty());
        }
    }
}

#[test]
fn json_nests_only_so_deep() {
    let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
    assert_eq!(text_of(&nested(400)), "JSON text data");
    assert_eq!(text_of(&nested(100_000)), "ASCII text, with very long lines (65536), with no line terminators");
}
