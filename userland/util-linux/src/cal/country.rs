//! Dates on which countries adopted the Gregorian calendar.

use super::date::Calendar;

/// Code, name, and the last day of the Julian calendar.
type Country = (&'static str, &'static str, (i64, u32, u32));

/// The country whose date counts when none is named.
pub(super) const DEFAULT: &str = "US";

const COUNTRIES: &[Country] = &[
    ("AL", "Albania", (1912, 11, 30)),
    ("AT", "Austria", (1583, 10, 5)),
    ("AU", "Australia", (1752, 9, 2)),
    ("BE", "Belgium", (1582, 12, 14)),
    ("BG", "Bulgaria", (1916, 3, 31)),
    ("CA", "Canada", (1752, 9, 2)),
    ("CH", "Switzerland", (1655, 2, 28)),
    ("CN", "China", (1911, 12, 18)),
    ("CZ", "Czech Republic", (1584, 1, 6)),
    ("DE", "Germany", (1700, 2, 18)),
    ("DK", "Denmark", (1700, 2, 18)),
    ("ES", "Spain", (1582, 10, 4)),
    ("FI", "Finland", (1753, 2, 17)),
    ("FR", "France", (1582, 12, 9)),
    ("GB", "United Kingdom", (1752, 9, 2)),
    ("GR", "Greece", (1924, 3, 9)),
    ("HU", "Hungary", (1587, 10, 21)),
    ("IS", "Iceland", (1700, 11, 16)),
    ("IT", "Italy", (1582, 10, 4)),
    ("JP", "Japan", (1918, 12, 18)),
    ("LI", "Lithuania", (1918, 2, 1)),
    ("LU", "Luxembourg", (1582, 12, 14)),
    ("LV", "Latvia", (1918, 2, 1)),
    ("NL", "Netherlands", (1582, 12, 14)),
    ("NO", "Norway", (1700, 2, 18)),
    ("PL", "Poland", (1582, 10, 4)),
    ("PT", "Portugal", (1582, 10, 4)),
    ("RO", "Romania", (1919, 3, 31)),
    ("RU", "Russia", (1918, 1, 31)),
    ("SI", "Slovenia", (1919, 3, 4)),
    ("SE", "Sweden", (1753, 2, 17)),
    ("TR", "Turkey", (1926, 12, 18)),
    ("US", "United States", (1752, 9, 2)),
    ("YU", "Yugoslavia", (1919, 3, 4)),
];

/// The calendar of a country.
pub(super) fn calendar(code: &str) -> Option<Calendar> {
    let (_, _, (year, month, day)) = COUNTRIES.iter().find(|(known, ..)| *known == code)?;
    Some(Calendar::until(*year, *month, *day))
}

/// All of them in two columns, the one that counts marked.
pub(super) fn list() -> String {
    let half = COUNTRIES.len().div_ceil(2);
    let shown = |(code, name, (year, month, day)): &Country| {
        let mark = if *code == DEFAULT { '*' } else { ' ' };
        format!("{mark}{code} {name:<14} {year:04}-{month:02}-{day:02}")
    };
    let mut out = String::new();
    for (at, left) in COUNTRIES.iter().take(half).enumerate() {
        out.push_str(&shown(left));
        if let Some(right) = COUNTRIES.get(half + at) {
            out.push_str("     ");
            out.push_str(&shown(right));
        }
        out.push('\n');
    }
    out
}
