//! The subset of Project Fluent that uutils uses, with lazy parsing of messages.
//!
//! Every tool of uutils loads its messages first, and the `fluent` crate then parses all of them into a tree: more than half of
//! the run time of a short command. This crate replaces it (`[patch.crates-io]`), with the same names and signatures. Loading
//! only finds the start of each message; text is parsed when it is printed.
//!
//! [`correct`] replaces the text of some messages.
//!
//! Supported: text, variables, literals, references to other messages, and selectors by number or string. Functions, terms and
//! attributes are not supported and are printed as source text.

mod args;
mod correction;
mod format;
mod pattern;
mod resource;
#[cfg(test)]
mod tests;

use std::borrow::{Borrow, Cow};

use unic_langid::LanguageIdentifier;

pub use args::{FluentArgs, FluentValue};
pub use correction::correct;
pub use resource::FluentResource;

/// Formatting error. Never returned: unresolved expressions are printed as source text, as in Fluent.
#[derive(Debug)]
pub enum FluentError {}

/// The source text of a message value, including placeables.
#[derive(Clone, Copy, Debug)]
pub struct Pattern<'a> {
    source: &'a str,
}

/// A message of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct FluentMessage<'a> {
    source: &'a str,
}

impl<'a> FluentMessage<'a> {
    /// Its value; `None` if it has only attributes.
    pub fn value(&self) -> Option<Pattern<'a>> {
        (!self.source.trim().is_empty()).then_some(Pattern { source: self.source })
    }
}

/// Messages of one locale from several resources; a later resource takes precedence.
#[derive(Debug)]
pub struct FluentBundle<R> {
    /// The locales, the preferred one first. They determine the plural rule for "one".
    pub locales: Vec<LanguageIdentifier>,
    resources: Vec<R>,
}

impl<R: Borrow<FluentResource>> FluentBundle<R> {
    /// A bundle without messages.
    pub fn new(locales: Vec<LanguageIdentifier>) -> Self {
        Self { locales, resources: Vec::new() }
    }

    /// Sets whether values are enclosed in direction marks. They never are, which is the setting of uutils.
    pub fn set_use_isolating(&mut self, _isolating: bool) {}

    /// Adds messages, replacing existing ones.
    pub fn add_resource_overriding(&mut self, resource: R) {
        self.resources.push(resource);
    }

    /// Returns whether the message exists.
    pub fn has_message(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// Returns the message of this name.
    pub fn get_message(&self, id: &str) -> Option<FluentMessage<'_>> {
        self.find(id).map(|source| FluentMessage { source })
    }

    /// Formats a message with its variables.
    pub fn format_pattern<'b>(
        &'b self,
        pattern: Pattern<'b>,
        args: Option<&FluentArgs<'_>>,
        _errors: &mut Vec<FluentError>,
    ) -> Cow<'b, str> {
        let french = self.locales.first().is_some_and(|locale| locale.language.as_str() == "fr");
        correction::marked(format::Formatter { find: &|id| self.find(id), args, french }.text(pattern.source))
    }

    fn find(&self, id: &str) -> Option<&str> {
        // Includes messages that uutils uses but does not define.
        correction::find(id).or_else(|| self.resources.iter().rev().find_map(|resource| resource.borrow().find(id)))
    }
}
