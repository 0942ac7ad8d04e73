use super::{Array, Key};
use crate::value::Value;

fn listed(words: &[&str]) -> String {
    let mut array = Array::Empty;
    for word in words {
        array.set(&Key::of_bytes(word.as_bytes()), Value::Unset);
    }
    text_of(&array)
}

fn text_of(array: &Array) -> String {
    let words: Vec<String> =
        array.keys().iter().map(|key| String::from_utf8_lossy(key.text().bytes()).into_owned()).collect();
    words.join(" ")
}

#[test]
fn elements_come_in_the_order_of_gnu_awk() {
    assert_eq!(listed(&["x", "foo", "bar", "10", "-1", "3"]), "-1 x foo 10 3 bar");
}
