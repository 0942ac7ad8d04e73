use crate::options::{Case, Request, Show, parse};

fn options(arguments: &[&str]) -> crate::options::Options {
    match parse(arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect()) {
        Ok(Request::Run(options)) => *options,
        other => panic!("{arguments:?} is no search: {other:?}"),
    }
}

#[test]
fn short_options_stand_together_with_the_value_of_the_last_one() {
    let options = options(&["-inA2", "-C=1", "foo", "a", "b"]);
    assert_eq!((options.case, options.line_number), (Case::Ignored, Some(true)));
    // An option for one side takes precedence over one for both sides.
    assert_eq!(options.context(), (1, 2));
    assert_eq!((options.patterns, options.paths.len()), (vec!["foo".to_owned()], 2));
}

#[test]
fn the_first_operand_is_a_file_if_patterns_are_given() {
    let options = options(&["-e", "-x", "file"]);
    assert_eq!((options.patterns, options.paths), (vec!["-x".to_owned()], vec![b"file".to_vec()]));
}

#[test]
fn three_times_unrestricted_is_everything() {
    let options = options(&["-uuu", "x"]);
    assert!(options.no_ignore && options.hidden && options.binary);
}

#[test]
fn counting_what_matches_only_is_counting_matches() {
    assert_eq!(options(&["-oc", "x"]).show, Show::CountMatches);
    assert_eq!(options(&["--count-matches", "-v", "x"]).show, Show::Count);
}

#[test]
fn unknown_options_are_reported() {
    for wrong in [&["--nonsense", "x"][..], &["-Y", "x"], &["-A"], &["-A", "x", "y"], &[], &["--sort", "size", "x"]] {
        let arguments = wrong.iter().map(|argument| argument.as_bytes().to_vec()).collect();
        assert!(parse(arguments).is_err_and(|message| message.starts_with("error: ")), "{wrong:?}");
    }
}
