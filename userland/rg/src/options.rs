//! The command line.

use std::ffi::OsString;

use tidebox_gnu::message::bytes_path;

use crate::message::reason;
use crate::usage::{HELP, USAGE, VERSION};

/// What is to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Search,
    Files,
    Types,
}

/// What is put out for a file.
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

/// How letters match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Case {
    #[default]
    Sensitive,
    Ignored,
    Smart,
}

/// What files are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortBy {
    Path,
    Modified,
    Accessed,
    Created,
}

/// What the command line asks for.
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
    /// Between parts of a file; nothing for `--no-context-separator`.
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

/// A change to the types of files, in the order in which they were given.
#[derive(Clone, Debug)]
pub(crate) enum TypeChange {
    Select(String),
    Negate(String),
    Add(String),
    Clear(String),
}

/// What the command line is.
#[derive(Debug)]
pub(crate) enum Request {
    Run(Box<Options>),
    Say(String),
}

/// Long names of options that take a value, and what the value is called.
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

/// The long name of an option of one letter.
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

/// A wrong command line, with the usage behind it.
fn misuse(message: &str) -> String {
    format!("error: {message}\n{USAGE}")
}

fn unexpected(argument: &str) -> String {
    misuse(&format!("Found argument '{argument}' which wasn't expected, or isn't valid in this context"))
}

/// Reads the command line.
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
                return Ok(Request::Say(text));
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
                    return Ok(Request::Say(text));
                }
            }
        } else {
            operands.push(argument);
        }
    }
    options.finish(operands, has_patterns).map(|options| Request::Run(Box::new(options)))
}

/// The value of an option, of which the absence is told once there is a pattern, whose absence counts more.
fn needed(name: &str, value: Option<Vec<u8>>, has_pattern: bool) -> Result<Vec<u8>, String> {
    let what = value_name(name).unwrap_or("VALUE");
    let more = if matches!(name, "regexp" | "file" | "glob" | "iglob" | "type" | "type-not") { "..." } else { "" };
    value.ok_or_else(|| {
        if has_pattern || matches!(name, "regexp" | "file") {
            misuse(&format!("The argument '--{name} <{what}>{more}' requires a value but none was supplied"))
        } else {
            misuse(NO_PATTERN)
        }
    })
}

const NO_PATTERN: &str = "The following required arguments were not provided:\n    <PATTERN>";

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

fn number<T: std::str::FromStr>(name: &str, value: &[u8]) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    let what = value_name(name).unwrap_or("NUM");
    text(value).parse().map_err(|error| format!("error: Invalid value for '--{name} <{what}>': {error}\n"))
}

/// A number with `K`, `M` or `G` behind it.
fn size(value: &[u8]) -> Result<u64, String> {
    let written = text(value);
    let (digits, unit) = match written.strip_suffix(['K', 'M', 'G']) {
        Some(digits) => (digits, written.chars().last()),
        None => (written.as_str(), None),
    };
    let shift = match unit {
        Some('K') => 10,
        Some('M') => 20,
        Some('G') => 30,
        _ => 0,
    };
    let bad = || {
        format!(
            "invalid format for size '{written}', which should be a sequence of digits \
             followed by an optional 'K', 'M' or 'G' suffix"
        )
    };
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift)).ok_or_else(bad)
}

/// A separator, in which `\n`, `\t`, `\0` and `\xFF` mean what they mean in C.
fn separator(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = value;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let hex =
            after.get(1..3).filter(|_| after.first() == Some(&b'x')).and_then(|hex| std::str::from_utf8(hex).ok());
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(byte);
            rest = after.get(3..).unwrap_or_default();
            continue;
        }
        let escape = match after.first() {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'0') => 0,
            Some(b'\\') => b'\\',
            _ => {
                out.push(b'\\');
                continue;
            }
        };
        out.push(escape);
        rest = after.get(1..).unwrap_or_default();
    }
    out
}

impl Options {
    /// Takes one option. A text is what is to be printed instead of searching.
    fn set(&mut self, name: &str, value: Vec<u8>) -> Result<Option<String>, String> {
        match name {
            "help" => return Ok(Some(HELP.to_owned())),
            "version" => return Ok(Some(VERSION.to_owned())),
            "search-zip" | "pre" | "pre-glob" | "pcre2-version" | "hyperlink-format" => {
                return Err(format!("--{name} is not supported"));
            }
            _ => {}
        }
        let taken =
            self.set_pattern(name, &value)? || self.set_output(name, &value)? || self.set_files(name, &value)?;
        if taken { Ok(None) } else { Err(unexpected(&format!("--{name}"))) }
    }

