use crate::{base_name, table};
use std::ffi::OsStr;

/// The commands that `tools.toml` promises for this module.
fn promised() -> Vec<String> {
    let registry: toml::Table = include_str!("../../tools.toml").parse().expect("tools.toml is TOML");
    let modules = registry["module"].as_array().expect("tools.toml lists modules");
    let ours = modules
        .iter()
        .find(|module| module["package"].as_str() == Some("tidebox-coreutils"))
        .expect("tools.toml names this package");
    ours["commands"]
        .as_array()
        .expect("a module lists its commands")
        .iter()
        .map(|name| name.as_str().expect("a command is a string").to_owned())
        .collect()
}

#[test]
fn registry_and_table_name_the_same_tools() {
    let held: Vec<String> = table::TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
    assert_eq!(promised(), held);
}

#[test]
fn every_name_finds_its_tool() {
    for tool in table::TOOLS {
        assert_eq!(table::find(tool.name).map(|found| found.name), Some(tool.name));
    }
    assert!(table::find("coreutils").is_none());
    assert!(table::find("").is_none());
}

#[test]
fn folders_before_the_name_do_not_matter() {
    assert_eq!(base_name(OsStr::new("/usr/bin/ls")), "ls");
    assert_eq!(base_name(OsStr::new("[")), "[");
    assert_eq!(base_name(OsStr::new("/")), "");
}
