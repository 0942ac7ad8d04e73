use super::graph::Graph;
use super::source::named;
use super::*;

/// A graph of ordinary edges; the packages whose names begin with `tidebox` or are `xtask` are members.
fn graph(edges: &[(&str, &str, Option<&str>)]) -> Graph {
    let mut names: Vec<&str> = edges.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
    names.sort_unstable();
    names.dedup();
    let packages: Vec<_> =
        names.iter().map(|name| serde_json::json!({"id": format!("id-{name}"), "name": name})).collect();
    let members: Vec<_> =
        names.iter().filter(|name| name.starts_with("tidebox")).map(|name| format!("id-{name}")).collect();
    let nodes: Vec<_> = names
        .iter()
        .map(|name| {
            let deps: Vec<_> = edges
                .iter()
                .filter(|(from, ..)| from == name)
                .map(|(_, to, kind)| serde_json::json!({"pkg": format!("id-{to}"), "dep_kinds": [{"kind": kind}]}))
                .collect();
            serde_json::json!({"id": format!("id-{name}"), "deps": deps})
        })
        .collect();
    let metadata = serde_json::json!({"packages": packages, "workspace_members": members, "resolve": {"nodes": nodes}});
    Graph::parse(metadata.to_string().as_bytes()).expect("the graph is well formed")
}

#[test]
fn dependencies_along_the_layers_are_accepted() {
    let graph = graph(&[
        ("tidebox-kernel", "tidebox-core", None),
        ("tidebox-vfs-backend", "tidebox-kernel", None),
        ("tidebox-wasi-runner", "wasmtime", None),
    ]);
    assert_eq!(check_graph(&graph), Vec::<String>::new());
}

#[test]
fn a_dependency_against_the_layers_is_rejected() {
    let graph = graph(&[("tidebox-core", "tidebox-kernel", None)]);
    assert_eq!(check_graph(&graph), ["tidebox-core may not depend on tidebox-kernel"]);
}

#[test]
fn indirect_dependencies_on_an_engine_are_rejected() {
    let graph = graph(&[("tidebox-kernel", "innocent", None), ("innocent", "wasmtime-environ", Some("build"))]);
    assert_eq!(check_graph(&graph), ["tidebox-kernel must not do I/O but depends on innocent -> wasmtime-environ"]);
}

#[test]
fn dependencies_of_tests_are_accepted() {
    let graph = graph(&[("tidebox-core", "tokio", Some("dev"))]);
    assert_eq!(check_graph(&graph), Vec::<String>::new());
}

#[test]
fn a_package_without_a_layer_is_rejected() {
    let graph = graph(&[("tidebox-surprise", "tidebox-core", None)]);
    assert_eq!(
        check_graph(&graph),
        ["tidebox-surprise has no layer: add it to ALLOWED_DEPENDENCIES in xtask/src/layers.rs"]
    );
}

#[test]
fn a_library_may_not_use_anyhow() {
    let graph = graph(&[("tidebox-wasi-runner", "anyhow", None), ("tidebox", "anyhow", None)]);
    assert_eq!(check_graph(&graph), ["tidebox-wasi-runner is a library and may not use anyhow in its errors"]);
}

#[test]
fn a_plain_path_is_found_with_its_line() {
    assert_eq!(named("fn f() {\n    std::fs::read(p);\n}", BANNED_PATHS), [(2, "std::fs")]);
}

#[test]
fn paths_in_a_use_group_are_found() {
    let source =
        "use std::{\n    collections::BTreeMap,\n    io::{self, Read},\n    time::{Duration, Instant},\n    env,\n};";
    assert_eq!(named(source, BANNED_PATHS), [(4, "std::time::Instant"), (5, "std::env")]);
}

#[test]
fn a_module_used_by_its_last_name_is_found() {
    let source = "use std::time;\nfn f() { time::Instant::now(); }";
    assert_eq!(named(source, BANNED_PATHS), [(2, "std::time::Instant")]);
}

#[test]
fn a_glob_imports_all_banned_paths_below_it() {
    assert_eq!(
        named("use std::time::*;", BANNED_PATHS),
        [(1, "std::time::Instant"), (1, "std::time::SystemTime::now")]
    );
}

#[test]
fn comments_and_strings_are_ignored() {
    let source =
        "// std::fs\n/* std::env */ let s = \"std::thread \\\" std::fs\"; /// std::process\nuse std::time::Duration;";
    assert_eq!(named(source, BANNED_PATHS), []);
}

#[test]
fn code_after_quotes_and_raw_strings_is_checked() {
    let source =
        r####"let q = '"'; std::fs::read(p); let e = '\"'; let r = r#"std::env " \"#; std::thread::spawn(f);"####;
    assert_eq!(named(source, BANNED_PATHS), [(1, "std::fs"), (1, "std::thread")]);
}

#[test]
fn system_time_is_allowed_as_a_type_only() {
    let source = "use std::time::SystemTime;\nfn f(at: SystemTime) {}\nfn g() { SystemTime::now(); }";
    assert_eq!(named(source, BANNED_PATHS), [(3, "std::time::SystemTime::now")]);
}
