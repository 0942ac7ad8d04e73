//! The pages of `docs/reference` match the code.

use tidebox::StopReason;

use super::{all_help, compare_generated, read};

#[test]
fn the_command_page_contains_every_help() {
    let text: String =
        all_help().into_iter().map(|(name, help)| format!("## {name}\n```text\n{help}```\n\n")).collect();
    compare_generated(
        "docs/reference/cli.md",
        "<!-- generated from tidebox --help -->\n",
        "<!-- end of the help -->\n",
        &text,
    );
}

#[test]
fn the_page_of_exit_codes_has_a_row_for_every_code_of_the_help() {
    let (_, help) = all_help().into_iter().next().expect("the command has a help");
    let (_, table) = help.split_once("Exit codes:\n").expect("the help has a table of exit codes");
    let page = read("docs/reference/errors.md");
    for line in table.lines().take_while(|line| !line.is_empty()) {
        let (code, _) = line.trim().split_once("  ").expect("a row has a code and a meaning");
        assert!(page.contains(&format!("| {code} |")), "{code} has no row");
    }
}

/// Variant, its stable name and the first sentence of its documentation, of an enum in `core/src/error.rs`.
fn variants(source: &str, name: &str) -> Vec<(String, String)> {
    let (_, body) = source.split_once(&format!("pub enum {name} {{\n")).expect("the enum exists");
    let (body, rest) = body.split_once("\n}\n").expect("the enum ends");
    let mut variants = Vec::new();
    let mut doc = String::new();
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("/// ") {
            if !doc.is_empty() {
                doc.push(' ');
            }
            doc += text;
        } else if let Some(variant) = line.strip_suffix(',') {
            let arm = format!("Self::{variant} => \"");
            let (_, after) = rest.split_once(&arm).unwrap_or_else(|| panic!("{variant} has a stable name"));
            let stable = after.split('"').next().expect("a string ends").to_owned();
            variants.push((stable, std::mem::take(&mut doc)));
        }
    }
    variants
}

/// Documentation for Rust as text of a page: links to items become code.
fn plain(doc: &str) -> String {
    doc.replace("[`crate::", "`").replace("[`", "`").replace("`]", "`")
}

fn table(variants: &[(String, String)]) -> String {
    let rows: String = variants.iter().map(|(name, doc)| format!("| `{name}` | {} |\n", plain(doc))).collect();
    format!("| name | meaning |\n|---|---|\n{rows}")
}

#[test]
fn the_error_page_lists_every_kind() {
    let source = read("core/src/error.rs");
    let (kinds, codes) = (variants(&source, "ErrorKind"), variants(&source, "FileErrorCode"));
    assert!(kinds.len() > 10 && codes.len() > 10, "{} and {}", kinds.len(), codes.len());
    let end = "<!-- end of the table -->\n";
    compare_generated(
        "docs/reference/errors.md",
        "<!-- kinds: generated from core/src/error.rs -->\n",
        end,
        &table(&kinds),
    );
    let page = read("docs/reference/errors.md");
    // The second table has a separate end marker, because markers are found by their text.
    let codes = table(&codes);
    compare_generated(
        "docs/reference/errors.md",
        "<!-- file errors: generated from core/src/error.rs -->\n",
        "<!-- end of the file errors -->\n",
        &codes,
    );
    for reason in StopReason::ALL {
        assert!(page.contains(&format!("| `{}` |", reason.as_str())), "{reason:?} has no row");
    }
}
