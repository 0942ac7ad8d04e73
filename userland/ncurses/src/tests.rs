use crate::terminal::{Ability, Terminal};

#[test]
fn terminals_have_what_they_can_do() {
    let ability = |terminal: &str, name: &str, numbers: &[i32]| Terminal::find(terminal)?.ability(name, numbers);
    assert_eq!(ability("xterm", "setaf", &[1]), Some(Ability::Text("\x1b[31m".to_owned())));
    assert_eq!(ability("xterm-256color", "setaf", &[200]), Some(Ability::Text("\x1b[38;5;200m".to_owned())));
    assert_eq!(ability("dumb", "bold", &[]), Some(Ability::Absent));
    assert_eq!(ability("dumb", "colors", &[]), Some(Ability::Number(-1)));
    assert_eq!(ability("xterm", "cup", &[i32::MAX, 0]), Some(Ability::Text("\x1b[2147483647;1H".to_owned())));
    assert_eq!(ability("xterm", "nope", &[]), None);
    assert_eq!(ability("nope", "bold", &[]), None);
}
