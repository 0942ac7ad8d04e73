use tidebox_gnu::tool::find;

use crate::TOOLS;

#[test]
fn registry_and_table_name_the_same_tools() {
    let registry: toml::Table = include_str!("../../tools.toml").parse().expect("tools.toml is TOML");
    let modules = registry["module"].as_array().expect("tools.toml lists modules");
    let ours = modules.iter().find(|module| module["package"].as_str() == Some("tidebox-files")).expect("it is listed");
    let promised: Vec<&str> =
        ours["commands"].as_array().expect("a list").iter().map(|name| name.as_str().expect("a string")).collect();
    let held: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(promised, held);
    assert!(held.iter().all(|name| find(TOOLS, name).is_some()), "the table is not ordered");
}
