//! Message formatting.

use std::borrow::Cow;

use crate::args::{FluentArgs, FluentValue};
use crate::pattern::{Piece, pieces, placeable_end, shared_indent};

/// Maximum depth of references between messages. The messages of uutils use depth one; cycles end here.
const DEPTH: u32 = 8;

/// Formatting context.
pub(crate) struct Formatter<'a> {
    /// Looks up another message by name.
    pub(crate) find: &'a dyn Fn(&str) -> Option<&'a str>,
    /// The variables.
    pub(crate) args: Option<&'a FluentArgs<'a>>,
    /// In French zero counts as "one".
    pub(crate) french: bool,
}

impl<'a> Formatter<'a> {
    /// Formats a message.
    pub(crate) fn text<'s>(&self, source: &'s str) -> Cow<'s, str> {
        // Fast path: most messages are one line of plain text.
        let line = source.trim();
        if !line.contains(['{', '\n']) {
            return Cow::Borrowed(line);
        }
        let mut out = String::with_capacity(source.len());
        self.write(source, DEPTH, &mut out);
        Cow::Owned(out)
    }

    fn write(&self, source: &str, depth: u32, out: &mut String) {
        let pieces = pieces(source);
        let shared = shared_indent(&pieces);
        let mut begun = false;
        for (at, piece) in pieces.iter().enumerate() {
            match *piece {
                Piece::Text(text) => out.push_str(text),
                // A value that starts on the line after its name has no line end before it.
                Piece::Line { indent } if begun => {
                    out.push('\n');
                    // Fluent drops the spaces before a placeable, although its grammar keeps them.
                    if let Some(Piece::Text(_)) = pieces.get(at + 1) {
                        out.extend(std::iter::repeat_n(' ', indent.saturating_sub(shared)));
                    }
                }
                Piece::Line { .. } => continue,
                Piece::Placeable(expression) => self.write_expression(expression, depth, out),
            }
            begun = true;
        }
    }

    fn write_expression(&self, expression: &str, depth: u32, out: &mut String) {
        let expression = expression.trim();
        if let Some((selector, variants)) = select(expression) {
            if let Some(variant) = self.choose(selector.trim(), variants) {
                self.write(variant, depth, out);
            }
        } else if let Some(quoted) = expression.strip_prefix('"') {
            unescape(quoted.strip_suffix('"').unwrap_or(quoted), out);
        } else if let Some(value) = self.variable(expression) {
            out.push_str(&value.text());
        } else if expression.bytes().next().is_some_and(|first| first.is_ascii_digit() || first == b'-') {
            out.push_str(expression);
        } else if let (Some(depth), Some(source)) = (depth.checked_sub(1), (self.find)(expression)) {
            self.write(source, depth, out);
        } else {
            out.push('{');
            out.push_str(expression);
            out.push('}');
        }
    }

    fn variable(&self, expression: &str) -> Option<&'a FluentValue<'a>> {
        self.args?.get(expression.strip_prefix('$')?.trim())
    }

    /// Returns the variant that matches the selector, or the default.
    fn choose<'s>(&self, selector: &str, variants: &'s str) -> Option<&'s str> {
        let value = self.variable(selector);
        let mut fallback = None;
        for (key, default, text) in Variants(variants) {
            if value.is_some_and(|value| self.fits(key, value)) {
                return Some(text);
            }
            if default {
                fallback = Some(text);
            }
        }
        fallback
    }

    fn fits(&self, key: &str, value: &FluentValue<'_>) -> bool {
        match value {
            FluentValue::String(text) => text == key,
            FluentValue::Number(number) => match key.parse::<f64>() {
                Ok(wanted) => wanted == *number,
                Err(_) => key == self.plural(*number),
            },
        }
    }

    fn plural(&self, number: f64) -> &'static str {
        let one = if self.french { number.abs() < 2.0 } else { number == 1.0 };
        if one { "one" } else { "other" }
    }
}

/// Splits `selector -> variants`; `None` for any other expression.
fn select(expression: &str) -> Option<(&str, &str)> {
    if expression.starts_with('"') {
        return None;
    }
    expression.split_once("->")
}

/// Parses the variants of a selector: key, default flag, text.
struct Variants<'a>(&'a str);

impl<'a> Iterator for Variants<'a> {
    type Item = (&'a str, bool, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let open = self.0.find('[')?;
        let default = self.0.get(..open)?.ends_with('*');
        let (key, rest) = self.0.get(open + 1..)?.split_once(']')?;
        let end = variant_end(rest);
        let (text, tail) = rest.split_at_checked(end)?;
        self.0 = tail;
        Some((key.trim(), default, text))
    }
}

/// Finds the start of the next variant: a line whose first character is `[` or `*[`.
fn variant_end(rest: &str) -> usize {
    let mut at = 0;
    while let Some(byte) = rest.as_bytes().get(at) {
        match byte {
            b'{' => at += placeable_end(rest.get(at..).unwrap_or("")),
            b'\n' => {
                let line = rest.get(at + 1..).unwrap_or("").trim_start();
                if line.starts_with('[') || line.starts_with("*[") {
                    return rest.len() - line.len();
                }
            }
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

/// Writes a literal with its escapes resolved.
fn unescape(literal: &str, out: &mut String) {
    let mut chars = literal.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        let digits = match chars.next() {
            Some('u') => 4,
            Some('U') => 6,
            Some(other) => {
                out.push(other);
                continue;
            }
            None => return,
        };
        let code: String = chars.by_ref().take(digits).collect();
        let scalar = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
        out.push(scalar.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
}
