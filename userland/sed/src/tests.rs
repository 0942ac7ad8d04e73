use std::path::Path;

use crate::options::{self, Options, Request};
use crate::output::copy_name;
use crate::parse::parse;
use crate::replacement::{Case, Part, Replacement};
use crate::script::{Action, Lines};

fn options(arguments: &[&str]) -> Box<Options> {
    match options::parse(arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect()) {
        Ok(Request::Run(options)) => options,
        other => panic!("{other:?}"),
    }
}

fn refusal(arguments: &[&str]) -> String {
    parse(&options(arguments)).expect_err("the script is none").message
}

#[test]
fn messages_are_those_of_gnu() {
    for (script, message) in [
        ("s/a/b", "char 5: unterminated `s' command"),
        ("k", "char 1: unknown command: `k'"),
        ("3", "char 1: missing command"),
        ("2,p", "char 3: unexpected `,'"),
        ("}", "char 1: unexpected `}'"),
        ("{p", "char 0: unmatched `{'"),
        ("y/abc/de/", "char 9: strings for `y' command are different lengths"),
        ("s/a/b/gg", "char 8: multiple `g' options to `s' command"),
        ("s/a/b/k", "char 7: unknown option to `s'"),
        ("s/a/b/0", "char 7: number option to `s' command may not be zero"),
        ("1,2q", "char 4: command only uses one address"),
        ("dp", "char 2: extra characters after command"),
        ("0p", "char 2: invalid usage of line address 0"),
        ("s/a/\\1/", "char 7: invalid reference \\1 on `s' command's RHS"),
        ("s/\\(a/b/", "char 8: Unmatched ( or \\("),
        ("r", "char 1: missing filename in r/R/w/W commands"),
    ] {
        assert_eq!(refusal(&[script]), format!("-e expression #1, {message}"), "{script}");
    }
    assert_eq!(refusal(&["-e", "p", "-e", "k"]), "-e expression #2, char 1: unknown command: `k'");
    assert_eq!(refusal(&["b x"]), "can't find label for jump to `x'");
    assert_eq!(refusal(&["--sandbox", "w x"]), "-e expression #1, char 1: e/r/w commands disabled in sandbox mode");
}

#[test]
fn blocks_and_labels_lead_to_their_ends() {
    let script = parse(&options(&["-n", "2,4{/a/b end;p};:end;t"])).expect("the script is one");
    let targets: Vec<usize> = script
        .commands
        .iter()
        .filter_map(|command| match command.action {
            Action::Block { end } => Some(end),
            Action::Branch { to, .. } => Some(to),
            _ => None,
        })
        .collect();
    assert_eq!(targets, [3, 4, script.commands.len()]);
    assert!(matches!(script.commands[0].lines, Lines::Range { .. }));
}

#[test]
fn texts_go_on_after_a_backslash() {
    let texts = |arguments: &[&str]| -> Vec<String> {
        let script = parse(&options(arguments)).expect("the script is one");
        let text = script.commands.iter().filter_map(|command| match &command.action {
            Action::Append(text) | Action::Insert(text) | Action::Change(text) => {
                Some(String::from_utf8_lossy(text).into_owned())
            }
            _ => None,
        });
        text.collect()
    };
    assert_eq!(texts(&["a\\\n  one\\\ntwo\np"]), ["  one\ntwo\n"]);
    assert_eq!(texts(&["1i  x y "]), ["x y \n"]);
    assert_eq!(texts(&["a\\  x"]), ["  x\n"]);
    assert_eq!(texts(&["-e", "a\\", "-e", "x\\", "-e", "y", "-e", "p"]), ["x\ny\n"]);
    assert_eq!(texts(&["$a\\"]), [""]);
}

#[test]
fn a_replacement_changes_the_case_of_what_follows() {
    let write = |parts: Vec<Part>, text: &str| {
        let mut out = Vec::new();
        Replacement { parts }.write(text.as_bytes(), &vec![Some(0..text.len())], &mut out);
        String::from_utf8(out).expect("UTF-8 stays UTF-8")
    };
    assert_eq!(write(vec![Part::Case(Case::Upper), Part::Group(0)], "aé"), "AÉ");
    assert_eq!(write(vec![Part::Case(Case::Lower), Part::Case(Case::UpperNext), Part::Group(0)], "FOO"), "Foo");
    let ended = vec![Part::Case(Case::Upper), Part::Group(0), Part::Case(Case::End), Part::Group(0)];
    assert_eq!(write(ended, "x"), "Xx");
    assert_eq!(write(vec![Part::Group(7), Part::Text(b"!".to_vec())], "x"), "!");
}

#[test]
fn copies_are_named_by_suffix_or_stars() {
    for (suffix, wanted) in [(".bak", "d/a.bak"), ("*.old", "d/a.old"), ("bak/*.b", "bak/d/a.b")] {
        assert_eq!(copy_name(Path::new("d/a"), suffix.as_bytes()), Path::new(wanted), "{suffix}");
    }
}

#[test]
fn registry_names_what_this_program_is() {
    assert_eq!(tidebox_gnu::tool::registered("sed.wasm"), crate::NAMES);
}
