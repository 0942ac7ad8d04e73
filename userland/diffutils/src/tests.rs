use crate::TOOLS;
use crate::cmp::{letter, number};
use crate::diff::{quoted, without_returns};
use crate::diff3::blocks::{Kind, Order, find};
use crate::script::{Change, Rules, Script, Space, essence};

fn changes(old: &str, new: &str, rules: Rules) -> Vec<Change> {
    Script::new(old.as_bytes(), new.as_bytes(), &rules).changes
}

#[test]
fn registry_and_table_name_the_same_tools() {
    let held: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(tidebox_gnu::tool::registered("diffutils.wasm"), held);
    assert!(held.is_sorted(), "the table is not ordered");
}

/// Checks that the script turns the old text into the new one.
#[test]
fn changes_turn_the_old_text_into_the_new_one() {
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..500 {
        let mut text = || (0..random(30)).map(|_| format!("{}\n", random(5))).collect::<String>();
        let (old, new) = (text(), text());
        let script = Script::new(old.as_bytes(), new.as_bytes(), &Rules::default());
        let mut merged = Vec::new();
        let mut at = 0;
        for change in &script.changes {
            merged.extend_from_slice(&script.old[at..change.old.start]);
            assert_eq!(merged.len(), change.new.start, "{old:?} {new:?}");
            merged.extend_from_slice(&script.new[change.new.clone()]);
            at = change.old.end;
        }
        merged.extend_from_slice(&script.old[at..]);
        assert_eq!(merged, script.new, "{old:?} {new:?}");
    }
}

#[test]
fn a_missing_line_end_is_a_change_unless_space_is_ignored() {
    assert_eq!(changes("a\nb", "a\nb\n", Rules::default()).len(), 1);
    for space in [Space::NotAtEnd, Space::Some, Space::Nothing] {
        assert_eq!(changes("a\nb", "a\nb\n", Rules { space, ..Rules::default() }), []);
    }
}

#[test]
fn white_space_is_compared_by_the_rules() {
    let line = b"a \t b  \n";
    let shown = |space| essence(line, &Rules { space, ..Rules::default() }).into_owned();
    assert_eq!(shown(Space::Exact), line);
    assert_eq!(shown(Space::NotAtEnd), b"a \t b");
    assert_eq!(shown(Space::Some), b"a b");
    assert_eq!(shown(Space::Nothing), b"ab");
    assert_eq!(essence(b"aBc\n", &Rules { ignore_case: true, ..Rules::default() }).as_ref(), b"abc\n");
}

#[test]
fn a_change_of_blank_lines_only_can_be_ignored() {
    let rules = Rules { ignore_blank_lines: true, ..Rules::default() };
    assert!(!Script::new(b"a\nb\n", b"a\n\n\nb\n", &rules).differs());
    assert!(Script::new(b"a\nb\n", b"a\n\nx\nb\n", &rules).differs());
    assert!(Script::new(b"a\nb\n", b"a\n \nb\n", &rules).differs());
}

#[test]
fn byte_counts_have_units() {
    for (text, wanted) in [("0", Some(0)), ("3kB", Some(3000)), ("2K", Some(2048)), ("1MiB", Some(1 << 20))] {
        assert_eq!(number(text.as_bytes()), wanted, "{text}");
    }
    for text in ["", "x", "-1", "1x", "K"] {
        assert_eq!(number(text.as_bytes()), None, "{text}");
    }
    assert_eq!(number(b"99999999999999999999999G"), Some(u64::MAX));
}

#[test]
fn bytes_are_formatted_like_cat_a() {
    for (byte, wanted) in [(b'a', "a"), (0, "^@"), (127, "^?"), (0x8a, "M-^J"), (0xe9, "M-i")] {
        assert_eq!(letter(byte), wanted);
    }
}

#[test]
fn carriage_returns_are_removed_before_line_ends() {
    assert_eq!(without_returns(b"a\r\nb\rc\r"), b"a\nb\rc\r");
}

#[test]
fn words_are_quoted_for_a_shell_if_needed() {
    for (word, wanted) in [("a/b", "a/b"), ("a b", "'a b'"), ("$a'", "'$a'\\'''"), ("", "''")] {
        assert_eq!(String::from_utf8_lossy(&quoted(word.as_bytes())), wanted);
    }
}

/// A merge of one changed file with an unchanged one must be the changed one.
#[test]
fn a_merge_with_an_unchanged_file_is_the_changed_file() {
    let mut seed = 11_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..300 {
        let mut text = || (0..random(20)).map(|_| format!("{}\n", random(5))).collect::<String>();
        let (old, new) = (text(), text());
        let rules = Rules::default();
        let (same, changed) =
            (Script::new(old.as_bytes(), old.as_bytes(), &rules), Script::new(new.as_bytes(), old.as_bytes(), &rules));
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let (old_lines, new_lines) = (lines(&old), lines(&new));
        let mut merged = Vec::new();
        let mut at = 0;
        for block in find(&same, &changed, Order::OLD_IS_COMMON) {
            assert_eq!(block.kind, Kind::Odd(2), "{old:?} {new:?}");
            merged.extend_from_slice(&old_lines[at..block.ranges[0].start]);
            merged.extend_from_slice(&new_lines[block.ranges[2].clone()]);
            at = block.ranges[0].end;
        }
        merged.extend_from_slice(&old_lines[at..]);
        assert_eq!(merged, new_lines, "{old:?} {new:?}");
    }
}
