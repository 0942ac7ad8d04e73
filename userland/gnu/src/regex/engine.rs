//! Search engines.

use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem;
use regex_automata::meta;
use regex_automata::nfa::thompson::{self, pikevm::PikeVM};
use regex_automata::util::look::LookMatcher;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

use super::lower::{LowerOptions, first_is_longest};
use super::parse::{Parsed, parse, plain};
use super::syntax::Node;
use super::{Dialect, Error, Groups, Options};

/// Maximum size of one compiled pattern in bytes: ten times that of the largest hand-written patterns.
const MAX_COMPILED_BYTES: usize = 20 << 20;

/// Maximum backtracking steps within one line before a search fails, as in PCRE.
const MAX_STEPS: usize = 10_000_000;

/// A search engine.
#[derive(Debug)]
pub(crate) enum Engine {
    /// No pattern.
    Never,
    /// One fixed text.
    Literal(Box<memmem::Finder<'static>>),
    /// Everything regular.
    Automaton(Box<Automaton>),
    /// Patterns with back-references, and Perl patterns.
    Backtracker(Box<fancy_regex::Regex>),
    /// Several patterns, some with back-references, which count groups per pattern.
    Any(Vec<Self>),
}

/// One automaton for the leftmost match, and one for its longest end.
#[derive(Debug)]
pub(crate) struct Automaton {
    first: meta::Regex,
    hir: Hir,
    terminator: u8,
    groups: usize,
    /// True if `first` also finds the longest match.
    first_is_longest: bool,
    longest: OnceCell<Option<meta::Regex>>,
    /// Resolves the groups within the longest match if `first` would end earlier.
    tracer: OnceCell<Option<PikeVM>>,
}

impl Engine {
    /// Compiles patterns. With `bytes`, every byte of the text is a character. The returned flag is true if the engine depends on
    /// `options.unicode`.
    pub(crate) fn new(
        patterns: &[Vec<u8>],
        options: &Options,
        bytes: bool,
        warnings: &mut Vec<String>,
    ) -> Result<(Self, bool), Error> {
        if patterns.is_empty() {
            return Ok((Self::Never, false));
        }
        if options.dialect == Dialect::Perl {
            return Ok((perl(patterns, options)?, false));
        }
        if let ([only], false, false) = (patterns, options.whole_line, options.whole_word)
            && is_literal(only, options)
        {
            return Ok((Self::Literal(Box::new(memmem::Finder::new(only).into_owned())), false));
        }
        let reading = LowerOptions {
            ignore_case: options.ignore_case,
            unicode: options.unicode,
            bytes,
            terminator: char::from(options.terminator),
            subject: options.subject,
            captures: options.captures,
        };
        let mut nodes = Vec::with_capacity(patterns.len());
        let mut back_references = false;
        let mut depends_on_locale = options.whole_word;
        let mut groups = 0;
        for pattern in patterns {
            let parsed = match options.dialect {
                Dialect::Fixed => fixed(pattern),
                dialect => parse(pattern, dialect, options.misplaced, options.unicode)?,
            };
            back_references |= parsed.back_references;
            depends_on_locale |= parsed.depends_on_locale;
            groups = groups.max(parsed.groups as usize);
            warnings.extend(parsed.warnings);
            nodes.push(parsed.node);
        }
        if back_references && patterns.len() > 1 {
            let alone = |pattern: &Vec<u8>| {
                let (engine, _) = Self::new(std::slice::from_ref(pattern), options, bytes, &mut Vec::new())?;
                Ok(engine)
            };
            let engines = patterns.iter().map(alone).collect::<Result<Vec<Self>, Error>>()?;
            return Ok((Self::Any(engines), depends_on_locale));
        }
        if back_references {
            return Ok((backtracker(&nodes, &reading, options)?, depends_on_locale));
        }
        let first_is_longest = nodes.len() == 1 && nodes.iter().all(first_is_longest);
        let hir = Hir::alternation(nodes.iter().map(|node| reading.hir(node)).collect());
        let hir = reading.bounded(hir, options.whole_line, options.whole_word);
        let first = compile(&hir, options.terminator, MatchKind::LeftmostFirst)?;
        let automaton = Automaton {
            first,
            hir,
            terminator: options.terminator,
            groups,
            first_is_longest,
            longest: OnceCell::new(),
            tracer: OnceCell::new(),
        };
        Ok((Self::Automaton(Box::new(automaton)), depends_on_locale))
    }

    /// Returns whether a line found by [`Self::find_candidate`] is certain to match.
    pub(crate) fn candidate_is_match(&self) -> bool {
        !matches!(self, Self::Backtracker(_) | Self::Any(_))
    }

