//! Names of settings, in the order in which `stty -a` prints them. Numbers are those of Linux.

use tidebox_rt::TerminalMode;

/// Word of flags of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Control,
    Input,
    Output,
    Local,
}

impl Word {
    pub(super) const ALL: [Self; 4] = [Self::Control, Self::Input, Self::Output, Self::Local];

    pub(super) fn get(self, mode: &TerminalMode) -> u32 {
        match self {
            Self::Control => mode.control,
            Self::Input => mode.input,
            Self::Output => mode.output,
            Self::Local => mode.local,
        }
    }

    pub(super) fn set(self, mode: &mut TerminalMode, value: u32) {
        match self {
            Self::Control => mode.control = value,
            Self::Input => mode.input = value,
            Self::Output => mode.output = value,
            Self::Local => mode.local = value,
        }
    }
}

/// Value of a setting after `sane`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sane {
    On,
    Off,
    Kept,
}

/// A named setting: bits of a flag field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) word: Word,
    pub(super) bits: u32,
    /// Bits that the setting replaces, for one of several values.
    pub(super) mask: u32,
    pub(super) sane: Sane,
    /// `-name` turns it off.
    pub(super) reversible: bool,
    /// Another name of a setting, which is not printed.
    pub(super) alias: bool,
}

const fn flag(name: &'static str, word: Word, bits: u32, sane: Sane) -> Setting {
    Setting { name, word, bits, mask: 0, sane, reversible: true, alias: false }
}

const fn alias(name: &'static str, word: Word, bits: u32) -> Setting {
    Setting { alias: true, ..flag(name, word, bits, Sane::Kept) }
}

const fn value(name: &'static str, word: Word, bits: u32, mask: u32, sane: Sane) -> Setting {
    Setting { name, word, bits, mask, sane, reversible: false, alias: false }
}

use Sane::{Kept, Off, On};
use Word::{Control, Input, Local, Output};

/// All settings.
pub(super) const SETTINGS: &[Setting] = &[
    flag("parenb", Control, 0o400, Kept),
    flag("parodd", Control, 0o1_000, Kept),
    flag("cmspar", Control, 0o10_000_000_000, Kept),
    value("cs5", Control, 0, 0o60, Kept),
    value("cs6", Control, 0o20, 0o60, Kept),
    value("cs7", Control, 0o40, 0o60, Kept),
    value("cs8", Control, 0o60, 0o60, Kept),
    flag("hupcl", Control, 0o2_000, Kept),
    alias("hup", Control, 0o2_000),
    flag("cstopb", Control, 0o100, Kept),
    flag("cread", Control, 0o200, On),
    flag("clocal", Control, 0o4_000, Kept),
    flag("crtscts", Control, 0o20_000_000_000, Kept),
    flag("ignbrk", Input, 0o1, Off),
    flag("brkint", Input, 0o2, On),
    flag("ignpar", Input, 0o4, Kept),
    flag("parmrk", Input, 0o10, Kept),
    flag("inpck", Input, 0o20, Kept),
    flag("istrip", Input, 0o40, Kept),
    flag("inlcr", Input, 0o100, Off),
    flag("igncr", Input, 0o200, Off),
    flag("icrnl", Input, 0o400, On),
    flag("ixon", Input, 0o2_000, Kept),
    flag("ixoff", Input, 0o10_000, Off),
    alias("tandem", Input, 0o10_000),
    flag("iuclc", Input, 0o1_000, Off),
    flag("ixany", Input, 0o4_000, Off),
    flag("imaxbel", Input, 0o20_000, On),
    flag("iutf8", Input, 0o40_000, Off),
    flag("opost", Output, 0o1, On),
    flag("olcuc", Output, 0o2, Off),
    flag("ocrnl", Output, 0o10, Off),
    flag("onlcr", Output, 0o4, On),
    flag("onocr", Output, 0o20, Off),
    flag("onlret", Output, 0o40, Off),
    flag("ofill", Output, 0o100, Off),
    flag("ofdel", Output, 0o200, Off),
    value("nl1", Output, 0o400, 0o400, Off),
    value("nl0", Output, 0, 0o400, On),
    value("cr3", Output, 0o3_000, 0o3_000, Off),
    value("cr2", Output, 0o2_000, 0o3_000, Off),
    value("cr1", Output, 0o1_000, 0o3_000, Off),
    value("cr0", Output, 0, 0o3_000, On),
    value("tab3", Output, 0o14_000, 0o14_000, Off),
    value("tab2", Output, 0o10_000, 0o14_000, Off),
    value("tab1", Output, 0o4_000, 0o14_000, Off),
    value("tab0", Output, 0, 0o14_000, On),
    value("bs1", Output, 0o20_000, 0o20_000, Off),
    value("bs0", Output, 0, 0o20_000, On),
    value("vt1", Output, 0o40_000, 0o40_000, Off),
    value("vt0", Output, 0, 0o40_000, On),
    value("ff1", Output, 0o100_000, 0o100_000, Off),
    value("ff0", Output, 0, 0o100_000, On),
    flag("isig", Local, 0o1, On),
    flag("icanon", Local, 0o2, On),
    flag("iexten", Local, 0o100_000, On),
    flag("echo", Local, 0o10, On),
    flag("echoe", Local, 0o20, On),
    alias("crterase", Local, 0o20),
    flag("echok", Local, 0o40, On),
    flag("echonl", Local, 0o100, Off),
    flag("noflsh", Local, 0o200, Off),
    flag("xcase", Local, 0o4, Off),
    flag("tostop", Local, 0o400, Off),
    flag("echoprt", Local, 0o2_000, Off),
    alias("prterase", Local, 0o2_000),
    flag("echoctl", Local, 0o1_000, On),
    alias("ctlecho", Local, 0o1_000),
    flag("echoke", Local, 0o4_000, On),
    alias("crtkill", Local, 0o4_000),
    flag("flusho", Local, 0o10_000, Off),
    flag("extproc", Local, 0o200_000, Off),
];

