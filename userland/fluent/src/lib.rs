//! The part of Project Fluent that uutils uses, reading a message only when it is asked for.
//!
//! Every tool of uutils loads its messages before it does anything else, and the `fluent` crate then parses all of them
//! into a tree: more than half of the run time of a short command. This crate takes its place (`[patch.crates-io]`),
//! with the same names and signatures. Loading only finds where each message begins; text is read when it is printed.
//!
//! Messages can be corrected: [`correct`] gives some of them another text.
//!
//! It knows what the messages of uutils contain: text, variables, literals, references to other messages, and choices
//! by number or word. Functions, terms and attributes are unknown to it and are printed as they are written.

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

/// A mistake found while a message is put together. None is ever reported: what cannot be filled in is printed as it is
/// written, as Fluent does too.
#[derive(Debug)]
pub enum FluentError {}

/// The value of a message as it is written, placeables and all.
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
    /// Its value; `None` when it has attributes only.
    pub fn value(&self) -> Option<Pattern<'a>> {
        (!self.source.trim().is_empty()).then_some(Pattern { source: self.source })
    }
}

/// Messages of one locale from several resources; a later resource wins.
#[derive(Debug)]
pub struct FluentBundle<R> {
    /// The locales, the preferred one first. It decides what counts as "one".
    pub locales: Vec<LanguageIdentifier>,
    resources: Vec<R>,
}

impl<R: Borrow<FluentResource>> FluentBundle<R> {
    /// A bundle without messages.
    pub fn new(locales: Vec<LanguageIdentifier>) -> Self {
        Self { locales, resources: Vec::new() }
    }

    /// Says whether values are set between marks of direction. They never are here, which is what uutils asks for.
    pub fn set_use_isolating(&mut self, _isolating: bool) {}

    /// Adds messages; one that is there already is replaced.
    pub fn add_resource_overriding(&mut self, resource: R) {
        self.resources.push(resource);
    }

    /// Whether there is a message of that name.
    pub fn has_message(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// The message of that name.
    pub fn get_message(&self, id: &str) -> Option<FluentMessage<'_>> {
        self.find(id).map(|source| FluentMessage { source })
    }

    /// The text of a message with its variables filled in.
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
        // Also one that uutils asks for and has forgotten to write.
        correction::find(id).or_else(|| self.resources.iter().rev().find_map(|resource| resource.borrow().find(id)))
    }
}
