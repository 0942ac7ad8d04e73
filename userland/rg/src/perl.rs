//! Patterns with look-around and back-references, for `-P`.

use std::fmt;
use std::ops::Range;

use grep_matcher::{Captures, Match, Matcher};
use tidebox_gnu::regex::{Error, Groups, Options, Regex, Subject};

/// Matcher for such a pattern.
#[derive(Debug)]
pub(crate) struct PerlMatcher(Regex);

/// Capture groups of a match.
#[derive(Debug)]
pub(crate) struct PerlCaptures(Groups);

/// The search exceeded the step limit.
#[derive(Debug)]
pub(crate) struct GaveUp(Error);

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PerlMatcher {
    pub(crate) fn new(options: &crate::options::Options) -> Result<Self, String> {
        let patterns: Vec<Vec<u8>> = options
            .patterns
            .iter()
            .map(|pattern| if options.fixed { escaped(pattern) } else { pattern.clone().into_bytes() })
            .collect();
        let capital = options.patterns.iter().any(|pattern| pattern.chars().any(char::is_uppercase));
        let regex = Options {
            ignore_case: match options.case {
                crate::options::Case::Ignored => true,
                crate::options::Case::Smart => !capital,
                crate::options::Case::Sensitive => false,
            },
            whole_line: options.line,
            whole_word: options.word,
            subject: if options.multiline { Subject::TextOfLines } else { Subject::Lines },
            terminator: if options.null_data { 0 } else { b'\n' },
            captures: true,
            unicode: !options.ascii,
            ..Options::perl()
        };
        Regex::new(&patterns, &regex).map(Self).map_err(|error| format!("PCRE2: error compiling pattern: {error}"))
    }
}

fn escaped(pattern: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for char in pattern.chars() {
        if char.is_ascii_punctuation() {
            out.push(b'\\');
        }
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    }
    out
}

fn as_match(range: &Range<usize>) -> Match {
    Match::new(range.start, range.end)
}

impl Captures for PerlCaptures {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, at: usize) -> Option<Match> {
        self.0.get(at)?.as_ref().map(as_match)
    }
}

impl Matcher for PerlMatcher {
    type Captures = PerlCaptures;
    type Error = GaveUp;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, GaveUp> {
        let found = self.0.find_in_line(text, at).map_err(GaveUp)?;
        Ok(found.as_ref().map(as_match))
    }

    fn new_captures(&self) -> Result<PerlCaptures, GaveUp> {
        Ok(PerlCaptures(vec![None; self.capture_count()]))
    }

    fn capture_count(&self) -> usize {
        self.0.groups() + 1
    }

    fn captures_at(&self, text: &[u8], at: usize, captures: &mut PerlCaptures) -> Result<bool, GaveUp> {
        match self.0.captures(text, at).map_err(GaveUp)? {
            Some(groups) => {
                captures.0 = groups;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}
