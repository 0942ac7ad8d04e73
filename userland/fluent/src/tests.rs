use super::{FluentArgs, FluentBundle, FluentResource};

const MESSAGES: &str = r#"
### A file of messages
plain = a line of text  
spaced  =   padded
-term = not a message
empty-value =
block =
    first
      indented

    after a blank line
inline-block = begins here
    goes on
      and on
table =
    { "| a | b |" }
      { "| c | d |" }
variable = invalid value { $value } of {$option}
literal = N{ "{" }{ "}" } { "\u000A\u0009" } { "\"" } { "\\" }
reference = { $file }: { plain }
circle = { circle }
# A comment ends a message.
count = { $count ->
    [one] { $count } line
   *[other] { $count } lines
} read
exact = { $count ->
    [0] none
    [1] { $count } [one]
   *[other] many
}
word = { $mode ->
    [fast] quick
   *[slow] careful
}
last = the end
"#;

const IDS: &[&str] = &[
    "plain",
    "spaced",
    "block",
    "inline-block",
    "table",
    "variable",
    "literal",
    "reference",
    "count",
    "exact",
    "word",
    "last",
];

fn ours(id: &str, locale: &str, fill: &dyn Fn(&mut FluentArgs<'_>)) -> Option<String> {
    let mut bundle = FluentBundle::new(vec![locale.parse().expect("a locale")]);
    bundle.set_use_isolating(false);
    bundle.add_resource_overriding(FluentResource::try_new(MESSAGES.to_owned()).expect("never refused"));
    let mut args = FluentArgs::new();
    fill(&mut args);
    let value = bundle.get_message(id)?.value()?;
    Some(bundle.format_pattern(value, Some(&args), &mut Vec::new()).into_owned())
}

/// Output of the original crate.
fn theirs(id: &str, locale: &str, count: Option<i64>, words: &[(&'static str, &'static str)]) -> Option<String> {
    let mut bundle = fluent_bundle::FluentBundle::new(vec![locale.parse().expect("a locale")]);
    bundle.set_use_isolating(false);
    let resource = match fluent_bundle::FluentResource::try_new(MESSAGES.to_owned()) {
        Ok(resource) | Err((resource, _)) => resource,
    };
    bundle.add_resource_overriding(resource);
    let mut args = fluent_bundle::FluentArgs::new();
    if let Some(count) = count {
        args.set("count", count);
    }
    for (key, value) in words {
        args.set(*key, *value);
    }
    let value = bundle.get_message(id)?.value()?;
    Some(bundle.format_pattern(value, Some(&args), &mut Vec::new()).into_owned())
}

#[test]
fn every_message_reads_as_fluent_reads_it() {
    let words = [("value", "7x"), ("option", "-n"), ("file", "a b"), ("mode", "fast")];
    for locale in ["en-US", "fr-FR"] {
        for id in IDS {
            for count in [0, 1, 2, 100] {
                let said = ours(id, locale, &|args| {
                    args.set("count", count);
                    for (key, value) in words {
                        args.set(key, value);
                    }
                });
                assert!(said.is_some(), "{id} is missing");
                assert_eq!(said, theirs(id, locale, Some(count), &words), "{id} for {count} in {locale}");
            }
        }
    }
}

#[test]
fn a_variable_without_a_value_is_printed_as_it_is_written() {
    assert_eq!(ours("variable", "en-US", &|_| {}).as_deref(), Some("invalid value {$value} of {$option}"));
    assert_eq!(theirs("variable", "en-US", None, &[]).as_deref(), Some("invalid value {$value} of {$option}"));
    assert_eq!(ours("word", "en-US", &|_| {}).as_deref(), Some("careful"));
}

#[test]
fn what_is_no_message_is_not_found() {
    for id in ["term", "-term", "A", "missing", "", "plai", "plain-text"] {
        assert_eq!(ours(id, "en-US", &|_| {}), None, "{id}");
    }
    assert_eq!(ours("empty-value", "en-US", &|_| {}), None);
}

#[test]
fn a_message_that_refers_to_itself_ends() {
    assert_eq!(ours("circle", "en-US", &|_| {}).as_deref(), Some("{circle}"));
}

#[test]
fn broken_text_is_no_panic() {
    for text in
        ["a = {", "a = { $b", "a = { \"", "a = { $b -> [", "a = { $b -> [x", "a = }", "a =", "a", "a = {{{}", "é = {"]
    {
        let mut bundle = FluentBundle::new(vec!["en-US".parse().expect("a locale")]);
        bundle.add_resource_overriding(FluentResource::try_new(text.to_owned()).expect("never refused"));
        if let Some(value) = bundle.get_message("a").and_then(|message| message.value()) {
            let said = bundle.format_pattern(value, None, &mut Vec::new());
            assert!(said.len() <= text.len() + 2, "{text} reads {said}");
        }
    }
}

#[test]
fn a_later_resource_wins_and_messages_are_found_in_any_order() {
    let mut bundle = FluentBundle::new(vec!["en-US".parse().expect("a locale")]);
    bundle.add_resource_overriding(FluentResource::try_new("a = 1\nb = 2\nc = 3\n".to_owned()).expect("never refused"));
    bundle.add_resource_overriding(FluentResource::try_new("b = two\n".to_owned()).expect("never refused"));
    let said = |id: &str| {
        let value = bundle.get_message(id).and_then(|message| message.value()).expect("there is such a message");
        bundle.format_pattern(value, None, &mut Vec::new()).into_owned()
    };
    assert_eq!([said("c"), said("b"), said("a"), said("c")], ["3", "two", "1", "3"]);
}
