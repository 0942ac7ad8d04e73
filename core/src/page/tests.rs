use super::*;

fn page(content: &[u8], offset: u64, limit: u64) -> Result<Option<Page>, FileError> {
    let mut reader = PageReader::new(offset, limit);
    reader.push(content);
    let whole = reader.finish();
    // The page does not depend on the chunk sizes.
    for size in [1, 2, 3, 7] {
        let mut reader = PageReader::new(offset, limit);
        content.chunks(size).for_each(|chunk| reader.push(chunk));
        assert_eq!(reader.finish(), whole, "in chunks of {size}");
    }
    whole
}

fn text(content: &[u8], offset: u64, limit: u64) -> (String, (u64, u64, u64)) {
    let page = page(content, offset, limit).unwrap().unwrap();
    let window = page.window.unwrap();
    (page.text, (window.start, window.end, window.total))
}

#[test]
fn concatenated_pages_are_the_file() {
    let file = b"one\ntwo\r\n\nfour\xc3\xa9\nfive";
    assert_eq!(text(file, 0, 2), ("one\ntwo\r\n".to_owned(), (1, 2, 5)));
    assert_eq!(text(file, 2, 2), ("\nfour\u{e9}\n".to_owned(), (3, 4, 5)));
    assert_eq!(text(file, 4, 2), ("five".to_owned(), (5, 5, 5)));
    assert_eq!(text(file, 0, u64::MAX).0.as_bytes(), file);
}

#[test]
fn a_final_newline_does_not_start_a_line() {
    assert_eq!(text(b"a\nb\n", 0, 500), ("a\nb\n".to_owned(), (1, 2, 2)));
    assert_eq!(text(b"\n", 0, 500), ("\n".to_owned(), (1, 1, 1)));
}

#[test]
fn a_page_past_the_end_has_the_reference_message() {
    let error = page(b"a\nb\nc", 3, 10).unwrap_err();
    assert_eq!(error.code, FileErrorCode::PastEnd);
    assert_eq!(error.message, "Line offset 3 exceeds file length (3 lines)");
    assert!(page(b"a\n", u64::MAX, u64::MAX).is_err());
}

#[test]
fn no_lines_and_an_empty_file_have_no_window() {
    assert_eq!(page(b"a\nb\n", 0, 0).unwrap().unwrap(), Page::default());
    let empty = Page { empty_file: true, ..Page::default() };
    assert_eq!(page(b"", 0, 10).unwrap().unwrap(), empty);
    assert_eq!(page(b"", 7, 10).unwrap().unwrap(), empty);
    assert_eq!(page(b"", 0, 0).unwrap().unwrap(), empty, "for every offset and limit");
}

#[test]
fn a_file_with_invalid_utf8_is_not_text() {
    for binary in [&b"a\nb\nc\xff"[..], b"a\n\xc3", b"\xed\xa0\x80", b"a\0b", b"\0asm\x01\0\0\0"] {
        assert_eq!(page(binary, 0, 1), Ok(None), "{binary:?}");
    }
    assert!(page("👋\u{10ffff}é".as_bytes(), 0, 1).unwrap().is_some());
}

#[test]
fn a_page_over_the_limit_ends_at_a_whole_line() {
    let line = "x".repeat(99) + "\n";
    let file = line.repeat(10_000);
    let mut reader = PageReader::new(10, 9_000);
    file.as_bytes().chunks(4096).for_each(|chunk| reader.push(chunk));
    let page = reader.finish().unwrap().unwrap();
    assert_eq!(page.text.len(), 512_000);
    let window = page.window.unwrap();
    assert_eq!((window.start, window.end, window.total), (11, 5130, 10_000));
    assert_eq!(window.next_offset(), Some(5130));
    assert!(!page.line_cut);
}

#[test]
fn a_line_over_the_limit_is_truncated_between_characters() {
    let file = "é".repeat(PAGE_BYTES) + "\nnext\n";
    let mut reader = PageReader::new(0, 10);
    reader.push(b"x");
    file.as_bytes().chunks(5).for_each(|chunk| reader.push(chunk));
    let page = reader.finish().unwrap().unwrap();
    assert!(page.line_cut);
    assert_eq!(page.text.len(), PAGE_BYTES - 1);
    assert_eq!(page.window.unwrap(), LineWindow { start: 1, end: 1, total: 2 });
}

#[test]
fn newlines_are_counted_among_all_bytes() {
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(4 * 256).chain(*b"\n\n\n\n\n\n\n\n\x8a\x0b\x09\n").collect();
    for start in 0..9 {
        for end in bytes.len() - 9..=bytes.len() {
            let part = &bytes[start..end];
            assert_eq!(
                count_newlines(part),
                part.iter().filter(|byte| **byte == b'\n').count() as u64,
                "{start}..{end}"
            );
        }
    }
    for byte in 0..=u8::MAX {
        assert_eq!(count_newlines(&[byte; 9]), if byte == b'\n' { 9 } else { 0 }, "{byte}");
    }
}
