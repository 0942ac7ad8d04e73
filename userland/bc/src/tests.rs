use crate::NAMES;
use crate::number::Number;

#[test]
fn registry_names_what_this_program_is() {
    assert_eq!(tidebox_gnu::tool::registered("bc.wasm"), NAMES);
}

fn text_of(number: &Number) -> String {
    String::from_utf8(number.written(10)).expect("digits are text")
}

#[test]
fn digits_behind_the_point_are_cut_off_and_not_rounded() {
    let two = Number::from(2);
    let three = Number::from(3);
    assert_eq!(text_of(&two.divide(&three, 5).expect("three is not zero")), ".66666");
    assert_eq!(text_of(&two.negated().divide(&three, 2).expect("three is not zero")), "-.66");
    assert_eq!(text_of(&two.square_root(10).expect("two is not negative")), "1.4142135623");
}

#[test]
fn digits_too_large_for_their_base_count_as_the_largest() {
    assert_eq!(text_of(&Number::in_base(b"FF", 16)), "255");
    assert_eq!(text_of(&Number::in_base(b"19", 8)), "15");
    assert_eq!(text_of(&Number::in_base(b"F", 2)), "15");
}
