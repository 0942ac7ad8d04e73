use tidebox_gnu::tool::find;

use crate::TOOLS;
use crate::terminal::{Ability, Terminal};

#[test]
fn registry_and_table_name_the_same_tools() {
    let registry: toml::Table = include_str!("../../tools.toml").parse().expect("tools.toml is TOML");
    let modules = registry["module"].as_array().expect("tools.toml lists modules");
    let ours =
        modules.iter().find(|module| module["package"].as_str() == Some("tidebox-scripting")).expect("it is listed");
    let promised: Vec<&str> =
        ours["commands"].as_array().expect("a list").iter().map(|name| name.as_str().expect("a string")).collect();
    let held: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(promised, held);
    assert!(held.iter().all(|name| find(TOOLS, name).is_some()), "the table is not ordered");
}

#[test]
fn terminals_have_what_they_can_do() {
    let ability = |terminal: &str, name: &str, numbers: &[i32]| Terminal::find(terminal)?.ability(name, numbers);
    assert_eq!(ability("xterm", "setaf", &[1]), Some(Ability::Text("\x1b[31m".to_owned())));
    assert_eq!(ability("xterm-256color", "setaf", &[200]), Some(Ability::Text("\x1b[38;5;200m".to_owned())));
    assert_eq!(ability("dumb", "bold", &[]), Some(Ability::Absent));
    assert_eq!(ability("dumb", "colors", &[]), Some(Ability::Number(-1)));
    assert_eq!(ability("xterm", "cup", &[i32::MAX, 0]), Some(Ability::Text("\x1b[2147483647;1H".to_owned())));
    assert_eq!(ability("xterm", "nope", &[]), None);
    assert_eq!(ability("nope", "bold", &[]), None);
}
