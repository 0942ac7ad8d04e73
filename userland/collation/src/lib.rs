//! The part of ICU's collation that uutils uses, for the locale C: bytes in their order.
//!
//! The sandbox has the locales that a small Debian has, C and its names, and in them strings are ordered by their bytes. What
//! the `icu_collator` crate brings for all others is some hundred kilobytes of the module of the core utilities, and it would make `comm`
//! follow a locale that is not there where GNU's goes on in C. This crate takes its place (`[patch.crates-io]`), with the
//! same names and signatures.

use std::cmp::Ordering;
use std::marker::PhantomData;

use icu_locale::Locale;
use options::CollatorOptions;

/// How strings are compared. All of it is without effect in C.
pub mod options {
    /// What becomes of punctuation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AlternateHandling {
        /// It counts.
        NonIgnorable,
        /// It counts when all else is equal.
        Shifted,
    }

    /// Whether case is a level of its own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CaseLevel {
        /// It is not.
        Off,
        /// It is.
        On,
    }

    /// What [`AlternateHandling::Shifted`] is about.
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

    /// Which differences count.
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
        /// All.
        Identical,
    }

    /// What a program asks for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CollatorOptions {
        /// Which differences count.
        pub strength: Option<Strength>,
        /// What becomes of punctuation.
        pub alternate_handling: Option<AlternateHandling>,
        /// Whether case is a level of its own.
        pub case_level: Option<CaseLevel>,
        /// What `alternate_handling` is about.
        pub max_variable: Option<MaxVariable>,
    }
}

/// What a locale wants; in C nothing.
#[derive(Clone, Copy, Debug)]
pub struct CollatorPreferences;

impl From<Locale> for CollatorPreferences {
    fn from(_: Locale) -> Self {
        Self
    }
}

/// There is no data; never answered, because C needs none.
#[derive(Clone, Copy, Debug)]
pub struct DataError;

/// Compares strings by their bytes.
#[derive(Clone, Copy, Debug)]
pub struct CollatorBorrowed<'a>(PhantomData<&'a ()>);

impl CollatorBorrowed<'static> {
    /// The order of C, whatever is asked for.
    ///
    /// # Errors
    /// None.
    pub fn try_new(_: CollatorPreferences, _: CollatorOptions) -> Result<Self, DataError> {
        Ok(Self(PhantomData))
    }
}

impl CollatorBorrowed<'_> {
    /// Which one comes first.
    #[must_use]
    pub fn compare_utf8(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    /// What is compared instead of the string: the string.
    ///
    /// # Errors
    /// None.
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