    /// Returns a position on the first line that may match, at or after `from`.
    pub(crate) fn find_candidate(&self, text: &[u8], from: usize, terminator: u8) -> Result<Option<usize>, Error> {
        Ok(match self {
            Self::Never => None,
            Self::Literal(finder) => finder.find(text.get(from..).unwrap_or_default()).map(|at| from + at),
            Self::Automaton(automaton) => {
                let input = Input::new(text).span(from..text.len());
                automaton.first.search_half(&input).map(|end| end.offset())
            }
            Self::Backtracker(_) | Self::Any(_) => {
                let mut at = from;
                while at < text.len() {
                    let rest = text.get(at..).unwrap_or_default();
                    let end = memchr::memchr(terminator, rest).unwrap_or(rest.len());
                    if self.find_in_line(rest.get(..end).unwrap_or_default(), 0)?.is_some() {
                        return Ok(Some(at));
                    }
                    at += end + 1;
                }
                None
            }
        })
    }

    /// Returns the leftmost-longest match in a line, at or after `from`.
    pub(crate) fn find_in_line(&self, line: &[u8], from: usize) -> Result<Option<Range<usize>>, Error> {
        if from > line.len() {
            return Ok(None);
        }
        Ok(match self {
            Self::Never => None,
            Self::Literal(finder) => {
                let found = finder.find(line.get(from..).unwrap_or_default());
                found.map(|at| from + at..from + at + finder.needle().len())
            }
            Self::Automaton(automaton) => automaton.find(line, from),
            Self::Backtracker(regex) => {
                let found = regex.find_from_pos(line, from).map_err(|_| too_many_steps())?;
                found.map(|found| found.start()..found.end())
            }
            Self::Any(engines) => {
                let mut best: Option<Range<usize>> = None;
                for engine in engines {
                    let found = engine.find_in_line(line, from)?;
                    let better = |best: &Range<usize>, found: &Range<usize>| {
                        found.start < best.start || (found.start == best.start && found.end > best.end)
                    };
                    if let Some(found) = found.filter(|found| best.as_ref().is_none_or(|best| better(best, found))) {
                        best = Some(found);
                    }
                }
                best
            }
        })
    }
}

impl Engine {
    pub(crate) fn groups(&self) -> usize {
        match self {
            Self::Never | Self::Literal(_) | Self::Any(_) => 0,
            Self::Automaton(automaton) => automaton.groups,
            Self::Backtracker(regex) => regex.captures_len().saturating_sub(1),
        }
    }

    /// Like [`Self::find_in_line`], with the groups of the match.
    pub(crate) fn captures(&self, text: &[u8], from: usize) -> Result<Option<Groups>, Error> {
        if let Self::Backtracker(regex) = self {
            let found = regex.captures_from_pos(text, from).map_err(|_| too_many_steps())?;
            return Ok(found.map(|found| {
                (0..regex.captures_len()).map(|group| found.get(group).map(|part| part.start()..part.end())).collect()
            }));
        }
        let Some(whole) = self.find_in_line(text, from)? else {
            return Ok(None);
        };
        Ok(Some(match self {
            Self::Automaton(automaton) if automaton.groups > 0 => automaton.groups(text, whole),
            _ => vec![Some(whole)],
        }))
    }
}

fn too_many_steps() -> Error {
    Error::new("exceeded the limit of backtracking; a pattern without back-references has no such limit")
}

impl Automaton {
    fn groups(&self, text: &[u8], whole: Range<usize>) -> Groups {
        let input = Input::new(text).span(whole.start..text.len()).anchored(Anchored::Yes);
        let mut captures = self.first.create_captures();
        self.first.search_captures(&input, &mut captures);
        if captures.get_match().map(|found| found.range()) != Some(whole.clone()) {
            let tracer = self.tracer.get_or_init(|| tracer(&self.hir, self.terminator));
            if let Some(tracer) = tracer {
                let mut longest = tracer.create_captures();
                // The search is limited to the match, but sees the text after it for lookahead.
                let input = Input::new(text).span(whole.clone()).anchored(Anchored::Yes);
                tracer.search(&mut tracer.create_cache(), &input, &mut longest);
                captures = longest;
            }
        }
        let group = |group| captures.get_group(group).map(|span| span.range());
        std::iter::once(Some(whole)).chain((1..=self.groups).map(group)).collect()
    }