impl Setting {
    /// Returns whether the setting is on.
    pub(super) fn is_on(&self, mode: &TerminalMode) -> bool {
        let mask = if self.mask == 0 { self.bits } else { self.mask };
        self.word.get(mode) & mask == self.bits
    }

    pub(super) fn apply(&self, mode: &mut TerminalMode, on: bool) {
        let word = self.word.get(mode) & !self.mask;
        self.word.set(mode, if on { word | self.bits } else { word & !self.bits });
    }
}

/// A control character: its name, index and value after `sane`.
pub(super) const CHARACTERS: &[(&str, usize, u8)] = &[
    ("intr", 0, 3),
    ("quit", 1, 0x1c),
    ("erase", 2, 0x7f),
    ("kill", 3, 0x15),
    ("eof", 4, 4),
    ("eol", 11, 0),
    ("eol2", 16, 0),
    ("swtch", 7, 0),
    ("start", 8, 0x11),
    ("stop", 9, 0x13),
    ("susp", 10, 0x1a),
    ("rprnt", 12, 0x12),
    ("werase", 14, 0x17),
    ("lnext", 15, 0x16),
    ("discard", 13, 0x0f),
];

/// Numbers: minimum of bytes and time of a read without lines.
pub(super) const NUMBERS: &[(&str, usize)] = &[("min", 6), ("time", 5)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octal_digits_have_the_bits_of_linux() {
        let bits = |name: &str| SETTINGS.iter().find(|setting| setting.name == name).map(|setting| setting.bits);
        assert_eq!(bits("echoctl"), Some(0x200));
        assert_eq!(bits("echoke"), Some(0x800));
        assert_eq!(bits("iexten"), Some(0x8000));
        assert_eq!(bits("iutf8"), Some(0x4000));
        assert_eq!(bits("crtscts"), Some(0x8000_0000));
        assert_eq!(bits("cmspar"), Some(0x4000_0000));
    }
}
