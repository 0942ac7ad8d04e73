//! Keys, echo, lines and signals. Expected values are those of Linux.

use crate::Signal;
use crate::terminal::line::{InputState, LineDiscipline, ReadTimes};
use crate::terminal::settings::{character, input, local, output};

const TIMES: ReadTimes = ReadTimes { now: 1_000, started: 1_000, last_input: 1_000 };

/// Types keys; returns the echo and the signals.
fn press(line: &mut LineDiscipline, keys: &[u8]) -> (String, Vec<Signal>) {
    let (mut echo, mut signals) = (Vec::new(), Vec::new());
    for key in keys {
        assert!(line.accepts(*key), "space for {key}");
        signals.extend(line.input(*key, &mut echo));
    }
    (String::from_utf8(echo).expect("the cases are UTF-8"), signals)
}

/// Returns the result of one read; `None` if it waits.
fn read(line: &mut LineDiscipline, limit: usize) -> Option<Vec<u8>> {
    let InputState::Ready(count) = line.state(limit, TIMES) else { return None };
    let mut bytes = vec![0; count];
    assert_eq!(line.peek(0, &mut bytes), count);
    line.consume(count);
    Some(bytes)
}

/// Checks the echo of keys in the default settings, and the line that they make with a final newline.
#[track_caller]
fn check(keys: &[u8], echo: &str, result: &[u8]) {
    let mut line = LineDiscipline::default();
    assert_eq!(press(&mut line, keys), (echo.to_owned(), Vec::new()));
    press(&mut line, b"\n");
    assert_eq!(read(&mut line, 8192).as_deref(), Some(result));
}

fn with(change: impl FnOnce(&mut crate::terminal::Settings)) -> LineDiscipline {
    let mut line = LineDiscipline::default();
    let mut settings = *line.settings();
    change(&mut settings);
    line.set_settings(settings);
    line
}

fn raw() -> LineDiscipline {
    with(|settings| {
        settings.local = 0;
        settings.input = 0;
    })
}

#[test]
fn a_line_is_readable_when_it_has_ended() {
    let mut line = LineDiscipline::default();
    assert_eq!(press(&mut line, b"ls").0, "ls");
    assert_eq!((read(&mut line, 10), line.readable()), (None, None));
    assert_eq!(press(&mut line, b"\r").0, "\r\n");
    assert_eq!(press(&mut line, b"next\n").0, "next\r\n");
    assert_eq!(line.readable(), Some(3));
    assert_eq!(read(&mut line, 2).as_deref(), Some(&b"ls"[..]));
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b"\n"[..]));
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b"next\n"[..]));
    assert_eq!(read(&mut line, 10), None);
}

#[test]
fn erase_removes_a_character_and_its_columns() {
    check(b"ab\x7f", "ab\x08 \x08", b"a\n");
    check(b"\x7f", "", b"\n");
    check("ä\x7f".as_bytes(), "ä\x08 \x08", b"\n");
    check(b"\x01\x7f", "^A\x08 \x08\x08 \x08", b"\n");
    check(b"ab\t\x7f", "ab\t\x08\x08\x08\x08\x08\x08", b"ab\n");
}

#[test]
fn erased_tabs_count_columns_after_the_prompt() {
    let mut line = LineDiscipline::default();
    let mut screen = Vec::new();
    line.output(b"\n12345", &mut screen);
    assert_eq!(screen, b"\r\n12345");
    assert_eq!(press(&mut line, b"\t\x7f").0, "\t\x08\x08\x08");
}

#[test]
fn word_and_line_are_erased() {
    check(b"one two-x  \x17", "one two-x  \x08 \x08\x08 \x08\x08 \x08", b"one two-\n");
    check(b"abc\x15", "abc\x08 \x08\x08 \x08\x08 \x08", b"\n");
    let mut line = with(|settings| settings.local &= !local::ECHOKE);
    assert_eq!(press(&mut line, b"abc\x15").0, "abc^U\r\n");
}

#[test]
fn the_literal_key_passes_the_next_key() {
    check(b"\x16\x03", "^\x08^C", b"\x03\n");
    check(b"\x16\x7fx", "^\x08^?x", b"\x7fx\n");
    check(b"\x16\rx", "^\x08^Mx", b"\rx\n");
}

#[test]
fn reprint_repeats_the_line() {
    check(b"ab\x12", "ab^R\r\nab", b"ab\n");
}

#[test]
fn end_of_file_ends_a_read() {
    let mut line = LineDiscipline::default();
    assert_eq!(press(&mut line, b"ab\x04").0, "ab");
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b"ab"[..]));
    assert_eq!(read(&mut line, 10), None);
    press(&mut line, b"\x04");
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b""[..]));
    assert_eq!(read(&mut line, 10), None);
}

#[test]
fn signal_keys_discard_input_and_show_themselves() {
    let mut line = LineDiscipline::default();
    press(&mut line, b"first\nsecond");
    assert_eq!(press(&mut line, b"\x03"), ("^C".to_owned(), vec![Signal::Int]));
    assert_eq!(read(&mut line, 10), None);
    assert_eq!(press(&mut line, b"\x1c\x1a").1, [Signal::Quit, Signal::Tstp]);
    let mut line = with(|settings| settings.local |= local::NOFLSH);
    assert_eq!(press(&mut line, b"kept\n\x03").1, [Signal::Int]);
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b"kept\n"[..]));
    let mut line = with(|settings| settings.local &= !local::ISIG);
    assert_eq!(press(&mut line, b"\x03\n"), ("^C\r\n".to_owned(), vec![]));
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b"\x03\n"[..]));
}

