//! The command line.

mod meaning;
mod value;

use crate::usage::USAGE;
use value::{needed, pattern};

/// Action to perform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Search,
    Files,
    Types,
}

/// Output per file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Show {
    #[default]
    Lines,
    Json,
    Count,
    CountMatches,
    Matching,
    NotMatching,
}

/// Case sensitivity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Case {
    #[default]
    Sensitive,
    Ignored,
    Smart,
}

/// Sort key of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortBy {
    Path,
    Modified,
    Accessed,
    Created,
}

/// Parsed command line.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option that people type")]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) show: Show,
    pub(crate) patterns: Vec<String>,
    pub(crate) paths: Vec<Vec<u8>>,
    pub(crate) case: Case,
    pub(crate) sort: Option<(SortBy, bool)>,
    pub(crate) fixed: bool,
    pub(crate) perl: bool,
    pub(crate) word: bool,
    pub(crate) line: bool,
    pub(crate) invert: bool,
    pub(crate) multiline: bool,
    pub(crate) dot_all: bool,
    pub(crate) crlf: bool,
    pub(crate) ascii: bool,
    pub(crate) null_data: bool,
    pub(crate) text: bool,
    pub(crate) binary: bool,
    pub(crate) encoding: Option<String>,
    pub(crate) line_number: Option<bool>,
    pub(crate) file_names: Option<bool>,
    pub(crate) heading: bool,
    pub(crate) include_zero: bool,
    pub(crate) only_matching: bool,
    pub(crate) replacement: Option<Vec<u8>>,
    pub(crate) before: Option<usize>,
    pub(crate) after: Option<usize>,
    pub(crate) around: usize,
    pub(crate) passthru: bool,
    pub(crate) max_count: Option<u64>,
    pub(crate) max_columns: Option<u64>,
    pub(crate) preview: bool,
    pub(crate) column: bool,
    pub(crate) byte_offset: bool,
    pub(crate) vimgrep: bool,
    pub(crate) trim: bool,
    pub(crate) stats: bool,
    pub(crate) color: bool,
    pub(crate) colors: Vec<String>,
    /// Separator between parts of a file; `None` for `--no-context-separator`.
    pub(crate) context_separator: Option<Option<Vec<u8>>>,
    pub(crate) match_separator: Option<Vec<u8>>,
    pub(crate) field_separator: Option<Vec<u8>>,
    pub(crate) path_separator: Option<u8>,
    pub(crate) null: bool,
    pub(crate) quiet: bool,
    pub(crate) no_messages: bool,
    pub(crate) globs: Vec<(String, bool)>,
    pub(crate) globs_ignore_case: bool,
    pub(crate) types: Vec<TypeChange>,
    pub(crate) hidden: bool,
    pub(crate) no_ignore: bool,
    pub(crate) no_ignore_vcs: bool,
    pub(crate) no_ignore_parent: bool,
    pub(crate) no_ignore_dot: bool,
    pub(crate) no_ignore_exclude: bool,
    pub(crate) no_ignore_global: bool,
    pub(crate) no_ignore_files: bool,
    pub(crate) no_require_git: bool,
    pub(crate) ignore_files: Vec<Vec<u8>>,
    pub(crate) ignore_files_in_any_case: bool,
    pub(crate) follow: bool,
    pub(crate) max_depth: Option<usize>,
    pub(crate) max_filesize: Option<u64>,
    pub(crate) one_file_system: bool,
    unrestricted: u8,
}

/// A change to the file types, in command line order.
#[derive(Clone, Debug)]
pub(crate) enum TypeChange {
    Select(String),
    Negate(String),
    Add(String),
    Clear(String),
}

/// Result of parsing.
#[derive(Debug)]
pub(crate) enum Request {
    Run(Box<Options>),
    Print(String),
}

/// Long options with a value, and the name of the value.
const WITH_VALUE: [(&str, &str); 34] = [
    ("regexp", "PATTERN"),
    ("file", "PATTERNFILE"),
    ("after-context", "NUM"),
    ("before-context", "NUM"),
    ("context", "NUM"),
    ("max-count", "NUM"),
    ("max-columns", "NUM"),
    ("max-depth", "NUM"),
    ("maxdepth", "NUM"),
    ("max-filesize", "NUM+SUFFIX?"),
    ("replace", "REPLACEMENT_TEXT"),
    ("glob", "GLOB"),
    ("iglob", "GLOB"),
    ("type", "TYPE"),
    ("type-not", "TYPE"),
    ("type-add", "TYPE_SPEC"),
    ("type-clear", "TYPE"),
    ("color", "WHEN"),
    ("colors", "COLOR_SPEC"),
    ("context-separator", "SEPARATOR"),
    ("field-match-separator", "SEPARATOR"),
    ("field-context-separator", "SEPARATOR"),
    ("path-separator", "SEPARATOR"),
    ("sort", "SORTBY"),
    ("sortr", "SORTBY"),
    ("encoding", "ENCODING"),
    ("engine", "ENGINE"),
    ("ignore-file", "PATH"),
    ("threads", "NUM"),
    ("dfa-size-limit", "NUM+SUFFIX?"),
    ("regex-size-limit", "NUM+SUFFIX?"),
    ("pre", "COMMAND"),
    ("pre-glob", "GLOB"),
    ("hyperlink-format", "FORMAT"),
];

