use crate::NAMES;

#[test]
fn registry_names_what_this_program_is() {
    assert_eq!(tidebox_gnu::tool::registered("awk.wasm"), NAMES);
}
