//! The operands of `dd`.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{print_error, quote_value};

/// The words of `conv`, `iflag` and `oflag`. Most flags change only how the system moves the data, which nobody sees.
const CONVERSIONS: &[&str] = &[
    "ascii",
    "ebcdic",
    "ibm",
    "block",
    "unblock",
    "lcase",
    "ucase",
    "sparse",
    "swab",
    "sync",
    "excl",
    "nocreat",
    "notrunc",
    "noerror",
    "fdatasync",
    "fsync",
];
const FLAGS: &[&str] = &[
    "append",
    "direct",
    "directory",
    "dsync",
    "noatime",
    "nocache",
    "noctty",
    "nofollow",
    "nonblock",
    "sync",
    "count_bytes",
    "skip_bytes",
    "seek_bytes",
];

/// Parsed operands.
#[derive(Debug, Default)]
pub(super) struct Operands {
    pub(super) from: Option<Vec<u8>>,
    pub(super) to: Option<Vec<u8>>,
    /// `bs`, which overrides the two others.
    both: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
    pub(super) count: Option<u64>,
    pub(super) skip: u64,
    pub(super) seek: u64,
    words: Vec<String>,
    pub(super) status: String,
    /// Bytes of a record (`cbs`).
    pub(super) record: u64,
}

/// Bytes of a block where nothing else is said.
const BLOCK: u64 = 512;

impl Operands {
    /// Bytes of a block of input.
    pub(super) fn input_block(&self) -> u64 {
        self.both.or(self.input).unwrap_or(BLOCK)
    }

    /// Bytes of a block of output.
    pub(super) fn output_block(&self) -> u64 {
        self.both.or(self.output).unwrap_or(BLOCK)
    }

    /// Whether blocks of output are filled anew. They are not with `bs`, unless their bytes change.
    pub(super) fn regroups(&self) -> bool {
        let changes = ["ascii", "ebcdic", "ibm", "block", "unblock", "lcase", "ucase", "swab"];
        self.both.is_none() || changes.iter().any(|word| self.has(word))
    }

