use crate::TOOLS;
use crate::patch::{Hunk, Line, Lines, Mark, Packing, Position, Reader, Style, Work, fetch, is_safe, split};

#[test]
fn registry_and_table_name_the_same_tools() {
    let held: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(tidebox_gnu::tool::registered("patch.wasm"), held);
    assert!(held.is_sorted(), "the table is not ordered");
}

fn hunk(old_first: i64, lines: &[(Mark, &str)]) -> Hunk {
    let lines = lines.iter().map(|(mark, text)| Line { mark: *mark, text: text.as_bytes().to_vec() }).collect();
    Hunk::new(lines, old_first, old_first, Vec::new())
}

#[test]
fn a_hunk_is_found_where_it_moved_and_with_fuzz() {
    let hunk = hunk(2, &[(Mark::Context, "b\n"), (Mark::Old, "c\n"), (Mark::New, "C\n"), (Mark::Context, "d\n")]);
    let at = |text: &str, fuzz| {
        let input = split(text.as_bytes());
        Position { input: &input, frozen: 0, offset: 0, loosely: false }.locate(&hunk, fuzz)
    };
    assert_eq!(at("a\nb\nc\nd\n", 0), Some(2));
    assert_eq!(at("x\ny\na\nb\nc\nd\n", 0), Some(4));
    assert_eq!(at("a\nB\nc\nD\n", 0), None);
    assert_eq!(at("a\nB\nc\nD\n", 1), Some(2));
    assert_eq!(at("", 0), None);
}

#[test]
fn context_is_copied_from_the_file_and_not_from_the_patch() {
    let hunk = hunk(1, &[(Mark::Context, "a\n"), (Mark::Old, "b\n"), (Mark::New, "B\n")]);
    let mut work = Work::new(split(b"other\nb\nlast"));
    work.apply(&hunk, 1);
    assert_eq!(work.finish(), b"other\nB\nlast");
}

#[test]
fn a_hunk_that_is_turned_twice_is_itself() {
    let hunk = hunk(1, &[(Mark::Context, "a\n"), (Mark::Old, "b\n"), (Mark::New, "B\n"), (Mark::Context, "c\n")]);
    assert_eq!(hunk.reversed().reversed(), hunk);
}

#[test]
fn names_are_stripped_and_those_that_lead_out_are_refused() {
    let name =
        |text: &str, strip| fetch(text.as_bytes(), strip).name.map(|name| String::from_utf8_lossy(&name).into_owned());
    assert_eq!(name("a/b/c\t2020-01-01 00:00:00 +0000\n", None).as_deref(), Some("c"));
    assert_eq!(name("a/b/c", Some(1)).as_deref(), Some("b/c"));
    assert_eq!(name("a/b c\t2020", Some(0)).as_deref(), Some("a/b c"));
    assert_eq!(name("a/b", Some(2)), None);
    assert_eq!(name("\"a\\303\\251\"", Some(0)).as_deref(), Some("aé"));
    assert_eq!(fetch(b"/dev/null", Some(0)).seconds, Some(0));
    assert!(is_safe(b"a/b") && !is_safe(b"/a") && !is_safe(b"a/../b"));
}

#[test]
fn ranges_that_do_not_fit_their_lines_are_errors() {
    for text in
        ["@@ -1,2 +1,2 @@\n a\nx\n", "@@ -9223372036854775807,0 +1 @@\n+a\n", "@@ -1,99999999999999999999 +1 @@\n"]
    {
        let lines = Lines::new(text.as_bytes().to_vec());
        let mut reader =
            Reader { lines: &lines, style: Style::Unified, packing: Packing::default(), at: 0, cut: false };
        assert!(reader.next_hunk().is_err(), "{text}");
    }
}
