//! The subset of ICU collation that uutils uses, for the C locale: comparison by bytes.
//!
//! The sandbox has only the locales of a small Debian, C and its aliases, where strings are ordered by their bytes. The
//! `icu_collator` crate adds several hundred kilobytes to the core utilities module for other locales, and would make `comm`
//! follow an uninstalled locale where GNU falls back to C. This crate replaces it (`[patch.crates-io]`), with the same names and
//! signatures.

use std::cmp::Ordering;
use std::marker::PhantomData;

use icu_locale::Locale;
use options::CollatorOptions;

/// Comparison options. They have no effect in C.
pub mod options {
    /// Handling of punctuation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AlternateHandling {
        /// Compared like other characters.
        NonIgnorable,
        /// Compared only if the rest is equal.
        Shifted,
    }

    /// Separate level for case.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CaseLevel {
        /// Off.
        Off,
        /// On.
        On,
    }

    /// Characters affected by [`AlternateHandling::Shifted`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MaxVariable {
        /// Blanks.
        Space,
        /// Punctuation, too.
        Punctuation,
        /// Symbols, too.
        Symbol,
        /// Signs of currencies, too.
        Currency,
    }

    /// Comparison level.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Strength {
        /// Letters.
        Primary,
        /// Accents, too.
        Secondary,
        /// Case, too.
        Tertiary,
        /// Punctuation, too.
        Quaternary,
        /// All differences.
        Identical,
    }

    /// Requested options.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CollatorOptions {
        /// Comparison level.
        pub strength: Option<Strength>,
        /// Handling of punctuation.
        pub alternate_handling: Option<AlternateHandling>,
        /// Separate level for case.
        pub case_level: Option<CaseLevel>,
        /// Characters affected by `alternate_handling`.
        pub max_variable: Option<MaxVariable>,
    }
}

/// Preferences of a locale; empty in C.
#[derive(Clone, Copy, Debug)]
pub struct CollatorPreferences;

impl From<Locale> for CollatorPreferences {
    fn from(_: Locale) -> Self {
        Self
    }
}

/// Missing data; never returned, because C needs no data.
#[derive(Clone, Copy, Debug)]
pub struct DataError;

/// Compares strings by their bytes.
#[derive(Clone, Copy, Debug)]
pub struct CollatorBorrowed<'a>(PhantomData<&'a ()>);

impl CollatorBorrowed<'static> {
    /// Creates a collator for C, ignoring all options.
    ///
    /// # Errors
    /// Never fails.
    pub fn try_new(_: CollatorPreferences, _: CollatorOptions) -> Result<Self, DataError> {
        Ok(Self(PhantomData))
    }
}

impl CollatorBorrowed<'_> {
    /// Compares two strings.
    #[must_use]
    pub fn compare_utf8(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    /// Writes the sort key: the string itself.
    ///
    /// # Errors
    /// Never fails.
    pub fn write_sort_key_utf8_to(&self, string: &[u8], key: &mut Vec<u8>) -> Result<(), DataError> {
        key.extend_from_slice(string);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_their_keys_are_in_the_order_of_their_bytes() {
        let german: Locale = "de-DE".parse().expect("a locale");
        let collator = CollatorBorrowed::try_new(german.into(), CollatorOptions::default()).expect("C needs no data");
        for (one, two) in [("B", "a"), ("Z", "\u{e4}"), ("a", "ab"), ("a b", "a-a")] {
            assert_eq!(collator.compare_utf8(one.as_bytes(), two.as_bytes()), Ordering::Less, "{one} {two}");
            let key = |string: &str| {
                let mut key = Vec::new();
                collator.write_sort_key_utf8_to(string.as_bytes(), &mut key).expect("a key");
                key
            };
            assert!(key(one) < key(two), "{one} {two}");
        }
    }
}
