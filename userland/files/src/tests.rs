use crate::TOOLS;

#[test]
fn registry_and_table_name_the_same_tools() {
    let held: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(tidebox_gnu::tool::registered("tidebox-files"), held);
    assert!(held.is_sorted(), "the table is not ordered");
}
