use crate::hexdump;

#[test]
fn sizes_have_units_and_radixes() {
    for (text, wanted) in [("512", 512), ("0x10", 16), ("010", 8), ("2K", 2048), ("1MiB", 1 << 20), ("3MB", 3_000_000)]
    {
        assert_eq!(hexdump::size(text.as_bytes()), Some(wanted), "{text}");
    }
    for text in ["", "x", "1Q", "99999999999999999999", "17EiB9", "-1"] {
        assert_eq!(hexdump::size(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn invalid_formats_are_rejected() {
    let parse = |text: &str| hexdump::parse(&[text.as_bytes().to_vec()]).map(|format| format.block);
    assert_eq!(parse("16/1 \"%02x \" \"\\n\""), Ok(16));
    assert_eq!(parse("\"%_ad: \" 2/4 \"%u\""), Ok(8));
    for text in ["foo", "1/1 \"%y\"", "1/3 \"%d\"", "\"%_z\"", "\"%", "\"%s\"", "\"%f\"", "99999/8 \"%d\"", "1/"] {
        assert!(parse(text).is_err(), "{text}");
    }
}
