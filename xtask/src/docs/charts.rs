//! Bar charts of the tables of `docs/performance.md`.
//!
//! A section that refers to `images/chart-NAME.svg` gets a chart of its first table: one group of bars for each row with at
//! least two times. The bars of a row are scaled to its longest one, because rows differ by orders of magnitude.

use std::fmt::Write as _;
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use regex::Regex;

use super::svg;

const WIDTH: f64 = 760.0;
const LABEL_WIDTH: f64 = 330.0;
const BAR_WIDTH: f64 = 320.0;
const BAR_HEIGHT: f64 = 13.0;
/// Height of the title and the legend.
const HEAD: f64 = 44.0;
const MAX_LABEL: usize = 44;

/// Classes of the columns, Tidebox first.
const COLORS: [&str; 4] = ["own", "first", "second", "third"];

const STYLE: &str = "\
.card{fill:#fff;stroke:#d0d7de}.text{fill:#1f2328}.quiet{fill:#59636e}\
.own{fill:#0969da}.first{fill:#8c959f}.second{fill:#bf8700}.third{fill:#8250df}\
@media(prefers-color-scheme:dark){.card{fill:#161b22;stroke:#30363d}.text{fill:#e6edf3}.quiet{fill:#9198a1}\
.own{fill:#4493f8}.first{fill:#7d8590}.second{fill:#d29922}.third{fill:#ab7df8}}";

/// A row with its label, and the text and seconds of each column that has a time.
#[derive(Debug, PartialEq)]
struct Row {
    label: String,
    times: Vec<(usize, String, f64)>,
}

/// Returns the file name and the drawing of every chart that the page refers to.
pub(super) fn draw(page: &str) -> Result<Vec<(String, String)>> {
    let mut charts = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let Some((_, rest)) = section.split_once("](images/chart-") else { continue };
        let (name, _) = rest.split_once(".svg)").context("a chart's reference does not end with .svg)")?;
        let title = section.lines().next().unwrap_or_default();
        let (columns, rows) = table(section);
        ensure!(!rows.is_empty(), "the section \"{title}\" of docs/performance.md has no table with times to draw");
        charts.push((format!("chart-{name}.svg"), chart(title, &columns, &rows)));
    }
    Ok(charts)
}

/// Parses the first table of a section.
fn table(section: &str) -> (Vec<String>, Vec<Row>) {
    let lines = section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let mut lines = lines.map(cells);
    let columns = lines.next().unwrap_or_default().into_iter().skip(1).collect();
    let rows = lines.skip(1).filter_map(|cells| {
        let (label, values) = cells.split_first()?;
        let times = values.iter().enumerate().filter_map(|(column, cell)| {
            let (text, seconds) = time(cell)?;
            Some((column, text, seconds))
        });
        let times: Vec<_> = times.take(COLORS.len()).collect();
        (times.len() > 1).then(|| Row { label: label.clone(), times })
    });
    (columns, rows.collect())
}

/// The cells of a line of a table, without the signs for code.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{0}");
    let cells = line.trim().trim_matches('|').split('|');
    cells.map(|cell| cell.trim().replace('`', "").replace('\u{0}', "|")).collect()
}

/// The text and the seconds of a cell that contains one time, such as `0.20 ms` or `365 µs (8.1)`.
fn time(cell: &str) -> Option<(String, f64)> {
    static TIME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(([0-9][0-9,]*(?:\.[0-9]+)?) (ns|µs|ms|s))(?: \([0-9.]+\))?$").expect("a valid expression")
    });
    let found = TIME.captures(cell)?;
    let number: f64 = found[2].replace(',', "").parse().ok()?;
    let unit = match &found[3] {
        "ns" => 1e-9,
        "µs" => 1e-6,
        "ms" => 1e-3,
        _ => 1.0,
    };
    Some((found[1].to_owned(), number * unit))
}

