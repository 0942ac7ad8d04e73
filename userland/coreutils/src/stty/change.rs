//! Changes of settings by the arguments of the command line.

use tidebox_rt::TerminalMode;

use super::table::{CHARACTERS, NUMBERS, SETTINGS, Sane, Word};

/// Input flags that `raw` clears are all of them; these are the other flags of `raw` and `cooked`.
const OPOST: u32 = 0o1;
const ONLCR: u32 = 0o4;
const ISIG: u32 = 0o1;
const ICANON: u32 = 0o2;
const XCASE: u32 = 0o4;
/// `brkint`, `ignpar`, `istrip`, `icrnl` and `ixon`.
const COOKED_INPUT: u32 = 0o2 | 0o4 | 0o40 | 0o400 | 0o2_000;
const ICRNL: u32 = 0o400;
/// `inlcr` and `igncr`.
const NL_INPUT: u32 = 0o300;
const PARENB: u32 = 0o400;
const PARODD: u32 = 0o1_000;
const CSIZE: u32 = 0o60;
const CS7: u32 = 0o40;
const ISTRIP: u32 = 0o40;

/// Number of fields in the form of `stty -g`: four flag fields and Linux's 32 control characters of the C library.
const SAVED_FIELDS: usize = 4 + 32;

/// Reason that an argument is rejected, as GNU prints it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rejected {
    Invalid(Vec<u8>),
    /// The setting needs an argument.
    Missing(Vec<u8>),
    /// The argument is not an integer.
    NotInteger(Vec<u8>),
}

/// Applies the arguments to a mode. Those that print are returned in order.
pub(super) fn apply(mode: &mut TerminalMode, words: &[Vec<u8>]) -> Result<Vec<&'static str>, Rejected> {
    let (mut prints, mut rest) = (Vec::new(), words.iter());
    while let Some(word) = rest.next() {
        let Ok(text) = std::str::from_utf8(word) else { return Err(Rejected::Invalid(word.clone())) };
        match text {
            "size" => prints.push("size"),
            "speed" => prints.push("speed"),
            "rows" | "cols" | "columns" | "line" | "ispeed" | "ospeed" => {
                let argument = rest.next().ok_or_else(|| Rejected::Missing(word.clone()))?;
                let number = integer(argument).ok_or_else(|| Rejected::NotInteger(argument.clone()))?;
                match text {
                    "rows" => mode.rows = number,
                    "cols" | "columns" => mode.columns = number,
                    // The discipline and the speeds of a line have no effect.
                    _ => {}
                }
            }
            "drain" | "-drain" => {}
            _ if combination(mode, text) || setting(mode, text) || restore(mode, text) => {}
            _ => match character(text) {
                Some((at, is_number)) => {
                    let argument = rest.next().ok_or_else(|| Rejected::Missing(word.clone()))?;
                    let value =
                        if is_number { integer(argument).and_then(|n| u8::try_from(n).ok()) } else { key(argument) };
                    let value = value.ok_or_else(|| Rejected::NotInteger(argument.clone()))?;
                    put(mode, at, value);
                }
                // A speed, which has no effect.
                None if text.parse::<u32>().is_ok() => {}
                None => return Err(Rejected::Invalid(word.clone())),
            },
        }
    }
    Ok(prints)
}

fn put(mode: &mut TerminalMode, at: usize, value: u8) {
    if let Some(slot) = mode.characters.get_mut(at) {
        *slot = value;
    }
}

/// Finds a control character or number by its name.
fn character(name: &str) -> Option<(usize, bool)> {
    let name = if name == "flush" { "discard" } else { name };
    let key = CHARACTERS.iter().find(|(known, ..)| *known == name).map(|(_, at, _)| (*at, false));
    key.or_else(|| NUMBERS.iter().find(|(known, _)| *known == name).map(|(_, at)| (*at, true)))
}

/// Parses a decimal, octal or hexadecimal number.
fn integer(word: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(word).ok()?;
    match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(digits), _) => u16::from_str_radix(digits, 16).ok(),
        (_, Some(digits)) if !digits.is_empty() => u16::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    }
}

/// Parses a key: `^C`, `^-` or `undef`, one character, or a number.
fn key(word: &[u8]) -> Option<u8> {
    match word {
        b"^-" | b"undef" | b"" => Some(0),
        [byte] => Some(*byte),
        [b'^', b'?'] => Some(0x7f),
        [b'^', letter] => Some(letter & 0x1f),
        _ => integer(word).and_then(|number| u8::try_from(number).ok()),
    }
}

