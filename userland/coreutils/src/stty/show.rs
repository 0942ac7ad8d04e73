//! The output of `stty` and `stty -a`, in GNU's form.

use tidebox_rt::TerminalMode;

use super::table::{CHARACTERS, NUMBERS, SETTINGS, Sane, Word};

/// Width of the output if the terminal does not know its own.
const DEFAULT_WIDTH: usize = 80;
const ICANON: u32 = 0o2;

/// Text in lines of a bounded width.
struct Wrapped {
    text: String,
    column: usize,
    width: usize,
}

impl Wrapped {
    fn new(mode: &TerminalMode) -> Self {
        let width = if mode.columns == 0 { DEFAULT_WIDTH } else { usize::from(mode.columns) };
        Self { text: String::new(), column: 0, width }
    }

    fn word(&mut self, word: &str) {
        if self.column > 0 {
            if self.column + 1 + word.len() > self.width {
                self.end_line();
            } else {
                self.text.push(' ');
                self.column += 1;
            }
        }
        self.text.push_str(word);
        self.column += word.len();
    }

    fn end_line(&mut self) {
        if self.column > 0 {
            self.text.push('\n');
            self.column = 0;
        }
    }
}

/// Returns a key as GNU shows it.
fn key_text(key: u8) -> String {
    match key {
        0 => "<undef>".to_owned(),
        0x7f => "^?".to_owned(),
        1..32 => format!("^{}", char::from(key + 64)),
        32..0x7f => char::from(key).to_string(),
        0x80.. => format!("M-{}", key_text(key & 0x7f)),
    }
}

fn character(mode: &TerminalMode, at: usize) -> u8 {
    mode.characters.get(at).copied().unwrap_or(0)
}

/// Returns all settings.
pub(super) fn all(mode: &TerminalMode) -> String {
    let mut out = Wrapped::new(mode);
    for word in
        ["speed 38400 baud;", &format!("rows {};", mode.rows), &format!("columns {};", mode.columns), "line = 0;"]
    {
        out.word(word);
    }
    out.end_line();
    for (name, at, _) in CHARACTERS {
        out.word(&format!("{name} = {};", key_text(character(mode, *at))));
    }
    for (name, at) in NUMBERS {
        out.word(&format!("{name} = {};", character(mode, *at)));
    }
    out.end_line();
    for word in Word::ALL {
        for setting in SETTINGS.iter().filter(|setting| setting.word == word && !setting.alias) {
            match setting.is_on(mode) {
                true => out.word(setting.name),
                false if setting.reversible => out.word(&format!("-{}", setting.name)),
                false => {}
            }
        }
        out.end_line();
    }
    out.text
}

/// Returns the settings that differ from `sane`.
pub(super) fn changed(mode: &TerminalMode) -> String {
    let mut out = Wrapped::new(mode);
    out.word("speed 38400 baud;");
    out.word("line = 0;");
    out.end_line();
    for (name, at, sane) in CHARACTERS {
        let key = character(mode, *at);
        if key != *sane {
            out.word(&format!("{name} = {};", key_text(key)));
        }
    }
    if mode.local & ICANON == 0 {
        for (name, at) in NUMBERS {
            out.word(&format!("{name} = {};", character(mode, *at)));
        }
    }
    out.end_line();
    for word in Word::ALL {
        for setting in SETTINGS.iter().filter(|setting| setting.word == word && !setting.alias) {
            match (setting.is_on(mode), setting.sane) {
                (true, Sane::Off) => out.word(setting.name),
                (false, Sane::On) if setting.reversible => out.word(&format!("-{}", setting.name)),
                _ => {}
            }
        }
        out.end_line();
    }
    out.text
}