fn chart(title: &str, columns: &[String], rows: &[Row]) -> String {
    let heights = rows.iter().map(|row| row.times.len() as f64 * (BAR_HEIGHT + 2.0) + 9.0);
    let height = HEAD + heights.sum::<f64>() + 8.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" font-family=\"{}\" font-size=\"12\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"card\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
        svg::SANS,
        svg::escape(&format!("{title}: bars of a row are scaled to its longest; shorter is better")),
        WIDTH - 1.0,
        height - 1.0,
    );
    legend(&mut text, columns, rows);
    let mut y = HEAD;
    for row in rows {
        draw_row(&mut text, row, y);
        y += row.times.len() as f64 * (BAR_HEIGHT + 2.0) + 9.0;
    }
    text + "</svg>\n"
}

/// Names of the columns that have bars.
fn legend(text: &mut String, columns: &[String], rows: &[Row]) {
    let mut x = 14.0;
    for (column, class) in COLORS.into_iter().enumerate() {
        let Some(name) = columns.get(column) else { break };
        if !rows.iter().any(|row| row.times.iter().any(|(of, ..)| *of == column)) {
            continue;
        }
        let _ = writeln!(text, "<rect class=\"{class}\" x=\"{x}\" y=\"14\" width=\"12\" height=\"12\" rx=\"2\"/>");
        let _ = writeln!(text, "<text class=\"text\" x=\"{}\" y=\"24.5\">{}</text>", x + 18.0, svg::escape(name));
        x += 40.0 + name.chars().count() as f64 * 7.0;
    }
    let hint = "shorter is better; each row to its longest bar";
    let _ = writeln!(text, "<text class=\"quiet\" x=\"{}\" y=\"24.5\" text-anchor=\"end\">{hint}</text>", WIDTH - 14.0);
}

fn draw_row(text: &mut String, row: &Row, y: f64) {
    let longest = row.times.iter().map(|(.., seconds)| *seconds).fold(f64::MIN_POSITIVE, f64::max);
    let _ = writeln!(
        text,
        "<text class=\"text\" x=\"14\" y=\"{}\">{}</text>",
        y + 11.0,
        svg::escape(&svg::shorten(&row.label, MAX_LABEL))
    );
    for (line, (column, shown, seconds)) in row.times.iter().enumerate() {
        let class = COLORS.get(*column).copied().unwrap_or("first");
        let top = y + line as f64 * (BAR_HEIGHT + 2.0);
        // A bar of less than one pixel would be invisible.
        let width = (seconds / longest * BAR_WIDTH).max(1.0);
        let _ = writeln!(
            text,
            "<rect class=\"{class}\" x=\"{LABEL_WIDTH}\" y=\"{top}\" width=\"{width:.1}\" height=\"{BAR_HEIGHT}\" rx=\"2\"/>\
             <text class=\"quiet\" x=\"{:.1}\" y=\"{}\">{}</text>",
            LABEL_WIDTH + width + 6.0,
            top + 10.5,
            svg::escape(shown)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_one_time_are_parsed() {
        assert_eq!(time("0.20 ms"), Some(("0.20 ms".to_owned(), 0.20 * 1e-3)));
        assert_eq!(time("365 µs (8.1)"), Some(("365 µs".to_owned(), 365.0 * 1e-6)));
        assert_eq!(time("1,802 ms"), Some(("1,802 ms".to_owned(), 1802.0 * 1e-3)));
        for other in ["", "3.5 GiB/s", "14 to 111 µs", "16 µs, 21 µs", "0.35"] {
            assert_eq!(time(other), None, "{other}");
        }
    }

    #[test]
    fn rows_with_two_times_get_bars() {
        let page = "# Page\n\n## Shell\n![Chart](images/chart-shell.svg)\n\n| | Tidebox | native |\n|---|---|---|\n\
                    | `a \\| b` | 1 ms | 4 ms |\n| start | 2 µs | |\n";
        let (columns, rows) = table(page);
        assert_eq!(columns, ["Tidebox", "native"]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].label, "a | b");
        let charts = draw(page).expect("the table has times");
        assert_eq!(charts[0].0, "chart-shell.svg");
        assert!(charts[0].1.contains("width=\"80.0\"") && charts[0].1.contains("width=\"320.0\""), "{}", charts[0].1);
    }

    #[test]
    fn a_chart_without_a_table_is_an_error() {
        assert!(draw("# Page\n\n## Shell\n![Chart](images/chart-shell.svg)\n").is_err());
    }
}
