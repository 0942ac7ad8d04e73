//! Settings of a terminal: flags and control characters, with Linux's numbers.

/// Number of control characters, Linux's `NCCS` of the kernel.
pub(crate) const CHARACTERS: usize = 19;

/// Indexes of the control characters that the line discipline uses.
pub(crate) mod character {
    pub(crate) const INTR: usize = 0;
    pub(crate) const QUIT: usize = 1;
    pub(crate) const ERASE: usize = 2;
    pub(crate) const KILL: usize = 3;
    pub(crate) const EOF: usize = 4;
    pub(crate) const TIME: usize = 5;
    pub(crate) const MIN: usize = 6;
    pub(crate) const SUSP: usize = 10;
    pub(crate) const EOL: usize = 11;
    pub(crate) const REPRINT: usize = 12;
    pub(crate) const WERASE: usize = 14;
    pub(crate) const LNEXT: usize = 15;
    pub(crate) const EOL2: usize = 16;
}

/// Flags of the input (`c_iflag`).
pub(crate) mod input {
    pub(crate) const INLCR: u32 = 0o100;
    pub(crate) const IGNCR: u32 = 0o200;
    pub(crate) const ICRNL: u32 = 0o400;
    pub(crate) const IMAXBEL: u32 = 0o20_000;
    pub(crate) const IUTF8: u32 = 0o40_000;
}

/// Flags of the output (`c_oflag`).
pub(crate) mod output {
    pub(crate) const OPOST: u32 = 0o1;
    pub(crate) const ONLCR: u32 = 0o4;
    pub(crate) const OCRNL: u32 = 0o10;
}

/// Local flags (`c_lflag`).
pub(crate) mod local {
    pub(crate) const ISIG: u32 = 0o1;
    pub(crate) const ICANON: u32 = 0o2;
    pub(crate) const ECHO: u32 = 0o10;
    pub(crate) const ECHOE: u32 = 0o20;
    pub(crate) const ECHOK: u32 = 0o40;
    pub(crate) const ECHONL: u32 = 0o100;
    pub(crate) const NOFLSH: u32 = 0o200;
    pub(crate) const TOSTOP: u32 = 0o400;
    pub(crate) const ECHOCTL: u32 = 0o1_000;
    pub(crate) const ECHOKE: u32 = 0o4_000;
    pub(crate) const IEXTEN: u32 = 0o100_000;
}

/// 38,400 baud, eight bits, receiver enabled: Linux's `B38400 | CS8 | CREAD`, shown and without effect.
const CONTROL: u32 = 0o17 | 0o60 | 0o200;

/// Settings of a terminal. Flags without an effect are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) input: u32,
    pub(crate) output: u32,
    pub(crate) control: u32,
    pub(crate) local: u32,
    pub(crate) characters: [u8; CHARACTERS],
}

impl Default for Settings {
    /// Those of a new terminal on Linux, except that `IXON` is off: output is never stopped.
    fn default() -> Self {
        let mut characters = [0; CHARACTERS];
        for (at, byte) in [
            (character::INTR, 3),
            (character::QUIT, 0x1c),
            (character::ERASE, 0x7f),
            (character::KILL, 0x15),
            (character::EOF, 4),
            (character::MIN, 1),
            (8, 0x11),
            (9, 0x13),
            (character::SUSP, 0x1a),
            (character::REPRINT, 0x12),
            (13, 0x0f),
            (character::WERASE, 0x17),
            (character::LNEXT, 0x16),
        ] {
            if let Some(slot) = characters.get_mut(at) {
                *slot = byte;
            }
        }
        Self {
            input: input::ICRNL | input::IUTF8 | input::IMAXBEL,
            output: output::OPOST | output::ONLCR,
            control: CONTROL,
            local: local::ISIG
                | local::ICANON
                | local::ECHO
                | local::ECHOE
                | local::ECHOK
                | local::ECHOCTL
                | local::ECHOKE
                | local::IEXTEN,
            characters,
        }
    }
}

impl Settings {
    pub(crate) fn has_input(&self, flag: u32) -> bool {
        self.input & flag != 0
    }

    pub(crate) fn has_output(&self, flag: u32) -> bool {
        self.output & flag != 0
    }

    pub(crate) fn has_local(&self, flags: u32) -> bool {
        self.local & flags == flags
    }

    /// Returns a control character; 0 means that it is disabled.
    pub(crate) fn character(&self, at: usize) -> u8 {
        self.characters.get(at).copied().unwrap_or(0)
    }

    /// Returns whether `byte` is this control character.
    pub(crate) fn is(&self, byte: u8, at: usize) -> bool {
        byte != 0 && byte == self.character(at)
    }
}
