use crate::options::{self, Request};
use crate::output::Output;
use crate::search::Searcher;
use tidebox_gnu::regex::Regex;

/// Returns its bytes one by one, so that every line spans several reads.
struct Slowly<'a>(&'a [u8]);

impl std::io::Read for Slowly<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else {
            return Ok(0);
        };
        into[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}

/// Number of lines that a command line selects, and whether the text is binary.
fn search(arguments: &[&str], text: &[u8]) -> (u64, bool) {
    let arguments = arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect();
    let Ok(Request::Search(options)) = options::parse("grep", arguments) else {
        panic!("the command line is in order");
    };
    let regex = Regex::new(&options.patterns, &options.regex).expect("the pattern is one");
    let mut out = Output::new(&options);
    let found = Searcher::new(&options, &regex, &mut out).search(Slowly(text));
    assert_eq!(found.error, None);
    (found.selected, found.binary)
}

#[test]
fn lines_count_the_same_however_they_arrive() {
    assert_eq!(search(&["-c", "a"], b"a\nb\nca\n"), (2, false));
    assert_eq!(search(&["-c", "a"], b"a\nb\nca"), (2, false));
    assert_eq!(search(&["-vc", "a"], b"a\nb\nca\n\n"), (2, false));
    assert_eq!(search(&["-c", ""], b""), (0, false));
    assert_eq!(search(&["-c", "-m2", "a"], b"a\na\na\n"), (2, false));
}

#[test]
fn zero_bytes_make_a_file_binary_and_end_lines() {
    assert_eq!(search(&["-c", "^b"], b"a\0b\n"), (1, true));
    assert_eq!(search(&["-c", "-a", "^b"], b"a\0b\n"), (0, false));
    assert_eq!(search(&["-c", "-I", "b"], b"a\0b\n"), (0, false));
    assert_eq!(search(&["-c", "-z", "b$"], b"a\0b\0"), (1, false));
}

#[test]
fn a_wrong_command_line_is_reported_before_the_usage() {
    let parse = |arguments: &[&str]| {
        options::parse("grep", arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect())
    };
    assert!(matches!(parse(&[]), Err(None)));
    assert!(matches!(parse(&["-e"]), Err(Some(message)) if message == "option requires an argument -- 'e'"));
    assert!(
        matches!(parse(&["-A", "x", "a"]), Ok(Request::Fail(message)) if message.starts_with("x: invalid context"))
    );
}
