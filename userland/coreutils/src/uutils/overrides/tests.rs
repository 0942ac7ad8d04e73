use std::ffi::OsString;

use super::{Action, prepare};

fn words(text: &str) -> Vec<OsString> {
    text.split(' ').map(OsString::from).collect()
}

fn prepared(line: &str) -> Action {
    let arguments = words(line);
    let tool = line.split(' ').next().unwrap_or_default();
    prepare(tool, arguments)
}

#[test]
fn characters_of_cut_are_bytes() {
    assert_eq!(prepared("cut -c1-2 -- -c3"), Action::Run(words("cut -b1-2 -- -c3")));
    assert_eq!(prepared("cut --characters=3 f"), Action::Run(words("cut --bytes=3 f")));
}

#[test]
fn the_old_form_of_uniq_skips_characters() {
    assert_eq!(prepared("uniq +3 f"), Action::Run(words("uniq -s3 f")));
    assert_eq!(prepared("uniq -- +3"), Action::Run(words("uniq -- +3")));
}