/// The long name of a short option.
fn long_name(letter: char) -> Option<&'static str> {
    Some(match letter {
        'A' => "after-context",
        'B' => "before-context",
        'C' => "context",
        'E' => "encoding",
        'F' => "fixed-strings",
        'H' => "with-filename",
        'I' => "no-filename",
        'L' => "follow",
        'M' => "max-columns",
        'N' => "no-line-number",
        'P' => "pcre2",
        'S' => "smart-case",
        'T' => "type-not",
        'U' => "multiline",
        'V' => "version",
        'a' => "text",
        'b' => "byte-offset",
        'c' => "count",
        'd' => "max-depth",
        'e' => "regexp",
        'f' => "file",
        'g' => "glob",
        'h' => "help",
        'i' => "ignore-case",
        'j' => "threads",
        'l' => "files-with-matches",
        'm' => "max-count",
        'n' => "line-number",
        'o' => "only-matching",
        'p' => "pretty",
        'q' => "quiet",
        'r' => "replace",
        's' => "case-sensitive",
        't' => "type",
        'u' => "unrestricted",
        'v' => "invert-match",
        'w' => "word-regexp",
        'x' => "line-regexp",
        'z' => "search-zip",
        '0' => "null",
        '.' => "hidden",
        _ => return None,
    })
}

fn value_name(option: &str) -> Option<&'static str> {
    WITH_VALUE.iter().find(|(name, _)| *name == option).map(|(_, value)| *value)
}

/// A usage error, followed by the usage.
fn misuse(message: &str) -> String {
    format!("error: {message}\n{USAGE}")
}

fn unexpected(argument: &str) -> String {
    misuse(&format!("Found argument '{argument}' which wasn't expected, or isn't valid in this context"))
}

/// Parses the command line.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Request, String> {
    let mut options = Options::default();
    let mut operands = Vec::new();
    let mut has_patterns = false;
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if argument == b"--" {
            operands.extend(arguments.by_ref());
        } else if let Some(long) = argument.strip_prefix(b"--") {
            let long = String::from_utf8_lossy(long).into_owned();
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.as_bytes().to_vec())),
                None => (long, None),
            };
            let value = match (value_name(&name), value) {
                (Some(_), None) => Some(needed(&name, arguments.next(), has_patterns || !operands.is_empty())?),
                (None, Some(_)) => return Err(unexpected(&format!("--{name}"))),
                (_, value) => value,
            };
            has_patterns |= name == "regexp" || name == "file";
            if let Some(text) = options.set(&name, value.unwrap_or_default())? {
                return Ok(Request::Print(text));
            }
        } else if argument.len() > 1 && argument.first() == Some(&b'-') {
            let mut letters = argument.get(1..).unwrap_or_default();
            while let Some((letter, rest)) = letters.split_first() {
                letters = rest;
                let name = long_name(char::from(*letter))
                    .ok_or_else(|| unexpected(&format!("-{}", String::from_utf8_lossy(&[*letter]))))?;
                let mut value = Vec::new();
                if value_name(name).is_some() {
                    value = match std::mem::take(&mut letters) {
                        [] => needed(name, arguments.next(), has_patterns || !operands.is_empty())?,
                        rest => rest.strip_prefix(b"=").unwrap_or(rest).to_vec(),
                    };
                }
                has_patterns |= name == "regexp" || name == "file";
                if let Some(text) = options.set(name, value)? {
                    return Ok(Request::Print(text));
                }
            }
        } else {
            operands.push(argument);
        }
    }
    options.finish(operands, has_patterns).map(|options| Request::Run(Box::new(options)))
}

const NO_PATTERN: &str = "The following required arguments were not provided:\n    <PATTERN>";

impl Options {
    /// Handles operands, and resolves settings that depend on several options.
    fn finish(mut self, operands: Vec<Vec<u8>>, has_patterns: bool) -> Result<Self, String> {
        let mut operands = operands.into_iter();
        if self.mode == Mode::Search && !has_patterns {
            let Some(first) = operands.next() else {
                return Err(misuse(NO_PATTERN));
            };
            self.patterns.push(pattern(&first)?);
        }
        self.paths = operands.collect();
        self.no_ignore |= self.unrestricted > 0;
        self.hidden |= self.unrestricted > 1;
        self.binary |= self.unrestricted > 2;
        if self.only_matching && self.show == Show::Count {
            self.show = Show::CountMatches;
        }
        if self.invert && self.show == Show::CountMatches {
            self.show = Show::Count;
        }
        Ok(self)
    }

    /// Lines of context before and after.
    pub(crate) fn context(&self) -> (usize, usize) {
        (self.before.unwrap_or(self.around), self.after.unwrap_or(self.around))
    }
}