    fn find(&self, line: &[u8], from: usize) -> Option<Range<usize>> {
        let found = self.first.search(&Input::new(line).span(from..line.len()))?.range();
        if self.first_is_longest {
            return Some(found);
        }
        let longest = self.longest.get_or_init(|| compile(&self.hir, self.terminator, MatchKind::All).ok());
        let anchored = Input::new(line).span(found.start..line.len()).anchored(Anchored::Yes);
        let end = longest.as_ref().and_then(|longest| longest.search_half(&anchored)).map(|end| end.offset());
        Some(found.start..end.unwrap_or(found.end).max(found.end))
    }
}

fn compile(hir: &Hir, terminator: u8, kind: MatchKind) -> Result<meta::Regex, Error> {
    let config = meta::Config::new()
        .match_kind(kind)
        .utf8_empty(false)
        .line_terminator(terminator)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES))
        // Both need setup and pay off only on more text than a typical command searches.
        .dfa(false)
        .onepass(false);
    meta::Builder::new()
        .configure(config)
        .syntax(syntax::Config::new().utf8(false))
        .build_from_hir(hir)
        .map_err(|_| Error::too_big())
}

/// Resolver for the groups of a longest match: follows every path to its end; on ties the preferred path wins.
fn tracer(hir: &Hir, terminator: u8) -> Option<PikeVM> {
    let mut look = LookMatcher::new();
    look.set_line_terminator(terminator);
    let config = thompson::Config::new().utf8(false).look_matcher(look).nfa_size_limit(Some(MAX_COMPILED_BYTES));
    let nfa = thompson::Compiler::new().configure(config).build_from_hir(hir).ok()?;
    PikeVM::builder().configure(PikeVM::config().match_kind(MatchKind::All)).build_from_nfa(nfa).ok()
}

/// Returns whether a pattern is a literal.
fn is_literal(pattern: &[u8], options: &Options) -> bool {
    if pattern.is_empty() || pattern.contains(&options.terminator) {
        return false;
    }
    let special = |byte: &u8| match options.dialect {
        Dialect::Fixed => false,
        _ => b"\\[]^$.*+?{}()|".contains(byte),
    };
    let cased = |byte: &u8| options.ignore_case && (byte.is_ascii_alphabetic() || !byte.is_ascii());
    !pattern.iter().any(|byte| special(byte) || cased(byte))
}

fn fixed(pattern: &[u8]) -> Parsed {
    let mut nodes = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        let (node, length) = plain(rest);
        nodes.push(node);
        rest = rest.get(length..).unwrap_or_default();
    }
    Parsed {
        node: Node::Concat(nodes),
        back_references: false,
        groups: 0,
        depends_on_locale: false,
        warnings: Vec::new(),
    }
}

fn backtracker(nodes: &[Node], reading: &LowerOptions, options: &Options) -> Result<Engine, Error> {
    let mut text = String::new();
    nodes.iter().for_each(|node| reading.text(node, &mut text));
    build(&text, options, true)
}

fn perl(patterns: &[Vec<u8>], options: &Options) -> Result<Engine, Error> {
    let [pattern] = patterns else {
        return Err(Error::new("the -P option only supports a single pattern"));
    };
    let text = std::str::from_utf8(pattern).map_err(|_| Error::new("the pattern is not UTF-8"))?;
    build(text, options, false)
}

fn build(pattern: &str, options: &Options, longest: bool) -> Result<Engine, Error> {
    let pattern = match (options.whole_line, options.whole_word) {
        (true, _) => format!("^(?:{pattern})$"),
        (_, true) => format!("(?<!\\w)(?:{pattern})(?!\\w)"),
        _ => pattern.to_owned(),
    };
    let regex = fancy_regex::RegexBuilder::new(&pattern)
        .case_insensitive(options.ignore_case)
        .leftmost_longest(longest)
        .bytes_mode(fancy_regex::BytesMode::UnicodeBytes)
        .backtrack_limit(MAX_STEPS)
        .delegate_size_limit(MAX_COMPILED_BYTES)
        .build()
        .map_err(|error| Error::new(pcre_message(one_line(&error.to_string()))))?;
    Ok(Engine::Backtracker(Box::new(regex)))
}

/// Maps errors in Perl patterns to the messages of PCRE where an equivalent exists.
fn pcre_message(message: String) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("Opening parenthesis without closing parenthesis", "missing closing parenthesis"),
        ("Unexpected close paren", "unmatched closing parenthesis"),
        ("Target of repeat operator is invalid", "quantifier does not follow a repeatable item"),
        ("Invalid character class", "missing terminating ] for character class"),
        ("Backslash without following character", "\\ at end of pattern"),
        ("Invalid back reference", "reference to non-existent subpattern"),
    ];
    let known = WORDS.iter().find(|(ours, _)| message.contains(ours));
    known.map_or(message, |(_, theirs)| (*theirs).to_owned())
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
