use tidebox_gnu::stream::Input;

use crate::buffer::Line;
use crate::session::{Session, Step};

#[test]
fn registry_names_what_this_program_is() {
    assert_eq!(tidebox_gnu::tool::registered("ed.wasm"), ["ed"]);
}

fn edited(lines: &[&str], commands: &[&str]) -> Result<Vec<String>, String> {
    let mut session = Session::new(Input::standard());
    session.buffer.insert(0, lines.iter().map(|line| Line::from(line.as_bytes())).collect());
    for command in commands {
        match session.execute(command.as_bytes()) {
            Ok(Step::Next | Step::Quit(_)) => {}
            Err(trouble) => return Err(trouble.text),
        }
    }
    let last = session.buffer.len();
    Ok(session.buffer.lines(1, last).iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect())
}

fn text(lines: &[&str]) -> Result<Vec<String>, String> {
    Ok(lines.iter().map(|line| (*line).to_owned()).collect())
}

#[test]
fn lines_are_moved_copied_joined_and_removed() {
    let lines = ["1", "2", "3", "4"];
    assert_eq!(edited(&lines, &["1,2m$"]), text(&["3", "4", "1", "2"]));
    assert_eq!(edited(&lines, &["1t."]), text(&["1", "2", "3", "4", "1"]));
    assert_eq!(edited(&lines, &["2,3j"]), text(&["1", "23", "4"]));
    assert_eq!(edited(&lines, &["2d", "$d"]), text(&["1", "3"]));
    assert_eq!(edited(&lines, &["2d", "u"]), text(&lines));
    assert_eq!(edited(&lines, &["1,3m2"]), Err("Invalid destination".to_owned()));
}

#[test]
fn patterns_replace_and_choose() {
    let lines = ["one", "two", "three"];
    assert_eq!(edited(&lines, &[",s/e/E/g"]), text(&["onE", "two", "thrEE"]));
    assert_eq!(edited(&lines, &["1s/\\(.\\)\\(.\\)/\\2\\1/"]), text(&["noe", "two", "three"]));
    assert_eq!(edited(&lines, &["g/t/s/$/!/"]), text(&["one", "two!", "three!"]));
    assert_eq!(edited(&lines, &["v/o/d"]), text(&["one", "two"]));
    assert_eq!(edited(&lines, &["g/./m0"]), text(&["three", "two", "one"]));
    assert_eq!(edited(&lines, &["1s/zz/y/"]), Err("No match".to_owned()));
    assert_eq!(edited(&lines, &["3s/e/E/2"]), text(&["one", "two", "threE"]));
}

#[test]
fn addresses_beyond_the_text_are_refused() {
    for command in ["9p", "0p", "$+1p", "5,1p", "'xp", "99999999999999999999p", "-9p", "+9p"] {
        assert!(edited(&["1", "2"], &[command]).is_err(), "{command}");
    }
}
