//! Rule lines.

use super::Reading;
use crate::Make;
use crate::assign::{Definition, definition};
use crate::failure::Stop;
use crate::pattern::Pattern;
use crate::rule::Rule;
use crate::source::collapsed;
use crate::words::{find_unquoted, reference_length, trim, trim_start, words};

/// A line up to the colon after its targets.
struct Head<'l> {
    targets: Vec<u8>,
    /// Text directly after the colon.
    behind: Vec<u8>,
    /// The rest, not yet expanded: it may be an assignment, which is not expanded here.
    rest: &'l [u8],
}

impl Make {
    /// A line with targets.
    pub(super) fn read_rule(&mut self, reading: &mut Reading, number: usize, mut raw: Vec<u8>) -> Result<(), Stop> {
        let eight_spaces = raw.starts_with(b"        ");
        let mut recipe = recipe_in(&mut raw);
        let line = collapsed(&raw);
        if trim(&line).is_empty() {
            return match recipe {
                Some(_) => Err(self.fatal("missing rule before recipe".to_owned())),
                None => Ok(()),
            };
        }
        let Some(Head { targets, mut behind, rest }) = self.head(&line, eight_spaces)? else {
            return Ok(());
        };
        let grouped = targets.last() == Some(&b'&');
        let targets = if grouped { targets.get(..targets.len() - 1).unwrap_or_default() } else { targets.as_slice() };
        let names: Vec<Vec<u8>> = words(targets).flat_map(|word| self.files_matching(word, false)).collect();
        if names.is_empty() {
            reading.without_targets = true;
            return Ok(());
        }
        let double_colon = behind.first() == Some(&b':');
        if double_colon {
            behind.remove(0);
        }
        let unexpanded = [behind.as_slice(), if rest.is_empty() { b"" } else { b" " }, rest].concat();
        match definition(&unexpanded, true) {
            Some((modifiers, Definition::Assign { name, operator, value })) => {
                let value = match &recipe {
                    Some(more) => [value, b";", &collapsed(more)].concat(),
                    None => value.to_vec(),
                };
                return self.assign_for_targets(&names, (name, operator, &value), modifiers);
            }
            Some((_, Definition::Unsupported(word))) => return Err(self.unsupported(word)),
            _ => {}
        }
        reading.without_targets = false;
        let expanded = self.expand(rest)?;
        let mut prerequisites = [behind.as_slice(), b" ", &expanded].concat();
        if recipe.is_none()
            && let Some(at) = find_unquoted(&mut prerequisites, false, |byte| byte == b';')
        {
            recipe = Some(prerequisites.get(at + 1..).unwrap_or_default().to_vec());
            prerequisites.truncate(at);
        }
        let static_pattern = self.static_pattern(&mut prerequisites)?;
        let prerequisites = trim(&prerequisites).to_vec();
        let location = self.location.clone();
        let mut rule =
            Rule { targets: names, double_colon, grouped, location, static_pattern, prerequisites, ..Rule::default() };
        if let Some(line) = recipe {
            rule.add_line(number, line);
        }
        reading.rule = Some(rule);
        Ok(())
    }

    /// Expands the text up to the colon. A line without a colon has no head: it is empty or an error.
    fn head<'l>(&mut self, line: &'l [u8], eight_spaces: bool) -> Result<Option<Head<'l>>, Stop> {
        let mut head: Vec<u8> = Vec::new();
        let mut rest = line;
        loop {
            if let Some(colon) = colon_in(&mut head) {
                let behind = head.get(colon + 1..).unwrap_or_default().to_vec();
                head.truncate(colon);
                return Ok(Some(Head { targets: head, behind, rest }));
            }
            let (word, behind) = next_word(rest);
            if word.is_empty() {
                self.no_colon(&head, eight_spaces)?;
                return Ok(None);
            }
            rest = behind;
            if !head.is_empty() {
                head.push(b' ');
            }
            let expanded = self.expand(word)?;
            head.extend_from_slice(&expanded);
        }
    }

    /// Removes the target pattern of a static pattern rule, with its colon, from the prerequisites.
    fn static_pattern(&mut self, prerequisites: &mut Vec<u8>) -> Result<Option<Pattern>, Stop> {
        let Some(at) = find_unquoted(prerequisites, false, |byte| byte == b':') else {
            return Ok(None);
        };
        let patterns: Vec<&[u8]> = words(prerequisites.get(..at).unwrap_or_default()).collect();
        let pattern = match patterns.as_slice() {
            [] => return Err(self.fatal("missing target pattern".to_owned())),
            [pattern] => Pattern::parse(pattern),
            _ => return Err(self.fatal("multiple target patterns".to_owned())),
        };
        if !pattern.has_percent() {
            return Err(self.fatal("target pattern contains no '%'".to_owned()));
        }
        prerequisites.drain(..=at);
        Ok(Some(pattern))
    }

    /// A line without a colon: empty or an error.
    fn no_colon(&mut self, head: &[u8], eight_spaces: bool) -> Result<(), Stop> {
        if trim(head).is_empty() {
            return Ok(());
        }
        Err(self.fatal(match eight_spaces && self.recipe_prefix == b'\t' {
            true => "missing separator (did you mean TAB instead of 8 spaces?)".to_owned(),
            false => "missing separator".to_owned(),
        }))
    }
}

/// Splits off the recipe after a semicolon, and a comment.
fn recipe_in(raw: &mut Vec<u8>) -> Option<Vec<u8>> {
    let at = find_unquoted(raw, true, |byte| matches!(byte, b';' | b'#'))?;
    let recipe = (raw.get(at) == Some(&b';')).then(|| raw.get(at + 1..).unwrap_or_default().to_vec());
    raw.truncate(at);
    recipe
}

/// Position of the colon that ends the targets.
fn colon_in(head: &mut Vec<u8>) -> Option<usize> {
    find_unquoted(head, false, |byte| byte == b':')
}

/// The next unexpanded item of a line, and the rest. A colon belongs to the text before it.
fn next_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = trim_start(text);
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'$' => at += reference_length(text.get(at..).unwrap_or_default()),
            b' ' | b'\t' | b'\n' => break,
            b'\\' => at += 2,
            b':' => {
                at += 1;
                if text.get(at) == Some(&b':') {
                    at += 1;
                }
                break;
            }
            _ => at += 1,
        }
    }
    let at = at.min(text.len());
    (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default())
}
