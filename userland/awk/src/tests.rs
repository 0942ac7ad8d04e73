use crate::NAMES;

#[test]
fn registry_names_what_this_program_is() {
    let registry: toml::Table = include_str!("../../tools.toml").parse().expect("tools.toml is TOML");
    let modules = registry["module"].as_array().expect("tools.toml lists modules");
    let ours = modules
        .iter()
        .find(|module| module["package"].as_str() == Some("tidebox-awk"))
        .expect("tools.toml names this package");
    let promised: Vec<&str> =
        ours["commands"].as_array().expect("a list").iter().map(|name| name.as_str().expect("a string")).collect();
    assert_eq!(promised, NAMES);
}
