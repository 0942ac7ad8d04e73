use tidebox_gnu::tool::find;

use crate::{NAMES, TOOLS, description};

#[test]
fn registry_and_table_name_the_same_tools() {
    let registry: toml::Table = include_str!("../../tools.toml").parse().expect("tools.toml is TOML");
    let modules = registry["module"].as_array().expect("tools.toml lists modules");
    let ours = modules.iter().find(|module| module["package"].as_str() == Some("tidebox-man")).expect("it is listed");
    let promised: Vec<&str> =
        ours["commands"].as_array().expect("a list").iter().map(|name| name.as_str().expect("a string")).collect();
    let held: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(promised, held);
    assert!(held.iter().all(|name| find(TOOLS, name).is_some()), "the table is not ordered");
}

#[test]
fn every_description_has_a_name_of_its_own() {
    let names: Vec<&str> = NAMES.lines().map(|line| line.split_once('\t').expect("a name and a text").0).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "the list is not ordered");
    assert_eq!(description("ls"), Some("list what is in folders"));
    assert_eq!(description("nope"), None);
}
