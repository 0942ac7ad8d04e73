use crate::json::{Reader, compact, parse_all, parse_one};
use crate::value::{Number, Val};

fn text_of(json: &str) -> String {
    compact(&parse_one(json.as_bytes()).expect("this is JSON"))
}

#[test]
fn numbers_keep_the_digits_that_came() {
    for number in ["1", "1.0", "1.10", "100000000000000000000", "0.00001", "-0", "3.141592653589793238"] {
        assert_eq!(text_of(number), number);
    }
    assert_eq!(text_of("1e2"), "1E+2");
    assert_eq!(text_of("00012.50"), "12.50");
    assert_eq!(text_of("1e1000"), "1.7976931348623157e+308");
}

#[test]
fn calculated_numbers_are_the_shortest_that_read_back() {
    for (number, text) in [
        (0.1 + 0.2, "0.30000000000000004"),
        (1e17, "1e+17"),
        (1e-5, "1e-05"),
        (1e15, "1000000000000000"),
        (f64::NAN, "null"),
    ] {
        assert_eq!(Number::new(number).text(), text);
    }
}

#[test]
fn a_value_may_come_in_pieces() {
    let mut reader = Reader::new(false);
    let mut found = Vec::new();
    for piece in [&b"[1, \"\xc3"[..], b"\xa4\\u00", b"e9\"", b"] tr", b"ue "] {
        let mut at = 0;
        while let Some(value) = reader.next(piece, &mut at).expect("nothing is wrong yet") {
            found.push(compact(&value));
        }
    }
    assert_eq!(found, ["[1,\"äé\"]", "true"]);
    assert_eq!(reader.end(), Ok(None));
}

#[test]
fn what_nests_ten_thousand_deep_is_read_written_and_dropped() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(text_of(&deep), deep);
    let deeper = "[".repeat(10_001);
    assert_eq!(parse_all(deeper.as_bytes()), Err("Exceeds depth limit for parsing at line 1, column 10001".to_owned()));
}

#[test]
fn objects_are_equal_in_any_order_and_print_in_their_own() {
    let left = parse_one(br#"{"b":1,"a":[2]}"#);
    let right = parse_one(br#"{"a":[2],"b":1}"#);
    assert_eq!(left, right);
    assert_eq!(left.map(|value| compact(&value)), Ok(r#"{"b":1,"a":[2]}"#.to_owned()));
}

#[test]
fn every_definition_of_ours_is_one() {
    for (name, arity, text) in crate::builtins::DEFINITIONS {
        let mut scope = crate::syntax::Scope::trusting();
        let mut parser = crate::syntax::Parser::new(text, &mut scope);
        let definitions = parser.builtin_definitions();
        assert!(parser.errors.is_empty(), "{name}/{arity}: {:?}", parser.errors);
        let [def] = definitions.as_slice() else {
            panic!("{name}/{arity} defines {} filters", definitions.len());
        };
        assert_eq!((def.name, def.args.len()), (*name, *arity));
        for (called, arity, _) in &parser.calls {
            let known =
                crate::builtins::definition(called, *arity).is_some() || crate::builtins::is_native(called, *arity);
            assert!(known, "{name} calls {called}/{arity}");
        }
    }
}

#[test]
fn a_value_that_is_long_is_cut_in_messages() {
    assert_eq!(Val::text("abcdefghijklmnop").described(), "string (\"abcdefghij...)");
}
