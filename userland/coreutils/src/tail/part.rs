//! Parsing of the part to print.

use tidebox_gnu::message::quote_value;
use tidebox_gnu::options::ParsedOption;

use super::{Flag, Options, Part};
use crate::common::Failure;
use crate::common::number::{NumberError, amount};

impl Options {
    /// Parses the obsolete forms such as `-5`, `+5`, `-5f` and `-l`. They are the first argument, before at most one file.
    pub(super) fn old_form(&mut self, mut arguments: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let is_option = |word: &Vec<u8>| word.len() > 1 && word.starts_with(b"-");
        let alone = match arguments.as_slice() {
            [_] => true,
            [_, second] => !is_option(second) || second == b"--",
            [_, second, _] => second == b"--",
            _ => false,
        };
        if let Some(part) = arguments.first().filter(|_| alone).and_then(|first| old_part(first)) {
            (self.part, self.following.wanted) = part;
            arguments.remove(0);
        }
        arguments
    }

    pub(super) fn set(&mut self, ParsedOption { id, letter, value }: ParsedOption<Flag>) -> Result<(), Failure> {
        let value = value.as_slice();
        match id {
            Flag::Bytes | Flag::Lines => self.part = part(id == Flag::Bytes, value)?,
            Flag::FollowNameRetry => {
                (self.following.wanted, self.following.by_name, self.following.retry) = (true, true, true)
            }
            Flag::Follow => {
                let words: &[&[&str]] = &[&["descriptor"], &["name"]];
                self.following.wanted = true;
                self.following.by_name = !value.is_empty()
                    && tidebox_gnu::choice::parse_choice("--follow", value, words).map_err(Failure::Usage)? == 1;
            }
            Flag::Quiet => self.headers = Some(false),
            Flag::Verbose => self.headers = Some(true),
            Flag::ZeroTerminated => self.end = 0,
            Flag::SleepInterval => {
                let seconds = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse::<f64>().ok());
                let seconds = seconds.filter(|seconds| *seconds >= 0.0);
                let wrong = || Failure::Unsupported(format!("invalid number of seconds: {}", quote_value(value)));
                self.following.pause = seconds.ok_or_else(wrong)?;
            }
            Flag::Pid => {
                let pid = std::str::from_utf8(value).ok().and_then(|text| text.parse::<i32>().ok());
                let wrong = || Failure::Unsupported(format!("invalid PID: {}", quote_value(value)));
                self.following.pids.push(pid.filter(|pid| *pid >= 0).ok_or_else(wrong)?);
            }
            Flag::Retry => self.following.retry = true,
            Flag::DisableInotify => {}
            Flag::MaxUnchangedStats => {
                let wrong = "invalid maximum number of unchanged stats between opens";
                amount(value).map_err(|_| Failure::Unsupported(format!("{wrong}: {}", quote_value(value))))?;
            }
            Flag::Digit => {
                let digit = letter.map(String::from).unwrap_or_default();
                return Err(Failure::Unsupported(format!("option used in invalid context -- {digit}")));
            }
        }
        Ok(())
    }
}

/// Parses the value of `-c` or `-n`.
pub(super) fn part(bytes: bool, value: &[u8]) -> Result<Part, Failure> {
    let (from_start, digits) = match value.split_first() {
        Some((b'+', digits)) => (true, digits),
        Some((b'-', digits)) => (false, digits),
        _ => (false, value),
    };
    match amount(digits) {
        Ok(count) => Ok(Part { bytes, from_start, count }),
        Err(wrong) => {
            let what = if bytes { "bytes" } else { "lines" };
            let shown = if from_start { value } else { digits };
            let reason = match wrong {
                NumberError::TooLarge => ": Value too large for defined data type",
                _ => "",
            };
            Err(Failure::Unsupported(format!("invalid number of {what}: {}{reason}", quote_value(shown))))
        }
    }
}

/// Parses `-5`, `+5c` or `-20lf`. Returns the part and whether to follow the file.
pub(super) fn old_part(word: &[u8]) -> Option<(Part, bool)> {
    let (sign, rest) = word.split_first().filter(|(sign, _)| matches!(sign, b'-' | b'+'))?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, letters) = rest.split_at_checked(digits)?;
    let (letters, follows) = match letters.strip_suffix(b"f") {
        Some(letters) => (letters, true),
        None => (letters, false),
    };
    // An argument without digits is an option, except `-l` and `-b`.
    if digits.is_empty() && ((*sign == b'-' && !matches!(letters, b"l" | b"b")) || rest.is_empty()) {
        return None;
    }
    let count = if digits.is_empty() { 10 } else { amount(digits).ok()? };
    let (bytes, count) = match letters {
        b"" | b"l" => (false, count),
        b"c" => (true, count),
        b"b" => (true, count.checked_mul(512)?),
        _ => return None,
    };
    Some((Part { bytes, from_start: *sign == b'+', count }, follows))
}
