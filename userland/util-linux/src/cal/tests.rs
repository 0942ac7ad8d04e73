use super::date::month;
use super::print;
use tidebox_gnu::exit::ToolResult;

fn printed(words: &str) -> String {
    let words = words.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    match print(words, 2026, 11) {
        ToolResult::Print(text) => String::from_utf8(text).expect("text"),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_month_has_six_rows_of_weeks() {
    let page = printed("2 2024");
    assert_eq!(page.lines().count(), 8);
    assert_eq!(page.lines().nth(2), Some("             1  2  3  "));
}

#[test]
fn september_1752_has_no_third_day() {
    let (weekday, days) = month(1752, 9);
    let numbers: Vec<u32> = days.iter().map(|day| day.of_month).collect();
    assert_eq!((weekday, numbers.get(..4)), (2, Some([1, 2, 14, 15].as_slice())));
    assert_eq!(days.last().map(|day| day.of_year), Some(263));
}

#[test]
fn weekdays_continue_from_month_to_month() {
    let mut expected = 6;
    for at in 12..12 * 3000 {
        let (weekday, days) = month(at / 12, u32::try_from(at % 12).expect("small") + 1);
        assert_eq!(weekday, expected, "{at}");
        expected = (weekday + i64::try_from(days.len()).expect("small")) % 7;
    }
}
