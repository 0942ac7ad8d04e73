//! Letters of options, as nearly all builtins take them.

use crate::ir::Bytes;
use crate::state::Shell;

/// Parses the options of a builtin letter by letter: `-a -b`, `-ab`, `-p value`, `-pvalue`. They end before the first word
/// that is not an option, and after `--`.
#[derive(Debug)]
pub(super) struct Letters<'a> {
    words: &'a [Bytes],
    /// The unread letters of the current word.
    letters: &'a [u8],
    /// The letter that was read last.
    letter: u8,
    /// Words that start with a dash but are not options.
    spares: fn(&[u8]) -> bool,
}

impl<'a> Letters<'a> {
    /// The options among the arguments of a builtin, whose first one is its name.
    pub(super) fn of(args: &'a [Bytes]) -> Self {
        Self::but(args, |_| false)
    }

    /// Like [`Letters::of`], but words for which `spares` returns true are not options.
    pub(super) fn but(args: &'a [Bytes], spares: fn(&[u8]) -> bool) -> Self {
        Self { words: args.get(1..).unwrap_or_default(), letters: b"", letter: 0, spares }
    }

    /// The next letter.
    pub(super) fn next(&mut self) -> Option<u8> {
        if self.letters.is_empty() {
            let (first, rest) = self.words.split_first()?;
            let letters = first.strip_prefix(b"-").filter(|letters| !letters.is_empty() && !(self.spares)(first))?;
            self.words = rest;
            if letters == b"-" {
                return None;
            }
            self.letters = letters;
        }
        let (letter, rest) = self.letters.split_first()?;
        (self.letter, self.letters) = (*letter, rest);
        Some(*letter)
    }

    /// The argument of the letter that was read last: the rest of its word, or the next word.
    pub(super) fn argument(&mut self) -> Option<&'a [u8]> {
        if !self.letters.is_empty() {
            return Some(std::mem::take(&mut self.letters));
        }
        let (value, rest) = self.words.split_first()?;
        self.words = rest;
        Some(value)
    }

    /// Like [`Self::argument`], but optional: a next word that starts with a dash is not the argument.
    pub(super) fn optional_argument(&mut self) -> Option<&'a [u8]> {
        if self.letters.is_empty() && self.words.first().is_some_and(|word| word.starts_with(b"-")) {
            return None;
        }
        self.argument()
    }

    /// The words after the options, after the last letter.
    pub(super) fn words(&self) -> &'a [Bytes] {
        self.words
    }
}

impl Letters<'_> {
    /// Reports the last letter as an invalid option of the current builtin. Returns the status. All builtins accept
    /// `--help`.
    pub(super) fn invalid_option(&self, shell: &mut Shell) -> u8 {
        if self.letter == b'-' && self.letters == b"help" {
            return super::help::of_builtin(shell);
        }
        shell.bad_option(&[b'-', self.letter])
    }

    /// Reports that the last letter lacks its argument. Returns the status.
    pub(super) fn missing_argument(&self, shell: &mut Shell) -> u8 {
        shell.needs_argument(self.letter);
        shell.usage()
    }
}

/// The words of a builtin that has no options, or the status for those that it was given.
pub(super) fn without_options<'a>(shell: &mut Shell, args: &'a [Bytes]) -> Result<&'a [Bytes], u8> {
    let mut letters = Letters::of(args);
    match letters.next() {
        Some(_) => Err(letters.invalid_option(shell)),
        None => Ok(letters.words()),
    }
}

impl Shell {
    /// Reports that an option lacks its argument.
    pub(super) fn needs_argument(&mut self, letter: u8) {
        self.report_builtin_error([&[b'-', letter], &b": option requires an argument"[..]].concat());
    }
}
