//! Tables of a client's methods in the providers' pages. The sessions of the clients print them, from the outcomes of
//! their calls.

use std::path::Path;

use crate::clients::Language;

/// Prefix of the lines of a table in the output of a session.
const PREFIX: &str = "page: ";

fn marks(language: Language) -> [String; 2] {
    let name = match language {
        Language::Python => "Python",
        Language::JavaScript => "JavaScript",
    };
    ["start", "end"].map(|place| format!("<!-- methods of the client for {name}: {place} -->\n"))
}

/// Asserts that a provider's page has the table that a session printed, if it printed one.
pub(crate) fn the_page_has_the_table(provider: &str, language: Language, printed: &str) {
    let lines: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix(PREFIX)).collect();
    if lines.is_empty() {
        return;
    }
    let table: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(format!("{provider}.md"));
    let page = std::fs::read_to_string(&path).expect("the page exists");
    let [start, end] = marks(language);
    let (before, rest) = page.split_once(&start).unwrap_or_else(|| panic!("{provider}.md has the line {start}"));
    let (shown, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{provider}.md has the line {end}"));
    if std::env::var_os("TIDEBOX_WRITE_PAGES").is_some() {
        std::fs::write(&path, format!("{before}{start}{table}{end}{after}")).expect("the page can be written");
        return;
    }
    assert_eq!(shown, table, "run this test with TIDEBOX_WRITE_PAGES=1 to regenerate the table");
}
