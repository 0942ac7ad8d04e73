use super::parse;
use crate::zone::Zone;

/// Friday, 2024-03-15 10:20:30.5 UTC.
const NOW: (i64, u32) = (1_710_498_030, 500_000_000);

fn read(text: &str) -> Option<String> {
    let (seconds, nanoseconds) = parse(text.as_bytes(), NOW, &Zone::utc())?;
    let moment = crate::calendar::Moment::new(seconds, nanoseconds);
    Some(format!("{} {}", moment.field('F')?, moment.field('T')?))
}

#[test]
fn words_and_numbers_mean_what_they_mean_to_gnu() {
    for (text, wanted) in [
        ("", "2024-03-15 00:00:00"),
        ("now", "2024-03-15 10:20:30"),
        ("yesterday", "2024-03-14 10:20:30"),
        ("yesterday noon", ""),
        ("3 June 10:00", ""),
        ("tomorrow 8am", "2024-03-16 08:00:00"),
        ("next friday", "2024-03-22 00:00:00"),
        ("friday", "2024-03-15 00:00:00"),
        ("last monday", "2024-03-11 00:00:00"),
        ("2 days ago 10:00", "2024-03-13 10:00:00"),
        ("1 month ago", "2024-02-15 10:20:30"),
        ("2024-01-31 +1 month", "2024-03-02 00:00:00"),
        ("@0", "1970-01-01 00:00:00"),
        ("@-1.5", "1969-12-31 23:59:58"),
        ("2024-02-30", ""),
        ("2024-05-06T07:08:09Z", "2024-05-06 07:08:09"),
        ("2024-05-06T07:08:09+02:00", "2024-05-06 05:08:09"),
        ("10:00 +2 days", "2024-03-16 08:00:00"),
        ("20240506 1234", "2024-05-06 12:34:00"),
        ("5 June 99", "1999-06-05 00:00:00"),
        ("Jun 5, 2023 3pm", "2023-06-05 15:00:00"),
        ("6/5", "2024-06-05 00:00:00"),
        ("2023/6/5", "2023-06-05 00:00:00"),
        ("Fri, 15 Mar 2024 10:00:00 -0500", "2024-03-15 15:00:00"),
        ("12am", "2024-03-15 00:00:00"),
        ("13pm", ""),
        ("24:00", ""),
        ("third week", "2024-04-05 10:20:30"),
        ("nonsense", ""),
    ] {
        assert_eq!(read(text).unwrap_or_default(), wanted, "{text}");
    }
}
