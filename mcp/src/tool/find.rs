//! `glob`: files by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::{FileInfo, GlobRequest, SandboxPath};

use super::{Hints, READS, ToolCall, ToolContext, ToolOutput};
use crate::error::ToolError;
use crate::text::lossy;

/// Maximum number of returned files.
const MAX_FILES: usize = 200;

pub(super) struct Glob;

#[derive(Deserialize, JsonSchema)]
pub(super) struct GlobInput {
    /// Pattern such as "*.py" (at any depth) or "src/**/*.{ts,tsx}".
    pattern: String,
    /// Directory to search. Default: the sandbox's working directory.
    path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct GlobOutput {
    /// Absolute paths, the newest file first.
    files: Vec<String>,
    /// More files match.
    truncated: bool,
}

impl ToolCall for Glob {
    const NAME: &'static str = "glob";
    const TITLE: &'static str = "Find files by name";
    const DESCRIPTION: &'static str = "Finds files of the sandbox whose path matches a pattern, the newest first.";
    const HINTS: Hints = READS;

    type Input = GlobInput;
    type Output = GlobOutput;

    async fn run(context: ToolContext<'_>, input: GlobInput) -> Result<ToolOutput<GlobOutput>, ToolError> {
        let (pattern, dir) = match (&input.path, split_absolute(&input.pattern)) {
            (None, Some((dir, pattern))) => (pattern, SandboxPath::parse(dir)?),
            (path, _) => (input.pattern.as_str(), context.open.resolve(path.as_deref().unwrap_or("."))?),
        };
        let found = context.open.backend().glob(GlobRequest::new(pattern, dir)).await??;
        let mut files = found.files;
        files.sort_by_key(|file: &FileInfo| std::cmp::Reverse(file.modified));
        let truncated = found.truncated.is_some() || files.len() > MAX_FILES;
        let files: Vec<_> = files.iter().take(MAX_FILES).map(|file| lossy(&file.path)).collect();
        let mut text = if files.is_empty() { "No files found".to_owned() } else { files.join("\n") };
        if truncated {
            text.push_str("\n[more files match; use a narrower pattern or path]");
        }
        Ok(ToolOutput::new(text, GlobOutput { files, truncated }))
    }
}

/// Splits an absolute pattern into the directory before its first wildcard and the rest.
fn split_absolute(pattern: &str) -> Option<(&str, &str)> {
    let first_wildcard = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    let slash = pattern.get(..first_wildcard)?.rfind('/')?;
    let dir = pattern.get(..slash).filter(|dir| dir.is_empty() || dir.starts_with('/'))?;
    Some((if dir.is_empty() { "/" } else { dir }, pattern.get(slash + 1..)?)).filter(|_| pattern.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::split_absolute;

    #[test]
    fn an_absolute_pattern_starts_at_its_fixed_directory() {
        assert_eq!(split_absolute("/workspace/src/**/*.py"), Some(("/workspace/src", "**/*.py")));
        assert_eq!(split_absolute("/*.py"), Some(("/", "*.py")));
        assert_eq!(split_absolute("/workspace/a.txt"), Some(("/workspace", "a.txt")));
        assert_eq!(split_absolute("src/*.py"), None);
        assert_eq!(split_absolute("*.py"), None);
    }
}
