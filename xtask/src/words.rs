//! The language check: idioms that comments, documentation and names must not use.
//!
//! `xtask/words.toml` lists the patterns, the preferred wording, and the allowed number of matches. A count may fall but
//! never rise: `cargo xtask words --accept` lowers the counts to those of the tree.
//!
//! Exceptions: a rule removes the text that matches its `allow` before it is applied, and skips files whose path starts
//! with a prefix of its `except`. A line with `words: allow <reason>` is skipped by all rules.

mod text;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::project::Project;
use crate::step::{self, Progress};

/// The list of patterns, relative to the root.
const LIST: &str = "xtask/words.toml";

/// Matches that an error prints for one pattern.
const MAX_EXAMPLES: usize = 8;

/// Files that quote other programs or hold data, as prefixes of paths relative to the root.
const SKIPPED: &[&str] =
    &["tests/spec/cases/", "tests/spec/DIFFERENCES.md", "xtask/src/words", "js-bindings/types/vendor"];

/// The content of `xtask/words.toml`.
#[derive(Debug, Deserialize, Serialize)]
struct List {
    /// Patterns for comments and for the prose of Markdown files.
    prose: Vec<Rule>,
    /// Patterns for Rust code without its comments and strings.
    code: Vec<Rule>,
    /// Patterns for the names of Rust tests.
    test: Vec<Rule>,
}

/// One banned idiom.
#[derive(Debug, Deserialize, Serialize)]
struct Rule {
    /// A regular expression of the crate `regex`.
    pattern: String,
    /// What to write instead.
    write: String,
    /// Text that is removed before the pattern is applied: the uses that are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    allow: Option<String>,
    /// Files that the rule does not apply to, as prefixes of paths relative to the root: the pattern is a term there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    except: Vec<String>,
    /// Matches that the tree may have at most.
    count: usize,
}

impl Rule {
    /// Returns whether the rule applies to a file, by its path relative to the root.
    fn applies_to(&self, file: &str) -> bool {
        !self.except.iter().any(|prefix| file.starts_with(prefix))
    }
}

/// A match of a rule: file, line number from 1, and the text around it.
#[derive(Debug, PartialEq, Eq)]
struct Match {
    file: String,
    line: usize,
    excerpt: String,
}

/// Runs the check as a step of `cargo xtask test`.
pub(crate) fn step(project: &Project, progress: &mut Progress) -> Result<()> {
    progress.step("words", |_| check(project, false))
}

/// Runs the check and lowers the counts of the list to those of the tree.
pub(crate) fn accept(project: &Project, progress: &mut Progress) -> Result<()> {
    progress.step("words", |_| check(project, true))
}

/// Prints every match of the rules whose pattern contains `filter`, for paths that start with `prefix`.
pub(crate) fn show(project: &Project, prefix: &str, filter: &str) -> Result<()> {
    let list = read_list(project)?;
    let units = units(project)?;
    for (kind, rules) in list.kinds() {
        for rule in rules.iter().filter(|rule| rule.pattern.contains(filter)) {
            for found in matches(rule, kind, &units)?.iter().filter(|found| found.file.starts_with(prefix)) {
                println!("{}:{}: {}", found.file, found.line, found.excerpt);
            }
        }
    }
    Ok(())
}

