use tidebox_gnu::message::path_label;

use crate::cat::render::{Render, Style};
use crate::cat::{self, Flag};
use crate::tac::reversed;

fn rendered(flags: &[Flag], chunks: &[&[u8]]) -> String {
    let mut style = Style::default();
    flags.iter().for_each(|flag| cat::set(&mut style, *flag));
    let mut render = Render::new(style);
    let mut out = Vec::new();
    for chunk in chunks {
        out.extend_from_slice(render.pass(chunk));
    }
    out.extend_from_slice(render.finish());
    String::from_utf8(out).expect("tests show UTF-8")
}

#[test]
fn lines_are_numbered_across_chunks_and_files() {
    assert_eq!(rendered(&[Flag::Number], &[b"a\n\nb", b"c\n", b"d"]), "     1\ta\n     2\t\n     3\tbc\n     4\td");
    assert_eq!(rendered(&[Flag::Number, Flag::NumberNonblank], &[b"a\n\nb\n"]), "     1\ta\n\n     2\tb\n");
}

#[test]
fn empty_lines_are_squeezed_before_they_are_numbered() {
    assert_eq!(
        rendered(&[Flag::SqueezeBlank, Flag::Number], &[b"\n\n\na\n\n", b"\nb\n"]),
        "     1\t\n     2\ta\n     3\t\n     4\tb\n"
    );
}

#[test]
fn hidden_bytes_show_as_gnu_shows_them() {
    assert_eq!(rendered(&[Flag::ShowAll], &[b"a\t\x00\x1f\x7f\x80\x8a\xa0\xff\n"]), "a^I^@^_^?M-^@M-^JM- M-^?$\n");
    assert_eq!(rendered(&[Flag::ShowNonprinting], &[b"a\tb\r\n"]), "a\tb^M\n");
    assert_eq!(rendered(&[Flag::ShowTabs], &[b"a\tb\x01\n"]), "a^Ib\x01\n");
}

#[test]
fn a_carriage_return_shows_only_before_a_marked_line_end() {
    assert_eq!(rendered(&[Flag::ShowEnds], &[b"a\r", b"\nb\rc\n\r"]), "a^M$\nb\rc$\n\r");
    assert_eq!(rendered(&[Flag::ShowEnds], &[b"a\r", b"b\n"]), "a\rb$\n");
}

#[test]
fn records_are_printed_last_first() {
    for (text, separator, before, wanted) in [
        ("a\nb\nc\n", "\n", false, "c\nb\na\n"),
        ("a\nb\nc", "\n", false, "cb\na\n"),
        ("a\nb\nc\n", "\n", true, "\n\nc\nba"),
        ("1--2--3", "--", false, "32--1--"),
        ("xaaay", "aa", false, "yxaaa"),
        ("", "\n", false, ""),
    ] {
        let out = reversed(text.as_bytes(), separator.as_bytes(), before);
        assert_eq!(String::from_utf8_lossy(&out), wanted, "{text:?} by {separator:?}");
    }
}

#[test]
fn names_are_quoted_only_where_they_could_be_misread() {
    assert_eq!(path_label(b"a/b-1.txt"), "a/b-1.txt");
    assert_eq!(path_label(b"a b"), "'a b'");
    assert_eq!(path_label(b"it's"), "\"it's\"");
    assert_eq!(path_label(b""), "''");
}
