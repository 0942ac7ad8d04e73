use crate::exclude::Exclude;
use crate::header::{self, BLOCK, Block, Format, Member, Parsed};
use crate::names::{leads_up, stripped};
use crate::pax;
use crate::quote::escaped;
use crate::transform::{Of, Transform};

fn member(name: &[u8]) -> Member {
    Member {
        name: name.to_vec(),
        kind: b'0',
        mode: 0o644,
        stored: 5,
        size: 5,
        mtime: (1_577_934_245, 0),
        ..Member::default()
    }
}

fn parsed(block: &Block) -> Member {
    match header::parse(block) {
        Parsed::Header(member) => *member,
        other => panic!("no header: {other:?}"),
    }
}

#[test]
fn registry_names_what_this_program_is() {
    assert_eq!(tidebox_gnu::tool::registered("tar.wasm"), ["tar"]);
}

#[test]
fn headers_are_read_back_in_every_format() {
    for format in [Format::Gnu, Format::Ustar, Format::Pax] {
        let written = Member { uid: 1000, gid: 7, uname: b"ann".to_vec(), gname: b"all".to_vec(), ..member(b"d/a") };
        assert_eq!(parsed(&header::encode(&written, format)), written, "{format:?}");
    }
}

#[test]
fn numbers_too_large_for_digits_are_read_back() {
    let written = Member { uid: 1 << 40, stored: 1 << 40, size: 1 << 40, mtime: (-5, 0), ..member(b"a") };
    assert_eq!(parsed(&header::encode(&written, Format::Gnu)), written);
}

#[test]
fn a_long_name_is_split_where_posix_has_room() {
    let name = [b"d".repeat(90).as_slice(), b"/", &b"f".repeat(90)].concat();
    assert_eq!(parsed(&header::encode(&member(&name), Format::Ustar)).name, name);
    assert!(header::split(&b"x".repeat(150)).is_none());
}

#[test]
fn a_block_with_one_changed_bit_is_no_header() {
    let good = header::encode(&member(b"d/a"), Format::Gnu);
    for at in 0..BLOCK {
        let mut bad = good;
        bad[at] ^= 1;
        // A change of the checksum may be another encoding of the same number.
        let is_sum = (148..156).contains(&at);
        assert!(is_sum || header::parse(&bad) == Parsed::Bad, "byte {at}");
    }
    assert_eq!(header::parse(&[0; BLOCK]), Parsed::Zero);
}

#[test]
fn records_count_their_own_length() {
    for length in [0, 1, 85, 86, 87, 88, 985, 986, 987, 988, 9984] {
        let value = vec![b'x'; length];
        let record = pax::write("path", &value);
        let length: usize =
            std::str::from_utf8(&record).expect("ASCII").split(' ').next().expect("a number").parse().expect("digits");
        assert_eq!(length, record.len());
        assert_eq!(pax::parse(&record).get(b"path".as_slice()), Some(&value));
    }
}

#[test]
fn broken_records_end_the_list_and_nothing_else() {
    for text in [
        &b"99 a=b\n"[..],
        b"x",
        b"5 a=b",
        b"18446744073709551616 a=b\n",
        b"0 a=b\n",
        b"3 a=b\n",
        b"-1 a=b\n",
        b"6 ab=\xff",
    ] {
        assert!(pax::parse(text).is_empty(), "{text:?}");
    }
}

#[test]
fn times_of_records_keep_their_fractions() {
    for (time, text) in
        [((5, 0), "5"), ((5, 250_000_000), "5.25"), ((-1, 750_000_000), "-0.25"), ((0, 1), "0.000000001")]
    {
        assert_eq!(pax::write_time(time), text);
    }
    let mut member = member(b"a");
    pax::apply(&pax::parse(&pax::write("mtime", b"5.25")), &mut member);
    assert_eq!(member.mtime, (5, 250_000_000));
}

fn excludes(pattern: &str, anchored: bool, name: &str) -> bool {
    let exclude = Exclude {
        pattern: pattern.as_bytes().to_vec(),
        from: 0,
        wildcards: true,
        anchored,
        ignore_case: false,
        slash_is_plain: true,
    };
    exclude.matches(name.as_bytes())
}

#[test]
fn a_pattern_leaves_out_what_is_below_it() {
    assert!(excludes("s", false, "d/s/b"));
    assert!(excludes("*.o", false, "d/a.o"));
    assert!(excludes("d/s", false, "x/d/s/"));
    assert!(!excludes("s", true, "d/s"));
    assert!(!excludes("s", false, "ds"));
}

fn changed(expression: &str, name: &str) -> String {
    let transforms = Transform::parse(expression.as_bytes()).expect("an expression");
    let name = transforms.iter().fold(name.as_bytes().to_vec(), |name, one| one.apply(&name, Of::Member));
    String::from_utf8(name).expect("tests show UTF-8")
}

#[test]
fn expressions_change_names_as_sed_does() {
    assert_eq!(changed("s/a/b/", "aaa"), "baa");
    assert_eq!(changed("s/a/b/g", "aaa"), "bbb");
    assert_eq!(changed("s,x*,-,g", "abc"), "-a-b-c-");
    assert_eq!(changed("s/\\(a\\)\\(b\\)/\\2\\U\\1/;s/c/&&/", "abc"), "bAcc");
    assert!(Transform::parse(b"s/a").is_err());
    assert!(Transform::parse(b"y/a/b/").is_err());
}

#[test]
fn names_lose_their_first_parts() {
    assert_eq!(stripped(b"a/b//c", 1), Some(b"b//c".as_slice()));
    assert_eq!(stripped(b"a/b//c", 2), Some(b"c".as_slice()));
    assert_eq!(stripped(b"a/", 1), None);
    assert_eq!(stripped(b"a", 1), None);
}

#[test]
fn names_that_lead_upwards_are_known() {
    assert!(leads_up(b"a/../b") && leads_up(b".."));
    assert!(!leads_up(b"a/..b") && !leads_up(b"a..") && !leads_up(b""));
}

#[test]
fn names_are_shown_with_escapes() {
    assert_eq!(escaped(b"a\nb\\\x01\x7f", false), b"a\\nb\\\\\\001\\177");
    assert_eq!(escaped(b"a:b", true), b"a\\:b");
    assert_eq!(escaped(b"\xff", false), b"\\377");
}
