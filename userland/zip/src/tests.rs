use crate::TOOLS;
use crate::entry::{End, Entry, dos_of, local_length, seconds_of};
use crate::pattern::Selection;
use crate::words::percent;

#[test]
fn registry_and_table_name_the_same_tools() {
    let held: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(tidebox_gnu::tool::registered("zip.wasm"), held);
    assert!(held.is_sorted(), "the table is not ordered");
}

#[test]
fn times_of_dos_are_read_back_to_the_even_second_after() {
    for seconds in [315_532_800, 1_577_934_246, 4_102_444_798] {
        assert_eq!(seconds_of(dos_of(seconds)), seconds);
    }
    assert_eq!(seconds_of(dos_of(1_577_934_245)), 1_577_934_246);
    assert_eq!(seconds_of(dos_of(0)), 315_532_800);
}

#[test]
fn entries_are_read_back() {
    let entry = Entry {
        name: b"d/\xff".to_vec(),
        made_by: 0x031e,
        needs: 20,
        method: 8,
        dos: dos_of(1_577_934_246),
        sum: 7,
        packed: 5,
        size: 9,
        external: 0o100_644 << 16,
        offset: 40,
        extra: b"UT\x05\0\x03\x66\xe6\x0d\x5e".to_vec(),
        comment: b"c".to_vec(),
        ..Entry::default()
    };
    let written = entry.write_central();
    assert_eq!(Entry::central(&written), Some((entry.clone(), b"".as_slice())));
    assert_eq!(entry.mode(), Some(0o100_644));
    assert_eq!(local_length(&entry.write_local(b"xx")), Some(30 + 3 + 2));
}

#[test]
fn cut_directories_are_not_entries() {
    let written = Entry { name: b"name".to_vec(), ..Entry::default() }.write_central();
    for end in 0..written.len() {
        assert!(Entry::central(&written[..end]).is_none(), "{end} bytes");
    }
}

#[test]
fn the_end_is_found_behind_anything_and_before_a_comment() {
    let end = End { entries: 3, size: 100, offset: 7, comment: b"hi".to_vec(), at: 0 };
    let bytes = [b"junk".as_slice(), &end.write()].concat();
    assert_eq!(End::find(&bytes, 1000), Some(End { at: 1004, ..end }));
    assert_eq!(End::find(b"PK\x05\x06", 0), None);
}

#[test]
fn percents_are_rounded_as_info_zip_rounds() {
    assert_eq!(percent(3000, 30), 99);
    assert_eq!(percent(0, 0), 0);
    assert_eq!(percent(2, 4), -100);
    assert_eq!(percent(200, 99), 51);
}

#[test]
fn names_without_a_match_are_reported() {
    let mut selection = Selection::new(vec![b"a*".to_vec(), b"z".to_vec()], vec![b"ab".to_vec()], false);
    assert!(selection.takes(b"a/x"));
    assert!(!selection.takes(b"b"));
    assert_eq!(selection.unmet(), (vec![b"z".as_slice()], vec![b"ab".as_slice()]));
    assert!(!selection.takes(b"ab"));
    assert_eq!(selection.unmet().1, Vec::<&[u8]>::new());
}
