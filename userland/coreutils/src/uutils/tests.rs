use crate::{base_name, table};
use std::ffi::OsStr;

#[test]
fn registry_and_table_name_the_same_tools() {
    let held: Vec<&str> = table::TOOLS.iter().map(|tool| tool.name).collect();
    assert_eq!(tidebox_gnu::tool::registered("coreutils.wasm"), held);
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
fn base_name_drops_directories() {
    assert_eq!(base_name(OsStr::new("/usr/bin/ls")), "ls");
    assert_eq!(base_name(OsStr::new("[")), "[");
    assert_eq!(base_name(OsStr::new("/")), "");
}

/// Returns the names of the messages in a file, and of their variables.
fn names(text: &str) -> (Vec<String>, Vec<String>) {
    let tree = fluent_syntax::parser::parse(text).expect("uutils' messages are well-formed");
    let ids = tree.body.iter().filter_map(|entry| match entry {
        fluent_syntax::ast::Entry::Message(message) => Some(message.id.name.to_owned()),
        _ => None,
    });
    let variables = text
        .split('$')
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-').collect());
    (ids.collect(), variables.collect())
}

/// The workspace replaces the crate `fluent` by one that parses messages when they are used. Its results must be equal.
#[test]
fn all_messages_are_formatted_like_fluent() {
    let mut compared = 0;
    let components =
        table::TOOLS.iter().map(|tool| tool.messages).chain(["uucore", "uucore-errors", "checksum_common"]);
    for component in components {
        let Some(text) = uucore::locale::get_embedded_locale(&format!("{component}/en-US.ftl")) else {
            continue;
        };
        let locale: unic_langid::LanguageIdentifier = "en-US".parse().expect("a locale");
        let mut ours = fluent::FluentBundle::new(vec![locale.clone()]);
        ours.add_resource_overriding(fluent::FluentResource::try_new(text.to_owned()).expect("never refused"));
        let mut theirs = fluent_bundle::FluentBundle::new(vec![locale]);
        theirs.set_use_isolating(false);
        theirs.add_resource_overriding(
            fluent_bundle::FluentResource::try_new(text.to_owned()).expect("uutils' messages are well-formed"),
        );
        let (ids, variables) = names(text);
        for id in &ids {
            for count in [1, 2] {
                let mut our_values = fluent::FluentArgs::new();
                let mut their_values = fluent_bundle::FluentArgs::new();
                for variable in &variables {
                    our_values.set(variable.as_str(), count);
                    their_values.set(variable.as_str(), count);
                }
                let our_pattern = ours.get_message(id).and_then(|message| message.value());
                let their_pattern = theirs.get_message(id).and_then(|message| message.value());
                let formatted =
                    our_pattern.map(|pattern| ours.format_pattern(pattern, Some(&our_values), &mut Vec::new()));
                let expected =
                    their_pattern.map(|pattern| theirs.format_pattern(pattern, Some(&their_values), &mut Vec::new()));
                assert_eq!(formatted, expected, "{component}: {id}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "only {compared} messages were compared");
}
