//! The pages of `docs`: every link leads to a file and a title, and `SUMMARY.md` lists every page once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path};

use anyhow::{Context, Result, bail};

use crate::project::{Project, list_files};

/// The table of contents of the book.
pub(super) const SUMMARY: &str = "docs/SUMMARY.md";

/// Pages outside of the book whose links are checked, too.
const OTHER_PAGES: [&str; 8] = [
    "AGENTS.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "examples/python/README.md",
    "fuzz/README.md",
    "tests/spec/README.md",
];

/// Text of every page by its path, relative to the root and with `/`.
pub(super) type Pages = BTreeMap<String, String>;

/// Reads the pages of `docs`.
pub(super) fn read(project: &Project) -> Result<Pages> {
    let mut pages = Pages::new();
    for path in list_files(&project.root.join("docs"))? {
        if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            pages.insert(relative(project, &path), text);
        }
    }
    Ok(pages)
}

/// A path relative to the root, with `/`.
pub(super) fn relative(project: &Project, path: &Path) -> String {
    let path = path.strip_prefix(&project.root).unwrap_or(path);
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Fails with a list of all errors.
pub(super) fn check(project: &Project, pages: &Pages) -> Result<()> {
    let mut errors = String::new();
    let mut referenced = Vec::new();
    let mut all = pages.clone();
    for name in OTHER_PAGES {
        let text = fs::read_to_string(project.root.join(name)).with_context(|| format!("cannot read {name}"))?;
        all.insert(name.to_owned(), text);
    }
    for (name, text) in &all {
        for link in links(text) {
            match check_link(project, &all, name, &link) {
                Ok(target) => referenced.extend(target),
                Err(error) => drop(writeln!(errors, "{name}: {error}")),
            }
        }
    }
    check_summary(pages, &mut errors)?;
    for image in list_files(&project.root.join("docs/images"))? {
        let name = relative(project, &image);
        let is_source = image.extension().is_some_and(|extension| extension == "txt" || extension == "css");
        if !is_source && !referenced.contains(&name) {
            let _ = writeln!(errors, "{name}: no page shows it");
        }
    }
    if !errors.is_empty() {
        bail!("pages have errors; mend them, then run `cargo xtask docs check`:\n{errors}");
    }
    Ok(())
}

/// Checks that the table of contents has every page once.
fn check_summary(pages: &Pages, errors: &mut String) -> Result<()> {
    let summary = pages.get(SUMMARY).with_context(|| format!("{SUMMARY} does not exist"))?;
    let listed: Vec<String> = links(summary).into_iter().map(|link| format!("docs/{link}")).collect();
    for page in pages.keys().filter(|page| *page != SUMMARY) {
        let count = listed.iter().filter(|listed| *listed == page).count();
        if count != 1 {
            let _ = writeln!(errors, "{page}: {SUMMARY} lists it {count} times; list it once");
        }
    }
    Ok(())
}

/// Returns the linked file, relative to the root, unless the link is a URL.
fn check_link(project: &Project, pages: &Pages, page: &str, link: &str) -> Result<Option<String>> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(None);
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = if path.is_empty() { page.to_owned() } else { resolve(page, path)? };
    if !project.root.join(&target).exists() {
        bail!("the link {link} leads to no file");
    }
    if page.starts_with("docs/") && target.starts_with("docs/") && project.root.join(&target).is_dir() {
        bail!("the link {link} leads to a directory, which is not a page of the book");
    }
    if let (Some(anchor), Some(text)) = (anchor, pages.get(&target))
        && !anchors(text).iter().any(|known| known == anchor)
    {
        bail!("the link {link} leads to no title of {target}");
    }
    Ok(Some(target))
}

/// Resolves a path relative to the directory of a page.
pub(super) fn resolve(page: &str, path: &str) -> Result<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir if parts.is_empty() => bail!("the link {path} leads out of the repository"),
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.push(part.to_str().unwrap_or_default()),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => bail!("the link {path} is absolute"),
        }
    }
    Ok(parts.join("/"))
}

/// The lines of a page outside of its code blocks, without code in the text.
fn prose(text: &str) -> String {
    let mut result = String::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            // A span of code can continue in the next line, as in a link's text.
            result += line;
            result.push('\n');
        }
    }
    result.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The targets of all links and images.
pub(super) fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let sources = prose.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
    targets.chain(sources).filter(|target| !target.is_empty()).map(str::to_owned).collect()
}

/// The anchors of the titles of a page, as mdBook and GitHub derive them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        in_block ^= line.trim_start().starts_with("```");
        if in_block || !line.starts_with('#') {
            continue;
        }
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let letters = title.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '_' | '-' => Some(letter),
            _ => letter.is_alphanumeric().then_some(letter),
        });
        let anchor: String = letters.collect();
        let earlier = anchors.iter().filter(|known| **known == anchor).count();
        anchors.push(if earlier == 0 { anchor } else { format!("{anchor}-{earlier}") });
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_are_not_links() {
        let text = "See [`a`](b.md#c) and `[x](y)`.\n```text\n[z](w)\n```\n![d](e.svg)\n";
        assert_eq!(links(text), ["b.md#c", "e.svg"]);
    }

    #[test]
    fn anchors_are_those_of_github() {
        let text = "# The `tool`: A/B\n## Twice\n## Twice\n```sh\n# comment\n```\n";
        assert_eq!(anchors(text), ["the-tool-ab", "twice", "twice-1"]);
    }

    #[test]
    fn paths_are_relative_to_the_page() {
        assert_eq!(resolve("docs/start/rust.md", "../limits.md").expect("a page"), "docs/limits.md");
        assert!(resolve("docs/a.md", "../../b.md").is_err());
        assert!(resolve("docs/a.md", "/b.md").is_err());
    }

    #[test]
    fn a_page_that_is_not_listed_is_an_error() {
        let pages = Pages::from([
            (SUMMARY.to_owned(), "[A](a.md)\n[A](a.md)".to_owned()),
            ("docs/a.md".to_owned(), String::new()),
            ("docs/b.md".to_owned(), String::new()),
        ]);
        let mut errors = String::new();
        check_summary(&pages, &mut errors).expect("the summary exists");
        assert_eq!(errors.lines().count(), 2, "{errors}");
    }
}
