//! `grep`: lines by regular expression, searched by the sandbox's `rg`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::{ExecuteRequest, ExecuteResponse, OutputChunk, SandboxPath, ShellMode, StopReason};

use super::{Hints, READS, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;
use crate::text::{clip, lossy};

/// Results that are returned without `head_limit`.
const DEFAULT_RESULTS: usize = 250;

/// Maximum number of returned results.
const MAX_RESULTS: usize = 2000;

/// Longer lines are cut by `rg`.
const MAX_COLUMNS: &str = "1000";

/// Exit code of `rg` after a search without a match.
const NO_MATCH: i32 = 1;

pub(super) struct Grep;

#[derive(Deserialize, JsonSchema)]
pub(super) struct GrepInput {
    /// Regular expression in the syntax of ripgrep.
    pattern: String,
    /// File or directory to search. Default: the sandbox's working directory.
    path: Option<String>,
    /// Only files whose path matches, such as "*.js" or "src/**/*.{ts,tsx}".
    glob: Option<String>,
    /// Only files of a type of ripgrep, such as py, rust or js.
    #[serde(rename = "type")]
    file_type: Option<String>,
    /// Kind of results: matching lines, paths of files with a match, or matching lines per file. Default files_with_matches.
    output_mode: Option<OutputMode>,
    /// Ignore case.
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Line numbers in the text. Default true.
    #[serde(rename = "-n")]
    line_numbers: Option<bool>,
    /// Only the matching parts of lines.
    #[serde(rename = "-o")]
    only_matching: Option<bool>,
    /// Lines of context after each match.
    #[serde(rename = "-A")]
    after: Option<u32>,
    /// Lines of context before each match.
    #[serde(rename = "-B")]
    before: Option<u32>,
    /// Lines of context around each match.
    #[serde(rename = "-C", alias = "context")]
    around: Option<u32>,
    /// Let the pattern match across lines.
    multiline: Option<bool>,
    /// Maximum number of results. Default 250, maximum 2000; 0 is the maximum.
    head_limit: Option<usize>,
    /// Results to skip. Default 0.
    offset: Option<usize>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutputMode {
    Content,
    FilesWithMatches,
    Count,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct GrepOutput {
    /// Results in path order.
    matches: Vec<GrepMatch>,
    /// More results exist, or parts of the search failed.
    truncated: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct GrepMatch {
    /// Absolute path of the file.
    path: String,
    /// Line number, in the mode content.
    line: Option<u64>,
    /// The line, in the mode content.
    text: Option<String>,
    /// The line is context and not a match.
    is_context: bool,
    /// Number of matching lines, in the mode count.
    count: Option<u64>,
}

impl ToolCall for Grep {
    const NAME: &'static str = "grep";
    const TITLE: &'static str = "Search in files";
    const DESCRIPTION: &'static str = "Searches files of the sandbox for a regular expression, with ripgrep. Hidden files are searched; \
        files that .gitignore excludes are not.";
    const HINTS: Hints = READS;

    type Input = GrepInput;
    type Output = GrepOutput;

    async fn run(context: ToolContext<'_>, input: GrepInput) -> Result<ToolOutput<GrepOutput>, ToolError> {
        let path = context.open.resolve(input.path.as_deref().unwrap_or("."))?;
        let request = ExecuteRequest::from_arguments(arguments(&input, &path))?
            .with_timeout(context.timeout(None))
            .with_shell_mode(ShellMode::Fresh);
        let mut sink = |chunk: OutputChunk| context.tail.push(&chunk.bytes);
        let response = context.open.backend().execute_streaming(request, &mut sink).await?;
        check(&response)?;
        Ok(collect(&input, &response))
    }
}

/// Builds the command. Paths end with a NUL byte in its output, because they may contain every other byte.
fn arguments(input: &GrepInput, path: &SandboxPath) -> Vec<String> {
    let fixed = ["rg", "--null", "--with-filename", "--no-heading", "--color=never", "--sort=path", "--hidden"];
    let mut arguments: Vec<String> = fixed.map(str::to_owned).to_vec();
    arguments.extend(["--max-columns", MAX_COLUMNS, "--max-columns-preview", "--glob=!.git"].map(str::to_owned));
    let mode = match input.mode() {
        OutputMode::Content => "--line-number",
        OutputMode::FilesWithMatches => "--files-with-matches",
        OutputMode::Count => "--count",
    };
    arguments.push(mode.to_owned());
    let mut flag = |is_set: Option<bool>, name: &[&str]| {
        if is_set.unwrap_or(false) {
            arguments.extend(name.iter().map(|name| (*name).to_owned()));
        }
    };
    flag(input.ignore_case, &["--ignore-case"]);
    flag(input.multiline, &["--multiline", "--multiline-dotall"]);
    let is_content = input.mode() == OutputMode::Content;
    flag(input.only_matching.filter(|_| is_content), &["--only-matching"]);
    let numbers = [("--after-context", input.after), ("--before-context", input.before), ("--context", input.around)];
    for (name, lines) in numbers {
        if let Some(lines) = lines.filter(|_| is_content) {
            arguments.push(format!("{name}={lines}"));
        }
    }
    arguments.extend(input.glob.iter().map(|glob| format!("--glob={glob}")));
    arguments.extend(input.file_type.iter().map(|name| format!("--type={name}")));
    arguments.push(format!("--regexp={}", input.pattern));
    arguments.extend(["--".to_owned(), path.to_string()]);
    arguments
}

impl GrepInput {
    fn mode(&self) -> OutputMode {
        self.output_mode.unwrap_or(OutputMode::FilesWithMatches)
    }

    fn limit(&self) -> usize {
        match self.head_limit {
            None => DEFAULT_RESULTS,
            Some(0) => MAX_RESULTS,
            Some(limit) => limit.min(MAX_RESULTS),
        }
    }
}

/// Fails if the search has no result because of an error. With results, unreadable files are only a truncation.
fn check(response: &ExecuteResponse) -> Result<(), ToolError> {
    let failed = match response.exit_code {
        Some(0 | NO_MATCH) => false,
        _ => response.stdout.is_empty(),
    };
    match response.stopped_by {
        Some(StopReason::Timeout) if failed => {
            Err(ToolError::Failed("cannot finish the search: it timed out; search a smaller directory".to_owned()))
        }
        _ if failed => Err(ToolError::Failed(format!("cannot search: {}", clip(&response.stderr).text.trim_end()))),
        _ => Ok(()),
    }
}

fn collect(input: &GrepInput, response: &ExecuteResponse) -> ToolOutput<GrepOutput> {
    let mode = input.mode();
    let all: Vec<_> = match mode {
        OutputMode::Content => response.stdout.split(|byte| *byte == b'\n').filter_map(parse_line).collect(),
        OutputMode::FilesWithMatches => response.stdout.split(|byte| *byte == 0).filter_map(parse_file).collect(),
        OutputMode::Count => response.stdout.split(|byte| *byte == b'\n').filter_map(parse_count).collect(),
    };
    let skip = input.offset.unwrap_or(0);
    let has_more = all.len() > skip.saturating_add(input.limit());
    let matches: Vec<_> = all.into_iter().skip(skip).take(input.limit()).collect();
    let truncated = has_more || response.truncated || !matches!(response.exit_code, Some(0 | NO_MATCH));
    let line_numbers = input.line_numbers.unwrap_or(true);
    let mut text = matches.iter().map(|found| format_match(found, line_numbers)).collect::<Vec<_>>().join("\n");
    if matches.is_empty() {
        text = "No matches found".to_owned();
    }
    let mut text = clip(text.as_bytes()).text;
    if has_more {
        text.push_str(&format!("\n[more results; continue with offset {}]", skip + matches.len()));
    }
    ToolOutput::new(text, GrepOutput { matches, truncated })
}

/// Parses `PATH\0NUMBER:TEXT`, or `PATH\0NUMBER-TEXT` for a line of context. Separators between groups have no NUL byte.
fn parse_line(line: &[u8]) -> Option<GrepMatch> {
    let (path, rest) = split_null(line)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()?;
    let is_context = *rest.get(digits)? == b'-';
    let text = rest.get(digits + 1..)?;
    let text = Some(lossy(text.strip_suffix(b"\r").unwrap_or(text)));
    Some(GrepMatch { path, line: Some(number), text, is_context, count: None })
}

fn parse_file(path: &[u8]) -> Option<GrepMatch> {
    let path = Some(path).filter(|path| !path.is_empty())?;
    Some(GrepMatch { path: lossy(path), line: None, text: None, is_context: false, count: None })
}

/// Parses `PATH\0NUMBER`.
fn parse_count(line: &[u8]) -> Option<GrepMatch> {
    let (path, rest) = split_null(line)?;
    let count = Some(std::str::from_utf8(rest).ok()?.parse().ok()?);
    Some(GrepMatch { path, line: None, text: None, is_context: false, count })
}

fn split_null(line: &[u8]) -> Option<(String, &[u8])> {
    let at = line.iter().position(|byte| *byte == 0)?;
    Some((lossy(line.get(..at)?), line.get(at + 1..)?))
}

fn format_match(found: &GrepMatch, line_numbers: bool) -> String {
    let sign = if found.is_context { '-' } else { ':' };
    match (&found.text, found.line, found.count) {
        (Some(text), Some(line), _) if line_numbers => format!("{}{sign}{line}{sign}{text}", found.path),
        (Some(text), ..) => format!("{}{sign}{text}", found.path),
        (None, _, Some(count)) => format!("{}:{count}", found.path),
        (None, ..) => found.path.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_rg_are_parsed_into_matches_and_context() {
        let found = parse_line(b"/a-1:b\x0012:x:y").unwrap();
        assert_eq!((found.path.as_str(), found.line, found.text.as_deref()), ("/a-1:b", Some(12), Some("x:y")));
        assert!(!found.is_context);
        assert!(
            parse_line(b"/a\x003-context\r")
                .is_some_and(|line| line.is_context && line.text.as_deref() == Some("context"))
        );
        for other in [&b"--"[..], b"", b"/a\x00x:y", b"/a\x003"] {
            assert_eq!(parse_line(other), None, "{other:?}");
        }
        assert_eq!(parse_count(b"/a\x007").unwrap().count, Some(7));
        assert_eq!(parse_file(b""), None);
    }

    #[test]
    fn a_pattern_that_looks_like_an_option_stays_a_pattern() {
        let input: GrepInput =
            serde_json::from_str(r#"{"pattern": "--pre=x", "glob": "-x", "-A": 2, "output_mode": "content"}"#).unwrap();
        let arguments = arguments(&input, &SandboxPath::parse("/-d").unwrap());
        for expected in ["--regexp=--pre=x", "--glob=-x", "--after-context=2", "--line-number"] {
            assert!(arguments.iter().any(|argument| argument == expected), "{arguments:?}");
        }
        assert_eq!(arguments.iter().rev().take(2).collect::<Vec<_>>(), ["/-d", "--"]);
    }

    #[test]
    fn head_limit_zero_is_the_maximum() {
        let limit = |json: &str| serde_json::from_str::<GrepInput>(json).unwrap().limit();
        assert_eq!(limit(r#"{"pattern": "x"}"#), DEFAULT_RESULTS);
        assert_eq!(limit(r#"{"pattern": "x", "head_limit": 0}"#), MAX_RESULTS);
        assert_eq!(limit(r#"{"pattern": "x", "head_limit": 3}"#), 3);
        assert_eq!(limit(r#"{"pattern": "x", "head_limit": 99999}"#), MAX_RESULTS);
    }
}