#[test]
fn echo_can_be_turned_off_except_for_newlines() {
    let mut line = with(|settings| settings.local &= !local::ECHO);
    assert_eq!(press(&mut line, b"secret\x7f\n").0, "");
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b"secre\n"[..]));
    let mut line = with(|settings| settings.local = settings.local & !local::ECHO | local::ECHONL);
    assert_eq!(press(&mut line, b"secret\n").0, "\r\n");
    let mut line = with(|settings| settings.local &= !local::ECHOCTL);
    assert_eq!(press(&mut line, b"\x01").0, "\x01");
}

#[test]
fn carriage_returns_and_newlines_are_translated() {
    let mut line = with(|settings| settings.input = input::IGNCR);
    press(&mut line, b"a\rb\n");
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b"ab\n"[..]));
    let mut line = with(|settings| settings.input = input::INLCR);
    press(&mut line, b"a\n\x04");
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b"a\r"[..]));
    let mut screen = Vec::new();
    let mut line = with(|settings| settings.output = output::OPOST | output::OCRNL);
    line.output(b"a\r\n", &mut screen);
    assert_eq!(screen, b"a\n\n");
    screen.clear();
    let mut line = with(|settings| settings.output = 0);
    line.output(b"a\r\n", &mut screen);
    assert_eq!(screen, b"a\r\n");
}

#[test]
fn a_line_longer_than_the_limit_is_cut() {
    let mut line = LineDiscipline::default();
    press(&mut line, &[b'a'; 4095]);
    assert_eq!(press(&mut line, b"bc"), ("\x07\x07".to_owned(), vec![]));
    press(&mut line, b"\n");
    let mut expected = vec![b'a'; 4095];
    expected.push(b'\n');
    assert_eq!(read(&mut line, 8192), Some(expected));
}

#[test]
fn unread_input_is_bounded_and_can_be_interrupted() {
    for keys in [&b"0123456789abcde\n"[..], b"\x04"] {
        let mut line = LineDiscipline::default();
        let mut echo = Vec::new();
        let count = keys.iter().cycle().take(1 << 20).take_while(|key| {
            let accepts = line.accepts(**key);
            if accepts {
                line.input(**key, &mut echo);
            }
            accepts
        });
        assert!(count.count() <= 64 << 10);
        assert!(!line.accepts(b'x') && line.accepts(3));
        assert_eq!(press(&mut line, b"\x03").1, [Signal::Int]);
        assert!(line.accepts(b'x'), "the signal has discarded the input");
    }
}

#[test]
fn raw_mode_passes_every_byte() {
    let mut line = raw();
    let every: Vec<u8> = (0..=255).collect();
    let mut echo = Vec::new();
    for byte in &every {
        assert_eq!(line.input(*byte, &mut echo), None);
    }
    assert_eq!((echo, read(&mut line, 300)), (vec![], Some(every)));
}

#[test]
fn minimum_and_time_decide_when_a_raw_read_returns() {
    let second = 1_000_000_000;
    let times = |now| ReadTimes { now, started: 0, last_input: second };
    let set = |line: &mut LineDiscipline, min, time| {
        let mut settings = *line.settings();
        settings.characters[character::MIN] = min;
        settings.characters[character::TIME] = time;
        line.set_settings(settings);
    };
    let mut line = raw();
    set(&mut line, 3, 0);
    press(&mut line, b"ab");
    assert_eq!((line.state(10, times(0)), line.readable()), (InputState::Waits(None), None));
    assert_eq!(line.state(2, times(0)), InputState::Ready(2), "a read of two bytes needs two");
    set(&mut line, 3, 5);
    assert_eq!(line.state(10, times(second)), InputState::Waits(Some(second + second / 2)));
    assert_eq!(line.state(10, times(2 * second)), InputState::Ready(2));
    line.consume(2);
    assert_eq!(line.state(10, times(2 * second)), InputState::Waits(None), "the time starts with a byte");
    set(&mut line, 0, 5);
    assert_eq!(line.state(10, times(0)), InputState::Waits(Some(second / 2)));
    assert_eq!(line.state(10, times(second)), InputState::Ready(0));
    set(&mut line, 0, 0);
    assert_eq!(line.state(10, times(0)), InputState::Ready(0));
}

#[test]
fn a_change_of_the_mode_keeps_input() {
    let mut line = LineDiscipline::default();
    let canonical = *line.settings();
    press(&mut line, b"line\npart");
    line.set_settings(*raw().settings());
    assert_eq!(line.readable(), Some(9));
    assert_eq!(read(&mut line, 5).as_deref(), Some(&b"line\n"[..]));
    line.set_settings(canonical);
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b"part"[..]));
    press(&mut line, b"next\n");
    assert_eq!(read(&mut line, 10).as_deref(), Some(&b"next\n"[..]));
}

#[test]
fn random_keys_and_settings_stay_within_bounds() {
    let mut seed = 7_u64;
    let mut roll = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32
    };
    let mut line = LineDiscipline::default();
    for _ in 0..200_000 {
        let mut screen = Vec::new();
        match roll() % 16 {
            0 => {
                let mut settings = *line.settings();
                (settings.input, settings.output, settings.local) = (roll(), roll(), roll());
                settings.characters[roll() as usize % 19] = roll() as u8;
                line.set_settings(settings);
            }
            1 => {
                let _ = read(&mut line, 1 + roll() as usize % 100);
            }
            2 => line.output(&[roll() as u8, roll() as u8], &mut screen),
            3 => line.flush(),
            _ => {
                // Control characters are more frequent than letters.
                let key = if roll() % 2 == 0 { roll() % 32 } else { roll() % 256 } as u8;
                if line.accepts(key) {
                    line.input(key, &mut screen);
                }
            }
        }
        assert!(screen.len() <= 4096 * 8, "the echo of one key is bounded");
        assert!(line.readable().unwrap_or(0) <= (64 << 10) + 4096);
    }
}
