//! Effect of each option.

use super::value::{no_choice, number, pattern, patterns_from, separator, size, text};
use super::{Case, Mode, Options, Show, SortBy, TypeChange, unexpected};
use crate::usage::{HELP, VERSION};

impl Options {
    /// Applies one option. A returned text is printed instead of searching.
    pub(super) fn set(&mut self, name: &str, value: Vec<u8>) -> Result<Option<String>, String> {
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

    /// Pattern and matching options.
    pub(super) fn set_pattern(&mut self, name: &str, value: &[u8]) -> Result<bool, String> {
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
            // Performance options, without effect on the results.
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

    /// Output options.
    pub(super) fn set_output(&mut self, name: &str, value: &[u8]) -> Result<bool, String> {
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
                // A terminal without color support gets no colors, unless `--color always` is set.
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

    pub(super) fn set_color(&mut self, value: &[u8]) -> Result<(), String> {
        self.color = match value {
            b"never" => false,
            b"auto" => tidebox_rt::is_terminal(1),
            b"always" | b"ansi" => true,
            other => return Err(no_choice("color", &text(other), "WHEN", "always, ansi, auto, never")),
        };
        Ok(())
    }

    /// File selection options.
    pub(super) fn set_files(&mut self, name: &str, value: &[u8]) -> Result<bool, String> {
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
}
