#[test]
fn signals_have_names_and_numbers() {
    for (text, wanted) in [("TERM", Some(15)), ("sigkill", Some(9)), ("9", Some(9)), ("nope", None), ("99", None)] {
        assert_eq!(crate::pgrep::signal(text), wanted, "{text}");
    }
}

#[test]
fn columns_have_widths_and_headers() {
    let names = |text: &str| {
        let columns = crate::columns::parse(text)?;
        Ok::<_, String>(columns.iter().map(|column| format!("{}:{}", column.header, column.width)).collect::<Vec<_>>())
    };
    assert_eq!(names("pid,comm:20"), Ok(vec!["PID:7".to_owned(), "COMMAND:20".to_owned()]));
    assert_eq!(names("pid=,comm="), Ok(vec![",comm=:7".to_owned()]));
    assert_eq!(names("args=WHAT IT IS"), Ok(vec!["WHAT IT IS:27".to_owned()]));
    assert_eq!(names("foo"), Err("foo".to_owned()));
}
