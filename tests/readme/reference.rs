//! The pages of `docs/reference` match the code.

use std::process::Command;

use tidebox::StopReason;

use super::{compare_generated, read};

#[test]
fn the_command_page_contains_the_help() {
    let help = Command::new(env!("CARGO_BIN_EXE_tidebox")).arg("--help").output().expect("the command starts").stdout;
    let help = String::from_utf8(help).expect("the help is UTF-8");
    let text = format!("```text\n{}\n```\n", help.trim_end());
    compare_generated(
        "docs/reference/cli.md",
        "<!-- generated from tidebox --help -->\n",
        "<!-- end of the help -->\n",
        &text,
    );
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
