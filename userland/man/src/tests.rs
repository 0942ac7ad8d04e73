use crate::{NAMES, TOOLS, description};

#[test]
fn registry_and_table_name_the_same_tools() {
    let held: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(tidebox_gnu::tool::registered("man.wasm"), held);
    assert!(held.is_sorted(), "the table is not ordered");
}

#[test]
fn names_are_sorted_and_unique() {
    let names: Vec<&str> = NAMES.lines().map(|line| line.split_once('\t').expect("a name and a text").0).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "the list is not ordered");
    assert_eq!(description("ls"), Some("list directory contents"));
    assert_eq!(description("nope"), None);
}
