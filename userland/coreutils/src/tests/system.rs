use tidebox_gnu::exit::ToolResult;

use crate::common::block_size::{Unit, format_size};
use crate::common::signal;
use crate::{dd, env, ls, stat, timeout};

#[test]
fn durations_are_parsed_like_gnu() {
    for (text, wanted) in
        [("1", 1_000_000_000), ("0.5", 500_000_000), ("2m", 120_000_000_000), ("+0", 0), ("0x.8p1m", 60_000_000_000)]
    {
        assert_eq!(timeout::duration(text.as_bytes()), Ok(wanted), "{text}");
    }
    for text in ["", "x", "1x", "-1", "+-1", "nan", "1ms", "0x", "0x1pq"] {
        let message = format!("invalid time interval {}", tidebox_gnu::message::quote_value(text.as_bytes()));
        assert_eq!(timeout::duration(text.as_bytes()), Err(message), "{text}");
    }
    assert_eq!(timeout::duration(b"1e300d"), Ok(u64::MAX));
}

#[test]
fn signals_have_names_and_numbers() {
    for (text, wanted) in [("TERM", 15), ("sigkill", 9), ("9", 9), ("137", 9), ("CHLD", 17), ("0", 0), ("EXIT", 0)] {
        assert_eq!(signal::parse(text), Some(wanted), "{text}");
    }
    for text in ["", "FOO", "-1", "99"] {
        assert_eq!(signal::parse(text), None, "{text}");
    }
    assert_eq!(signal::name(15), Some("TERM"));
    assert_eq!(signal::name(0), None);
}

#[test]
fn sizes_are_rounded_up_and_short() {
    for (bytes, wanted) in [
        (0, "0"),
        (1023, "1023"),
        (1024, "1.0K"),
        (1025, "1.1K"),
        (10 * 1024, "10K"),
        (10 * 1024 + 1, "11K"),
        (1024 * 1024 - 1, "1.0M"),
        (u64::MAX, "16E"),
    ] {
        assert_eq!(format_size(bytes, Unit::Human(1024)), wanted, "{bytes}");
    }
    assert_eq!(format_size(1500, Unit::Human(1000)), "1.5k");
    assert_eq!(format_size(1025, Unit::Bytes(1024)), "2");
}

#[test]
fn env_splits_strings() {
    let environment = [b"HOME=/h".to_vec()];
    let words = |text: &str| {
        env::split(text.as_bytes(), &environment)
            .map(|words| words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>())
    };
    assert_eq!(words(r#"a 'b c' "d ${HOME}" \#e ''"#), Ok(["a", "b c", "d /h", "#e", ""].map(str::to_owned).to_vec()));
    assert_eq!(words(r"a\_b\tc \c d"), Ok(["a", "b\tc"].map(str::to_owned).to_vec()));
    assert!(words("'a").is_err());
    assert!(words("a\\").is_err());
    assert!(words("$HOME").is_err());
}

#[test]
fn stat_prints_fields_with_widths() {
    let format = |format: &str| match stat::main(vec![b"-c".to_vec(), format.as_bytes().to_vec(), b"/".to_vec()]) {
        ToolResult::PrintAndCode(text, 0) => String::from_utf8_lossy(&text).into_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(format("%n|%5n|%-5n|%F|%%|%q"), "/|    /|/    |directory|%|?\n");
    assert_eq!(format("%99999999999999999999n|%"), "/|%\n");
}

#[test]
fn numbers_of_dd_have_units_and_factors() {
    for (text, wanted) in [("1", 1), ("2k", 2048), ("3kB", 3000), ("1M", 1 << 20), ("2x3", 6), ("4b", 2048), ("5w", 10)]
    {
        assert_eq!(dd::number(text), dd::Number::Valid(wanted), "{text}");
    }
    for text in ["", "x", "1q", "-1", "1x", "1tB", "999999999G999"] {
        assert_eq!(dd::number(text), dd::Number::Invalid, "{text}");
    }
    for text in ["99999999999999999999", "1Y", "2x99999999999999999999"] {
        assert_eq!(dd::number(text), dd::Number::TooLarge, "{text}");
    }
    assert_eq!(dd::number("00x99999999999999999999"), dd::Number::Valid(0));
}

#[test]
fn ls_options_select_files_and_columns() {
    let dir = std::env::temp_dir().join(format!("tidebox-extras-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("sub")).expect("the temporary directory can be made");
    for (name, size) in [("b", 3), (".hidden", 0), ("a c", 5000)] {
        std::fs::write(dir.join(name), vec![b'x'; size]).expect("the file can be written");
    }
    let list = |options: &[&str]| {
        let path = dir.to_str().expect("the path is UTF-8");
        let arguments = options.iter().chain([&path]).map(|argument| argument.as_bytes().to_vec()).collect();
        match ls::main(arguments) {
            ToolResult::PrintAndCode(text, 0) => String::from_utf8(text).expect("names are UTF-8"),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(list(&["-1"]), "a c\nb\nsub\n");
    assert_eq!(list(&["-1A"]), ".hidden\na c\nb\nsub\n");
    assert_eq!(list(&["-1rF"]), "sub/\nb\na c\n");
    assert_eq!(list(&["-1S", "-I", "sub"]), "a c\nb\n");
    assert_eq!(list(&["-C", "-w", "10"]), "a c  sub\nb\n");
    let long = list(&["-l", "--time-style=+T"]);
    assert!(
        long.lines().any(|line| line.starts_with("-rw") && line.ends_with("T a c") && line.contains(" 5000 ")),
        "{long}"
    );
    std::fs::remove_dir_all(&dir).expect("the temporary directory can be removed");
}