fn setting(mode: &mut TerminalMode, text: &str) -> bool {
    let (name, on) = text.strip_prefix('-').map_or((text, true), |name| (name, false));
    let found = SETTINGS.iter().find(|setting| setting.name == name && (on || setting.reversible));
    if let Some(setting) = found {
        setting.apply(mode, on);
    }
    found.is_some()
}

/// Applies a name for several settings.
fn combination(mode: &mut TerminalMode, text: &str) -> bool {
    match text {
        "sane" => sane(mode),
        "raw" | "-cooked" => {
            mode.input = 0;
            mode.output &= !OPOST;
            mode.local &= !(ISIG | ICANON | XCASE);
            mode.set_minimum(1, 0);
        }
        "cooked" | "-raw" => {
            mode.input |= COOKED_INPUT;
            mode.output |= OPOST;
            mode.local |= ISIG | ICANON;
        }
        "cbreak" => mode.local &= !ICANON,
        "-cbreak" => mode.local |= ICANON,
        "nl" => {
            mode.input &= !ICRNL;
            mode.output &= !ONLCR;
        }
        "-nl" => {
            mode.input = mode.input & !NL_INPUT | ICRNL;
            mode.output |= ONLCR;
        }
        "ek" => CHARACTERS.iter().filter(|(name, ..)| matches!(*name, "erase" | "kill")).for_each(|(_, at, value)| {
            put(mode, *at, *value);
        }),
        "evenp" | "parity" => mode.control = mode.control & !(PARODD | CSIZE) | PARENB | CS7,
        "oddp" => mode.control = mode.control & !CSIZE | CS7 | PARODD | PARENB,
        "-evenp" | "-parity" | "-oddp" => mode.control = mode.control & !PARENB | CSIZE,
        "pass8" => {
            mode.control = mode.control & !PARENB | CSIZE;
            mode.input &= !ISTRIP;
        }
        "-pass8" => {
            mode.control = mode.control & !CSIZE | CS7 | PARENB;
            mode.input |= ISTRIP;
        }
        "litout" => {
            mode.control = mode.control & !PARENB | CSIZE;
            mode.input &= !ISTRIP;
            mode.output &= !OPOST;
        }
        "-litout" => {
            mode.control = mode.control & !CSIZE | CS7 | PARENB;
            mode.input |= ISTRIP;
            mode.output |= OPOST;
        }
        "decctlq" => mode.input &= !0o4_000,
        "-decctlq" => mode.input |= 0o4_000,
        "tabs" => mode.output &= !0o14_000,
        "-tabs" => mode.output |= 0o14_000,
        "crt" => mode.local |= 0o20 | 0o1_000 | 0o4_000,
        "dec" => {
            mode.local |= 0o20 | 0o1_000 | 0o4_000;
            mode.input &= !0o4_000;
            for (at, value) in [(0, 3), (2, 0x7f), (3, 0x15)] {
                put(mode, at, value);
            }
        }
        _ => return false,
    }
    true
}

fn sane(mode: &mut TerminalMode) {
    for setting in SETTINGS {
        match setting.sane {
            Sane::On => setting.apply(mode, true),
            Sane::Off if setting.mask == 0 => setting.apply(mode, false),
            Sane::Off | Sane::Kept => {}
        }
    }
    CHARACTERS.iter().for_each(|(_, at, value)| put(mode, *at, *value));
}

/// Returns the settings in the form of `stty -g`.
pub(super) fn saved(mode: &TerminalMode) -> String {
    let words = [Word::Input, Word::Output, Word::Control, Word::Local].map(|word| word.get(mode));
    let characters = mode.characters.iter().map(|byte| u32::from(*byte)).chain(std::iter::repeat(0));
    let fields: Vec<String> =
        words.into_iter().chain(characters).take(SAVED_FIELDS).map(|field| format!("{field:x}")).collect();
    fields.join(":")
}

/// Applies settings in the form of `stty -g`. Returns `false` if the text has another form.
fn restore(mode: &mut TerminalMode, text: &str) -> bool {
    let fields: Option<Vec<u32>> = text.split(':').map(|field| u32::from_str_radix(field, 16).ok()).collect();
    let Some(fields) = fields.filter(|fields| fields.len() == SAVED_FIELDS) else { return false };
    let Some(([input, output, control, local], characters)) = fields.split_first_chunk() else { return false };
    if characters.iter().any(|value| *value > 255) {
        return false;
    }
    (mode.input, mode.output, mode.control, mode.local) = (*input, *output, *control, *local);
    for (slot, value) in mode.characters.iter_mut().zip(characters) {
        *slot = u8::try_from(*value).unwrap_or(0);
    }
    true
}