    /// What has to do with patterns and what they match.
    fn set_pattern(&mut self, name: &str, value: &[u8]) -> Result<bool, String> {
        match name {
            "regexp" => self.patterns.push(pattern(value)?),
            "file" => self.patterns.extend(patterns_from(value)?),
            "fixed-strings" => self.fixed = true,
            "no-fixed-strings" => self.fixed = false,
            "pcre2" => self.perl = true,
            "no-pcre2" => self.perl = false,
            "engine" => match value {
                b"default" | b"auto" => self.perl = false,
                b"pcre2" => self.perl = true,
                other => return Err(format!("unrecognized regex engine '{}'", text(other))),
            },
            "ignore-case" => self.case = Case::Ignored,
            "case-sensitive" => self.case = Case::Sensitive,
            "smart-case" => self.case = Case::Smart,
            "word-regexp" => (self.word, self.line) = (true, false),
            "line-regexp" => (self.line, self.word) = (true, false),
            "invert-match" => self.invert = true,
            "no-invert-match" => self.invert = false,
            "multiline" => self.multiline = true,
            "no-multiline" => self.multiline = false,
            "multiline-dotall" => self.dot_all = true,
            "no-multiline-dotall" => self.dot_all = false,
            "crlf" => self.crlf = true,
            "no-crlf" => self.crlf = false,
            "unicode" | "pcre2-unicode" => self.ascii = false,
            "no-unicode" | "no-pcre2-unicode" => self.ascii = true,
            "null-data" => self.null_data = true,
            "text" => self.text = true,
            "no-text" => self.text = false,
            "binary" => self.binary = true,
            "no-binary" => self.binary = false,
            "encoding" => self.encoding = (value != b"auto").then(|| text(value)),
            "no-encoding" => self.encoding = None,
            "max-count" => self.max_count = Some(number(name, value)?),
            // How the search is done, which changes nothing that is found.
            "auto-hybrid-regex"
            | "no-auto-hybrid-regex"
            | "dfa-size-limit"
            | "regex-size-limit"
            | "mmap"
            | "no-mmap"
            | "threads" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What has to do with output.
    fn set_output(&mut self, name: &str, value: &[u8]) -> Result<bool, String> {
        match name {
            "line-number" => self.line_number = Some(true),
            "no-line-number" => self.line_number = Some(false),
            "with-filename" => self.file_names = Some(true),
            "no-filename" => self.file_names = Some(false),
            "heading" => self.heading = true,
            "no-heading" => self.heading = false,
            "count" => self.show = Show::Count,
            "count-matches" => self.show = Show::CountMatches,
            "include-zero" => self.include_zero = true,
            "files-with-matches" => self.show = Show::Matching,
            "files-without-match" => self.show = Show::NotMatching,
            "json" => self.show = Show::Json,
            "no-json" => self.show = Show::Lines,
            "only-matching" => self.only_matching = true,
            "replace" => self.replacement = Some(value.to_vec()),
            "after-context" => self.after = Some(number(name, value)?),
            "before-context" => self.before = Some(number(name, value)?),
            "context" => self.around = number(name, value)?,
            "passthru" | "passthrough" => self.passthru = true,
            "max-columns" => self.max_columns = Some(number(name, value)?).filter(|columns| *columns > 0),
            "max-columns-preview" => self.preview = true,
            "no-max-columns-preview" => self.preview = false,
            "column" => self.column = true,
            "no-column" => self.column = false,
            "byte-offset" => self.byte_offset = true,
            "vimgrep" => self.vimgrep = true,
            "trim" => self.trim = true,
            "no-trim" => self.trim = false,
            "stats" => self.stats = true,
            "no-stats" => self.stats = false,
            "color" => self.set_color(value)?,
            "colors" => self.colors.push(text(value)),
            "pretty" => {
                // A terminal that has no colours gets none, where `--color always` asks nobody.
                self.color = std::env::var_os("TERM").is_some_and(|term| term != "dumb")
                    && std::env::var_os("NO_COLOR").is_none();
                self.heading = true;
                self.line_number = Some(true);
            }
            "context-separator" => self.context_separator = Some(Some(separator(value))),
            "no-context-separator" => self.context_separator = Some(None),
            "field-match-separator" => self.match_separator = Some(separator(value)),
            "field-context-separator" => self.field_separator = Some(separator(value)),
            "path-separator" => self.path_separator = separator(value).first().copied(),
            "null" => self.null = true,
            "quiet" => self.quiet = true,
            "no-messages" => self.no_messages = true,
            "messages" => self.no_messages = false,
            "line-buffered" | "no-line-buffered" | "block-buffered" | "no-block-buffered" | "debug" | "trace"
            | "no-ignore-messages" | "ignore-messages" | "no-config" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_color(&mut self, value: &[u8]) -> Result<(), String> {
        self.color = match value {
            b"never" => false,
            b"auto" => tidebox_rt::is_terminal(1),
            b"always" | b"ansi" => true,
            other => return Err(no_choice("color", &text(other), "WHEN", "always, ansi, auto, never")),
        };
        Ok(())
    }

    /// What has to do with files.
    fn set_files(&mut self, name: &str, value: &[u8]) -> Result<bool, String> {
        match name {
            "files" => self.mode = Mode::Files,
            "type-list" => self.mode = Mode::Types,
            "glob" => self.globs.push((text(value), false)),
            "iglob" => self.globs.push((text(value), true)),
            "glob-case-insensitive" => self.globs_ignore_case = true,
            "no-glob-case-insensitive" => self.globs_ignore_case = false,
            "type" => self.types.push(TypeChange::Select(text(value))),
            "type-not" => self.types.push(TypeChange::Negate(text(value))),
            "type-add" => self.types.push(TypeChange::Add(text(value))),
            "type-clear" => self.types.push(TypeChange::Clear(text(value))),
            "hidden" => self.hidden = true,
            "no-hidden" => self.hidden = false,
            "no-ignore" => self.no_ignore = true,
            "ignore" => self.no_ignore = false,
            "no-ignore-vcs" => self.no_ignore_vcs = true,
            "ignore-vcs" => self.no_ignore_vcs = false,
            "no-ignore-parent" => self.no_ignore_parent = true,
            "ignore-parent" => self.no_ignore_parent = false,
            "no-ignore-dot" => self.no_ignore_dot = true,
            "ignore-dot" => self.no_ignore_dot = false,
            "no-ignore-exclude" => self.no_ignore_exclude = true,
            "ignore-exclude" => self.no_ignore_exclude = false,
            "no-ignore-global" => self.no_ignore_global = true,
            "ignore-global" => self.no_ignore_global = false,
            "no-ignore-files" => self.no_ignore_files = true,
            "ignore-files" => self.no_ignore_files = false,
            "no-require-git" => self.no_require_git = true,
            "require-git" => self.no_require_git = false,
            "ignore-file" => self.ignore_files.push(value.to_vec()),
            "ignore-file-case-insensitive" => self.ignore_files_in_any_case = true,
            "no-ignore-file-case-insensitive" => self.ignore_files_in_any_case = false,
            "follow" => self.follow = true,
            "no-follow" => self.follow = false,
            "max-depth" | "maxdepth" => self.max_depth = Some(number("max-depth", value)?),
            "max-filesize" => self.max_filesize = Some(size(value)?),
            "one-file-system" => self.one_file_system = true,
            "no-one-file-system" => self.one_file_system = false,
            "unrestricted" => self.unrestricted = self.unrestricted.saturating_add(1),
            "sort-files" => self.sort = Some((SortBy::Path, false)),
            "no-sort-files" => self.sort = None,
            "sort" | "sortr" => {
                let by = match value {
                    b"path" => SortBy::Path,
                    b"modified" => SortBy::Modified,
                    b"accessed" => SortBy::Accessed,
                    b"created" => SortBy::Created,
                    b"none" => {
                        self.sort = None;
                        return Ok(true);
                    }
                    other => {
                        let choices = "accessed, created, modified, none, path";
                        return Err(no_choice(name, &text(other), "SORTBY", choices));
                    }
                };
                self.sort = Some((by, name == "sortr"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes what stands between the options, and settles what depends on several of them.
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

fn no_choice(option: &str, value: &str, what: &str, choices: &str) -> String {
    misuse(&format!("'{value}' isn't a valid value for '--{option} <{what}>'\n\t[possible values: {choices}]\n"))
}

fn pattern(value: &[u8]) -> Result<String, String> {
    String::from_utf8(value.to_vec()).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!(
            "found invalid UTF-8 in pattern at byte offset {at}: {} (disable Unicode mode and use hex escape sequences to \
             match arbitrary bytes in a pattern, e.g., '(?-u)\\xFF')",
            text(value)
        )
    })
}

/// The lines of a file, or with `-` of standard input.
fn patterns_from(file: &[u8]) -> Result<Vec<String>, String> {
    let read = if file == b"-" {
        std::io::read_to_string(std::io::stdin()).map(String::into_bytes)
    } else {
        std::fs::read(bytes_path(file))
    };
    let shown = OsString::from(bytes_path(file));
    let content = read.map_err(|error| format!("{}: {}", shown.to_string_lossy(), reason(&error)))?;
    let content = content.strip_suffix(b"\n").map_or_else(|| content.clone(), <[u8]>::to_vec);
    if content.is_empty() {
        return Ok(Vec::new());
    }
    content.split(|byte| *byte == b'\n').map(|line| pattern(line.strip_suffix(b"\r").unwrap_or(line))).collect()
}
