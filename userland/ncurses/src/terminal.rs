//! Terminal database.

/// A known terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    name: &'static str,
    /// Its long name.
    pub(crate) title: &'static str,
    /// Number of colours; -1 if unsupported.
    pub(crate) colors: i32,
}

const KNOWN: &[Terminal] = &[
    Terminal { name: "dumb", title: "80-column dumb tty", colors: -1 },
    Terminal { name: "linux", title: "Linux console", colors: 8 },
    Terminal { name: "screen", title: "VT 100/ANSI X3.64 virtual terminal", colors: 8 },
    Terminal { name: "screen-256color", title: "GNU Screen with 256 colors", colors: 256 },
    Terminal { name: "tmux-256color", title: "tmux with 256 colors", colors: 256 },
    Terminal { name: "vt100", title: "DEC VT100 (w/advanced video)", colors: -1 },
    Terminal { name: "xterm", title: "xterm terminal emulator (X Window System)", colors: 8 },
    Terminal { name: "xterm-256color", title: "xterm with 256 colors", colors: 256 },
];

/// Strings of xterm-like terminals, by terminfo name. Parameters are replaced in [`Terminal::text`].
const TEXTS: &[(&str, &str)] = &[
    ("bel", "\x07"),
    ("blink", "\x1b[5m"),
    ("bold", "\x1b[1m"),
    ("civis", "\x1b[?25l"),
    ("clear", "\x1b[H\x1b[2J\x1b[3J"),
    ("cnorm", "\x1b[?12l\x1b[?25h"),
    ("cr", "\r"),
    ("cub1", "\x08"),
    ("cud1", "\n"),
    ("cuf1", "\x1b[C"),
    ("cuu1", "\x1b[A"),
    ("dch1", "\x1b[P"),
    ("dim", "\x1b[2m"),
    ("dl1", "\x1b[M"),
    ("ed", "\x1b[J"),
    ("el", "\x1b[K"),
    ("el1", "\x1b[1K"),
    ("home", "\x1b[H"),
    ("il1", "\x1b[L"),
    ("invis", "\x1b[8m"),
    ("op", "\x1b[39;49m"),
    ("rc", "\x1b8"),
    ("rev", "\x1b[7m"),
    ("ritm", "\x1b[23m"),
    ("rmcup", "\x1b[?1049l\x1b[23;0;0t"),
    ("rmso", "\x1b[27m"),
    ("rmul", "\x1b[24m"),
    ("rs1", "\x1bc"),
    ("sc", "\x1b7"),
    ("sgr0", "\x1b(B\x1b[m"),
    ("sitm", "\x1b[3m"),
    ("smcup", "\x1b[?1049h\x1b[22;0;0t"),
    ("smso", "\x1b[7m"),
    ("smul", "\x1b[4m"),
];

/// Names of strings with parameters.
const WITH_NUMBERS: &[&str] = &["cub", "cud", "cuf", "cup", "cuu", "hpa", "setab", "setaf", "vpa"];

/// Capabilities of every terminal.
const OF_ALL: &[&str] = &["bel", "cr", "cud1"];

/// Value of a capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ability {
    Text(String),
    Number(i32),
    Flag(bool),
    /// The terminal lacks it.
    Absent,
}

impl Terminal {
    pub(crate) fn find(name: &str) -> Option<Self> {
        KNOWN.iter().find(|known| known.name == name).copied()
    }

    fn has_texts(self) -> bool {
        self.name != "dumb"
    }

    /// The value of a terminfo name; `None` if the name does not exist.
    pub(crate) fn ability(self, name: &str, numbers: &[i32]) -> Option<Ability> {
        match name {
            "cols" => return Some(Ability::Number(80)),
            "lines" => return Some(Ability::Number(24)),
            "colors" => return Some(Ability::Number(self.colors)),
            "it" => return Some(Ability::Number(if self.has_texts() { 8 } else { -1 })),
            "am" => return Some(Ability::Flag(true)),
            "bce" | "km" | "mir" | "msgr" | "xenl" => return Some(Ability::Flag(self.has_texts())),
            "hc" | "os" => return Some(Ability::Flag(false)),
            _ => {}
        }
        if WITH_NUMBERS.contains(&name) {
            let colors = name.starts_with("seta") && self.colors < 0;
            let text = if self.has_texts() && !colors { self.text(name, numbers) } else { None };
            return Some(text.map_or(Ability::Absent, Ability::Text));
        }
        let (_, text) = TEXTS.iter().find(|(known, _)| *known == name)?;
        let has = self.has_texts() || OF_ALL.contains(&name);
        Some(if has { Ability::Text((*text).to_owned()) } else { Ability::Absent })
    }

    fn text(self, name: &str, numbers: &[i32]) -> Option<String> {
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
        let after = |at: usize| number(at).saturating_add(1);
        Some(match name {
            "cup" => format!("\x1b[{};{}H", after(0), after(1)),
            "hpa" => format!("\x1b[{}G", after(0)),
            "vpa" => format!("\x1b[{}d", after(0)),
            "cuu" => format!("\x1b[{}A", number(0)),
            "cud" => format!("\x1b[{}B", number(0)),
            "cuf" => format!("\x1b[{}C", number(0)),
            "cub" => format!("\x1b[{}D", number(0)),
            "setaf" | "setab" => {
                let (low, high, any) = if name == "setaf" { (30, 90, 38) } else { (40, 100, 48) };
                match number(0) {
                    color @ 0..8 => format!("\x1b[{}m", low + color),
                    color @ 8..16 if self.colors > 8 => format!("\x1b[{}m", high + color - 8),
                    color if self.colors > 8 => format!("\x1b[{any};5;{color}m"),
                    color => format!("\x1b[{}m", low.saturating_add(color)),
                }
            }
            _ => return None,
        })
    }
}
