use super::answer;
use super::date::Calendar;
use tidebox_gnu::exit::ToolResult;

fn printed(words: &str) -> String {
    let mut words = words.split(' ').map(|word| word.as_bytes().to_vec());
    let tool = words.next().expect("a tool");
    let tool = String::from_utf8(tool).expect("a name");
    match answer(&tool, words.collect(), 2026, 11) {
        ToolResult::Print(text) => String::from_utf8(text).expect("text"),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_month_has_six_rows_of_weeks() {
    let page = printed("cal 2 2024");
    assert_eq!(page.lines().count(), 8);
    assert_eq!(page.lines().nth(2), Some("             1  2  3  "));
}

#[test]
fn days_that_a_country_left_out_are_not_shown() {
    let (weekday, days) = Calendar::until(1752, 9, 2).month(1752, 9);
    let numbers: Vec<u32> = days.iter().map(|day| day.of_month).collect();
    assert_eq!((weekday, numbers.get(..4)), (2, Some([1, 2, 14, 15].as_slice())));
}

#[test]
fn easter_of_both_churches() {
    assert_eq!(printed("ncal -e 2024"), "03/31/24\n");
    assert_eq!(printed("ncal -o 2024"), "05/05/24\n");
    assert_eq!(printed("ncal -e 1500"), "04/19/00\n");
}

#[test]
fn every_week_of_four_centuries_has_a_number_of_its_year() {
    for year in 1753..2160 {
        let page = printed(&format!("ncal -w {year}"));
        let rows =
            page.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ") || line.starts_with("    "));
        let numbers = rows.flat_map(str::split_whitespace).filter_map(|word| word.parse::<i64>().ok());
        assert!(numbers.filter(|number| *number != year).all(|number| (1..=53).contains(&number)), "{year}");
    }
}
