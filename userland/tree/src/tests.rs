use crate::ignore::Rules;
use crate::meta::size;
use crate::pattern;

#[test]
fn registry_contains_tree() {
    assert_eq!(tidebox_gnu::tool::registered("tree.wasm"), ["tree"]);
}

#[test]
fn patterns_have_alternatives() {
    let any = |pattern: &str, name: &str| pattern::any(&[pattern.as_bytes().to_vec()], name.as_bytes(), false, false);
    assert!(any("*.c|*.h", "a.h"));
    assert!(!any("*.c|*.h", "a.o"));
    assert!(any("[a|b]", "|"));
    assert!(!any("a/", "a"));
}

#[test]
fn git_rules_match_names_paths_and_directories() {
    let mut rules = Rules::default();
    rules.add(b"*.log\n!keep.log\n/build\nnode_modules/\nsrc/**/o\n# c\n", b".");
    for (path, folder, wanted) in [
        ("./a.log", false, true),
        ("./x/b.log", false, true),
        ("./keep.log", false, false),
        ("./build", true, true),
        ("./src/build", true, false),
        ("./x/node_modules", true, true),
        ("./node_modules", false, false),
        ("./src/a/b/o", false, true),
        ("./src/o", false, true),
    ] {
        assert_eq!(rules.ignores(path.as_bytes(), folder), wanted, "{path}");
    }
}

#[test]
fn sizes_have_units() {
    for (bytes, human, wanted) in
        [(1023, true, "1023"), (1024, true, "1.0K"), (123_456_789, true, "118M"), (5, false, "          5")]
    {
        assert_eq!(size(bytes, human), wanted, "{bytes}");
    }
}
