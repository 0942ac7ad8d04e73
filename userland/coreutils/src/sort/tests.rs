use std::cmp::Ordering;

use super::compare::Rules;
use super::key::Key;
use super::options;

fn rules(words: &[&str]) -> Rules {
    let words = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    options::read(words).expect("a command line that is right").1
}

fn order(words: &[&str], a: &str, b: &str) -> Ordering {
    let rules = rules(words);
    let (a, b) = (a.as_bytes(), b.as_bytes());
    rules.compare((a, rules.mark(a)), (b, rules.mark(b)))
}

#[test]
fn a_key_selects_its_part_of_the_line() {
    for (spec, tab, line, wanted) in [
        ("2", None, "a  b c", "  b c"),
        ("2,2", None, "a  b c", "  b"),
        ("2b,2", None, "a  b c", "b"),
        ("2.2,2.3", Some(b':'), "a:bcde:f", "cd"),
        ("2,2", Some(b':'), "a::c", ""),
        ("3", Some(b':'), "a:b", ""),
        ("1.2,1.1", None, "abc", ""),
    ] {
        let key = Key::parse(spec.as_bytes()).expect("a key");
        let (start, end) = key.range(line.as_bytes(), tab);
        assert_eq!(&line[start..end], wanted, "{spec} of {line}");
    }
}

#[test]
fn options_select_the_order_of_lines() {
    for (words, a, b) in [
        (&["-n"][..], "9", "10"),
        (&["-n"], "-.5", "0"),
        (&["-n"], "123456789012345678901", "123456789012345678902"),
        (&["-g"], "5", "1e1"),
        (&["-h"], "900K", "1M"),
        (&["-M"], "feb", "MAR"),
        (&["-V"], "a9", "a10"),
        (&["-r"], "b", "a"),
        (&["-k2,2n", "-k1,1r"], "b 1", "a 1"),
        (&["-f"], "A", "b"),
        (&["-d"], "(a", "b"),
    ] {
        assert_eq!(order(words, a, b), Ordering::Less, "{words:?}: {a} {b}");
        assert_eq!(order(words, b, a), Ordering::Greater, "{words:?}: {b} {a}");
    }
    assert_eq!(order(&["-u", "-n"], "1", "01"), Ordering::Equal);
    assert_eq!(order(&["-n"], "1", "01"), Ordering::Greater);
}