    /// Whether `conv` has that word.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|known| known == word)
    }

    /// Whether the input has that flag.
    pub(super) fn input_has(&self, flag: &str) -> bool {
        self.has(&format!("iflag {flag}"))
    }

    /// Whether the output has that flag.
    pub(super) fn output_has(&self, flag: &str) -> bool {
        self.has(&format!("oflag {flag}"))
    }

    /// Whether one of the two has it: flags about numbers may stand at either.
    pub(super) fn counts_bytes(&self, flag: &str) -> bool {
        self.input_has(flag) || self.output_has(flag)
    }

    /// Reads one operand.
    pub(super) fn read(&mut self, argument: &[u8]) -> Result<(), ToolResult> {
        let text = String::from_utf8_lossy(argument).into_owned();
        let unknown = || ToolResult::Usage(format!("unrecognized operand {}", quote_value(argument)), 1);
        let (key, value) = text.split_once('=').ok_or_else(unknown)?;
        let bytes = argument.get(key.len() + 1..).unwrap_or_default().to_vec();
        match key {
            "if" => self.from = Some(bytes),
            "of" => self.to = Some(bytes),
            "bs" => self.both = Some(block(value)?),
            "ibs" => self.input = Some(block(value)?),
            "obs" => self.output = Some(block(value)?),
            "cbs" => self.record = block(value)?,
            "count" => self.count = Some(self.amount(value, "iflag count_bytes")?),
            "skip" | "iseek" => self.skip = self.amount(value, "iflag skip_bytes")?,
            "seek" | "oseek" => self.seek = self.amount(value, "oflag seek_bytes")?,
            "conv" => {
                for word in value.split(',') {
                    self.add(word, CONVERSIONS.contains(&word), "conversion", "")?;
                }
            }
            "iflag" => {
                for word in value.split(',') {
                    self.add(word, FLAGS.contains(&word) || word == "fullblock", "input flag", "iflag ")?;
                }
            }
            "oflag" => {
                for word in value.split(',') {
                    self.add(word, FLAGS.contains(&word), "output flag", "oflag ")?;
                }
            }
            "status" if ["none", "noxfer", "progress"].contains(&value) => value.clone_into(&mut self.status),
            "status" => {
                return Err(ToolResult::Usage(format!("invalid status level: {}", quote_value(value.as_bytes())), 1));
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    fn add(&mut self, word: &str, known: bool, what: &str, prefix: &str) -> Result<(), ToolResult> {
        if !known {
            return Err(ToolResult::Usage(format!("invalid {what}: {}", quote_value(word.as_bytes())), 1));
        }
        self.words.push(format!("{prefix}{word}"));
        Ok(())
    }

    /// A number of blocks. One that ends in `B` counts bytes instead.
    fn amount(&mut self, value: &str, word: &str) -> Result<u64, ToolResult> {
        let units = ["kB", "KB", "MB", "GB", "TB", "PB", "EB", "iB"];
        if value.ends_with('B') && !units.iter().any(|unit| value.ends_with(unit)) {
            self.words.push(word.to_owned());
        }
        read_number(value)
    }
}

fn block(value: &str) -> Result<u64, ToolResult> {
    match read_number(value)? {
        0 => Err(invalid(value, "")),
        size => Ok(size),
    }
}

fn invalid(value: &str, why: &str) -> ToolResult {
    ToolResult::Failure(format!("invalid number: {}{why}", quote_value(value.as_bytes())), 1)
}

fn read_number(value: &str) -> Result<u64, ToolResult> {
    if value.starts_with("0x") {
        let meant = (quote_value(b"0x"), quote_value(b"00x"));
        print_error("dd", &format!("warning: {} is a zero multiplier; use {} if that is intended", meant.0, meant.1));
    }
    match number(value) {
        Number::Is(number) => Ok(number),
        Number::None => Err(invalid(value, "")),
        Number::TooLarge => Err(invalid(value, ": Value too large for defined data type")),
    }
}

/// Result of parsing a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Is(u64),
    None,
    /// It is one, but no file is so long.
    TooLarge,
}

/// A number with a unit, or several multiplied by `x`. What is multiplied by zero may be as large as it likes.
pub(crate) fn number(text: &str) -> Number {
    let factors: Vec<Number> = text.split('x').map(simple_number).collect();
    if factors.contains(&Number::None) {
        return Number::None;
    }
    if factors.contains(&Number::Is(0)) {
        return Number::Is(0);
    }
    let product = factors.iter().try_fold(1u64, |product, factor| match factor {
        Number::Is(factor) => product.checked_mul(*factor).filter(|product| i64::try_from(*product).is_ok()),
        _ => None,
    });
    product.map_or(Number::TooLarge, Number::Is)
}

fn simple_number(text: &str) -> Number {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    if digits.is_empty() {
        return Number::None;
    }
    let mut letters = unit.chars();
    let (letter, rest) = (letters.next(), letters.as_str());
    let base: u64 = if rest == "B" { 1000 } else { 1024 };
    let factor = match (letter, rest) {
        (None, _) | (Some('c' | 'B'), "") => Some(1),
        (Some('w'), "") => Some(2),
        (Some('b'), "") => Some(512),
        (Some(letter), "" | "B" | "iB") => match "kMGTPEZY".find(if letter == 'K' { 'k' } else { letter }) {
            Some(at) => u32::try_from(at).ok().and_then(|at| base.checked_pow(at + 1)),
            None => return Number::None,
        },
        _ => return Number::None,
    };
    match (digits.parse::<u64>(), factor) {
        (Ok(0), _) => Number::Is(0),
        (Ok(number), Some(factor)) => number.checked_mul(factor).map_or(Number::TooLarge, Number::Is),
        _ => Number::TooLarge,
    }
}