fn check(project: &Project, accept: bool) -> Result<()> {
    let mut list = read_list(project)?;
    let units = units(project)?;
    let mut errors = String::new();
    let mut has_fewer = false;
    for (kind, rules) in [("prose", &mut list.prose), ("code", &mut list.code), ("test", &mut list.test)] {
        for rule in rules {
            let found = matches(rule, kind, &units)?;
            if found.len() > rule.count {
                report(rule, &found, &mut errors);
            }
            has_fewer |= found.len() < rule.count;
            rule.count = rule.count.min(found.len());
        }
    }
    if !errors.is_empty() {
        bail!(
            "the text contains banned idioms; rewrite it (CONTRIBUTING.md, \"Style\"), then run `cargo xtask words`:\n{errors}"
        );
    }
    if accept && has_fewer {
        let text = toml::to_string(&list).context("cannot write the list of words as TOML")?;
        let path = project.root.join(LIST);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

impl List {
    fn kinds(&self) -> [(&'static str, &[Rule]); 3] {
        [("prose", &self.prose), ("code", &self.code), ("test", &self.test)]
    }
}

fn report(rule: &Rule, found: &[Match], errors: &mut String) {
    let _ = writeln!(
        errors,
        "`{}`: {} matches, at most {} allowed; write: {}",
        rule.pattern,
        found.len(),
        rule.count,
        rule.write
    );
    for example in found.iter().take(MAX_EXAMPLES) {
        let _ = writeln!(errors, "  {}:{}: {}", example.file, example.line, example.excerpt);
    }
}

fn read_list(project: &Project) -> Result<List> {
    let path = project.root.join(LIST);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
}

/// A file taken apart: path relative to the root, and its paragraphs by kind.
#[derive(Debug)]
struct Unit {
    file: String,
    prose: Vec<text::Paragraph>,
    code: Vec<text::Paragraph>,
    tests: Vec<text::Paragraph>,
}

fn units(project: &Project) -> Result<Vec<Unit>> {
    let mut units = Vec::new();
    for file in files(project)? {
        let path = project.root.join(&file);
        let content = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = file.to_string_lossy().into_owned();
        let unit = match file.extension().and_then(|extension| extension.to_str()) {
            Some("md") => Unit { file: name, prose: text::markdown(&content), code: Vec::new(), tests: Vec::new() },
            Some("rs") => Unit {
                file: name,
                prose: text::comments(&content),
                code: text::code(&content),
                tests: text::test_names(&content),
            },
            _ => Unit { file: name, prose: text::comments(&content), code: Vec::new(), tests: Vec::new() },
        };
        units.push(unit);
    }
    Ok(units)
}

/// Tracked and new files with prose to check.
fn files(project: &Project) -> Result<BTreeSet<PathBuf>> {
    let mut git = std::process::Command::new("git");
    git.current_dir(&project.root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    git.args(["*.rs", "*.ts", "*.md"]);
    let listed = String::from_utf8(step::output(&mut git, "cargo xtask words")?)
        .context("git printed a path that is not UTF-8")?;
    let is_checked = |file: &&str| !file.is_empty() && !SKIPPED.iter().any(|prefix| file.starts_with(prefix));
    Ok(listed.split('\0').filter(is_checked).map(PathBuf::from).filter(|file| exists(project, file)).collect())
}

fn exists(project: &Project, file: &Path) -> bool {
    project.root.join(file).is_file()
}

fn matches(rule: &Rule, kind: &str, units: &[Unit]) -> Result<Vec<Match>> {
    let compile = |pattern: &str| Regex::new(pattern).with_context(|| format!("{LIST}: invalid pattern `{pattern}`"));
    let pattern = compile(&rule.pattern)?;
    let allow = rule.allow.as_deref().map(compile).transpose()?;
    let mut found = Vec::new();
    for unit in units.iter().filter(|unit| rule.applies_to(&unit.file)) {
        let paragraphs = match kind {
            "prose" => &unit.prose,
            "code" => &unit.code,
            _ => &unit.tests,
        };
        for paragraph in paragraphs {
            let text = allow
                .as_ref()
                .map_or_else(|| paragraph.text.as_str().into(), |allow| allow.replace_all(&paragraph.text, "\u{7f}"));
            for one in pattern.find_iter(&text) {
                found.push(Match {
                    file: unit.file.clone(),
                    line: paragraph.line_at(&text, one.start()),
                    excerpt: excerpt(&text, one.start(), one.end()),
                });
            }
        }
    }
    Ok(found)
}

/// The match with up to 30 bytes on each side, cut at character boundaries.
fn excerpt(text: &str, start: usize, end: usize) -> String {
    let from = text.floor_char_boundary(start.saturating_sub(30));
    let to = text.ceil_char_boundary(end.saturating_add(30).min(text.len()));
    text.get(from..to).unwrap_or(text).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pattern: &str, allow: Option<&str>) -> Rule {
        Rule {
            pattern: pattern.to_owned(),
            write: String::new(),
            allow: allow.map(str::to_owned),
            except: Vec::new(),
            count: 0,
        }
    }

    fn unit(content: &str) -> Unit {
        Unit {
            file: "a.rs".to_owned(),
            prose: text::comments(content),
            code: text::code(content),
            tests: text::test_names(content),
        }
    }

    fn lines(rule: &Rule, kind: &str, content: &str) -> Vec<usize> {
        matches(rule, kind, &[unit(content)]).expect("the pattern is valid").iter().map(|found| found.line).collect()
    }

    #[test]
    fn a_banned_idiom_in_a_comment_is_found_with_its_line() {
        let content = "//! Fine.\n\n/// The value that\n/// nobody reads.\nfn nobody() {}\n";
        assert_eq!(lines(&rule(r"\bnobody\b", None), "prose", content), [4]);
    }

    #[test]
    fn an_allowed_use_is_not_counted() {
        let content = "// RFC 9110 says so.\n// It says so.\n";
        assert_eq!(lines(&rule(r"\bsays\b", Some(r"RFC \d+ says")), "prose", content), [2]);
    }

    #[test]
    fn code_rules_skip_comments_and_strings() {
        let content = "// fn spelled() {}\nfn spelled() { print(\"fn spelled()\"); }\n";
        assert_eq!(lines(&rule(r"\bfn spelled\b", None), "code", content), [2]);
    }

    #[test]
    fn a_rule_skips_the_files_of_its_exceptions() {
        let unit = |file: &str| Unit { file: file.to_owned(), ..unit("// A word of the script.\n") };
        let units = [unit("userland/sh/src/a.rs"), unit("userland/shape.rs"), unit("cli/userland/sh/a.rs")];
        let rule = Rule { except: vec!["userland/sh/".to_owned()], ..rule(r"\bword\b", None) };
        let found = matches(&rule, "prose", &units).expect("the pattern is valid");
        let files: Vec<&str> = found.iter().map(|found| found.file.as_str()).collect();
        assert_eq!(files, ["userland/shape.rs", "cli/userland/sh/a.rs"]);
    }

    #[test]
    fn exceptions_are_read_and_written() {
        let text = "pattern = 'a'\nwrite = \"b\"\nexcept = [\"userland/sh/\"]\ncount = 1\n";
        let rule: Rule = toml::from_str(text).expect("a valid rule");
        assert_eq!(rule.except, ["userland/sh/"]);
        let written = toml::to_string(&rule).expect("a rule can be written");
        assert_eq!(toml::from_str::<Rule>(&written).expect("a valid rule").except, rule.except);
    }

    #[test]
    fn test_rules_see_only_test_names() {
        let content = "#[test]\nfn it_is_told() {}\n\nfn that_is_told() {}\n";
        assert_eq!(lines(&rule(r"_told\b", None), "test", content), [2]);
    }
}
