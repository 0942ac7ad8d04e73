//! The operands of `dd`.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::quote_value;

/// Keywords of `conv=`.
const CONVERSIONS: &[&str] =
    &["lcase", "ucase", "sparse", "swab", "sync", "excl", "nocreat", "notrunc", "noerror", "fdatasync", "fsync"];
/// Keywords of `conv=` that are not supported: records of fixed length and EBCDIC.
const RECORDS: &[&str] = &["ascii", "ebcdic", "ibm", "block", "unblock"];
/// Keywords of `iflag=` and `oflag=`. Those that concern only the cache or synchronization have no effect.
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
    /// `bs=`, which overrides `ibs=` and `obs=`.
    both: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
    pub(super) count: Option<u64>,
    pub(super) skip: u64,
    pub(super) seek: u64,
    words: Vec<String>,
    pub(super) status: String,
}

/// Default block size in bytes.
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

    /// Returns whether output is regrouped into blocks of `obs=`. With `bs=` it is not, unless the bytes are converted.
    pub(super) fn regroups(&self) -> bool {
        let changes = ["lcase", "ucase", "swab"];
        self.both.is_none() || changes.iter().any(|word| self.has(word))
    }

    /// Returns whether `conv=` contains the keyword.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|known| known == word)
    }

    /// Returns whether `iflag=` contains the flag.
    pub(super) fn input_has(&self, flag: &str) -> bool {
        self.has(&format!("iflag {flag}"))
    }

    /// Returns whether `oflag=` contains the flag.
    pub(super) fn output_has(&self, flag: &str) -> bool {
        self.has(&format!("oflag {flag}"))
    }

    /// Returns whether `iflag=` or `oflag=` contains the flag. Flags about counts are valid in both.
    pub(super) fn counts_bytes(&self, flag: &str) -> bool {
        self.input_has(flag) || self.output_has(flag)
    }

    /// Parses one operand.
    pub(super) fn parse(&mut self, argument: &[u8]) -> Result<(), ToolResult> {
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
            "cbs" => return Err(not_supported("cbs=")),
            "count" => self.count = Some(self.amount(value, "iflag count_bytes")?),
            "skip" | "iseek" => self.skip = self.amount(value, "iflag skip_bytes")?,
            "seek" | "oseek" => self.seek = self.amount(value, "oflag seek_bytes")?,
            "conv" => {
                for word in value.split(',') {
                    if RECORDS.contains(&word) {
                        return Err(not_supported(&format!("conv={word}")));
                    }
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

    /// Parses a number of blocks. With the suffix `B` it counts bytes instead.
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

fn not_supported(operand: &str) -> ToolResult {
    ToolResult::Failure(format!("{operand} is not supported"), 1)
}

fn invalid(value: &str, why: &str) -> ToolResult {
    ToolResult::Failure(format!("invalid number: {}{why}", quote_value(value.as_bytes())), 1)
}

fn read_number(value: &str) -> Result<u64, ToolResult> {
    match number(value) {
        Number::Valid(number) => Ok(number),
        Number::Invalid => Err(invalid(value, "")),
        Number::TooLarge => Err(invalid(value, ": Value too large for defined data type")),
    }
}

/// Result of parsing a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Valid(u64),
    Invalid,
    /// A number that exceeds the size of any file.
    TooLarge,
}

/// Parses numbers with units, multiplied by `x`. A product with zero is zero, even if another factor is too large.
pub(crate) fn number(text: &str) -> Number {
    let factors: Vec<Number> = text.split('x').map(simple_number).collect();
    if factors.contains(&Number::Invalid) {
        return Number::Invalid;
    }
    if factors.contains(&Number::Valid(0)) {
        return Number::Valid(0);
    }
    let product = factors.iter().try_fold(1u64, |product, factor| match factor {
        Number::Valid(factor) => product.checked_mul(*factor).filter(|product| i64::try_from(*product).is_ok()),
        _ => None,
    });
    product.map_or(Number::TooLarge, Number::Valid)
}

fn simple_number(text: &str) -> Number {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    if digits.is_empty() {
        return Number::Invalid;
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
            None => return Number::Invalid,
        },
        _ => return Number::Invalid,
    };
    match (digits.parse::<u64>(), factor) {
        (Ok(0), _) => Number::Valid(0),
        (Ok(number), Some(factor)) => number.checked_mul(factor).map_or(Number::TooLarge, Number::Valid),
        _ => Number::TooLarge,
    }
}
