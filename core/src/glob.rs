//! File name patterns, matched one path segment at a time.
//!
//! Matching by segments, instead of by one regular expression over the whole path, lets a search skip directories that cannot
//! contain a match, and determines which wildcard matched which name, which the rule for leading dots needs.

use crate::error::{FileError, FileErrorCode};

mod segment;

use segment::Segment;

/// Maximum pattern length, in bytes. Typical patterns are shorter than a hundred.
const PATTERN_BYTES: usize = 1024;

/// Maximum number of alternatives after brace expansion; `{a,b}{a,b}{a,b}...` doubles with every pair.
const ALTERNATIVES: usize = 256;

/// Rules that differ between dialects, see [`crate::Dialect::glob_rules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobRules {
    /// A pattern without a slash matches a name at any depth, not only directly in the searched directory. Unlike a pattern with
    /// a leading `**`, it also matches below directories with a leading dot.
    pub bare_at_any_depth: bool,
    /// `*`, `?`, `[...]` and `**` match a leading dot. Otherwise only a literal dot does.
    pub star_matches_dot: bool,
    /// A trailing slash matches only directories. If only files are found, a slash after a final `**` has no effect.
    pub finds_directories: bool,
}

impl GlobRules {
    /// Rules of the file filter of `grep`, in every dialect: like `grep --include`, which treats hidden files like others.
    pub const FILTER: Self = Self { bare_at_any_depth: true, star_matches_dot: true, finds_directories: false };
}

/// A parsed pattern.
///
/// `*` and `?` match within a name, `[a-z]` and `[!a-z]` one character of a class, `**` any number of directories (and, as the
/// last segment, everything below), `{a,b}` either alternative; `\` escapes the next character. A leading slash anchors the
/// pattern at the searched directory; a trailing slash matches only directories. Names are bytes; in valid UTF-8, `?` matches a
/// character.
#[derive(Clone, Debug)]
pub struct GlobPattern {
    alternatives: Vec<Alternative>,
    star_matches_dot: bool,
}

#[derive(Clone, Debug)]
struct Alternative {
    segments: Vec<Segment>,
    directories_only: bool,
}

/// Matching state of a directory: the remaining segments for its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobState(Vec<(usize, usize)>);

impl GlobState {
    /// Returns whether no path at or below this state can match.
    pub fn is_dead(&self) -> bool {
        self.0.is_empty()
    }
}

impl GlobPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// [`FileErrorCode::InvalidPattern`] if it is empty, too long, has a `..` segment or a NUL byte, or too many brace
    /// alternatives.
    pub fn parse(pattern: impl AsRef<[u8]>, rules: GlobRules) -> Result<Self, FileError> {
        let pattern = pattern.as_ref();
        if pattern.len() > PATTERN_BYTES {
            return Err(invalid(pattern, &format!("it is longer than {PATTERN_BYTES} bytes")));
        }
        if pattern.contains(&0) {
            return Err(invalid(pattern, "it contains a NUL byte"));
        }
        let mut alternatives = Vec::new();
        let bare = rules.bare_at_any_depth && !pattern.contains(&b'/');
        for text in expand_braces(pattern)? {
            let alternative = if bare { Alternative::bare(&text) } else { Alternative::parse(&text, rules) };
            alternatives.push(alternative.map_err(|why| invalid(pattern, why))?);
        }
        Ok(Self { alternatives, star_matches_dot: rules.star_matches_dot })
    }

    /// Returns the state of the directory where the search starts.
    pub fn start(&self) -> GlobState {
        let mut state = GlobState(Vec::new());
        for alternative in 0..self.alternatives.len() {
            self.enter(&mut state, alternative, 0);
        }
        state
    }

    /// Returns the state after descending from `state` to the entry `name`.
    pub fn step(&self, state: &GlobState, name: &[u8]) -> GlobState {
        let mut next = GlobState(Vec::new());
        let hidden = name.first() == Some(&b'.') && !self.star_matches_dot;
        for (alternative, at) in &state.0 {
            let segment = self.alternatives.get(*alternative).and_then(|found| found.segments.get(*at));
            match segment {
                Some(Segment::AnyDirectories) if !hidden => self.enter(&mut next, *alternative, *at),
                Some(Segment::AnyDepth) => self.enter(&mut next, *alternative, *at),
                Some(Segment::Name(wild)) if wild.matches(name, hidden) => self.enter(&mut next, *alternative, at + 1),
                _ => {}
            }
        }
        next
    }

    /// Returns whether an entry reached with `state` is a match.
    pub fn accepts(&self, state: &GlobState, is_dir: bool) -> bool {
        state.0.iter().any(|(alternative, at)| {
            self.alternatives
                .get(*alternative)
                .is_some_and(|found| *at == found.segments.len() && (is_dir || !found.directories_only))
        })
    }

    /// Returns whether a whole path, relative to the searched directory, matches.
    pub fn matches(&self, path: &[u8], is_dir: bool) -> bool {
        let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        let state = names.fold(self.start(), |state, name| self.step(&state, name));
        self.accepts(&state, is_dir)
    }

    /// Adds a position, and those after `**` segments, which may match no directory.
    fn enter(&self, state: &mut GlobState, alternative: usize, mut at: usize) {
        loop {
            if state.0.contains(&(alternative, at)) {
                return;
            }
            state.0.push((alternative, at));
            let segment = self.alternatives.get(alternative).and_then(|found| found.segments.get(at));
            match segment {
                Some(Segment::AnyDirectories | Segment::AnyDepth) => at += 1,
                _ => return,
            }
        }
    }
}

impl Alternative {
    /// A name that matches at any depth.
    fn bare(text: &[u8]) -> Result<Self, &'static str> {
        match text {
            b"" | b"." => Err("it matches no name"),
            b".." => Err("it leaves the searched directory"),
            name => Ok(Self { segments: vec![Segment::AnyDepth, Segment::name(name)], directories_only: false }),
        }
    }

    fn parse(text: &[u8], rules: GlobRules) -> Result<Self, &'static str> {
        let mut segments = Vec::new();
        for part in text.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => return Err("it leaves the searched directory"),
                b"**" if segments.last() == Some(&Segment::AnyDirectories) => {}
                b"**" => segments.push(Segment::AnyDirectories),
                name => segments.push(Segment::name(name)),
            }
        }
        let everything = segments.last() == Some(&Segment::AnyDirectories);
        if segments.is_empty() {
            return Err("it matches no name");
        }
        if everything {
            segments.push(Segment::name(b"*"));
        }
        let slash_asks = rules.finds_directories || !everything;
        Ok(Self { segments, directories_only: slash_asks && text.last() == Some(&b'/') })
    }
}

fn invalid(pattern: &[u8], why: &str) -> FileError {
    let message = format!("Invalid glob pattern '{}': {why}", String::from_utf8_lossy(pattern));
    FileError::new(FileErrorCode::InvalidPattern, message)
}

/// Expands `a{b,c}` to `ab` and `ac`, as a shell does: braces without a comma or without a closing brace are literal.
fn expand_braces(pattern: &[u8]) -> Result<Vec<Vec<u8>>, FileError> {
    let mut done = Vec::new();
    let mut todo = vec![(pattern.to_vec(), 0)];
    while let Some((text, from)) = todo.pop() {
        if done.len() + todo.len() >= ALTERNATIVES {
            return Err(invalid(pattern, &format!("its braces expand to more than {ALTERNATIVES} alternatives")));
        }
        match first_brace(&text, from) {
            None => done.push(text),
            Some((open, choices, close)) => {
                let head = text.get(..open).unwrap_or_default();
                let tail = text.get(close + 1..).unwrap_or_default();
                // In reverse order, so that they are popped in order.
                for choice in choices.iter().rev() {
                    let middle = text.get(choice.clone()).unwrap_or_default();
                    todo.push(([head, middle, tail].concat(), open));
                }
            }
        }
    }
    Ok(done)
}

/// Finds the first brace expression with a comma at or after `from`: its start, its choices, its end.
fn first_brace(text: &[u8], from: usize) -> Option<(usize, Vec<std::ops::Range<usize>>, usize)> {
    let mut at = from;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'{' => {
                if let Some((choices, close)) = choices(text, at + 1)
                    && choices.len() > 1
                {
                    return Some((at, choices, close));
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn choices(text: &[u8], start: usize) -> Option<(Vec<std::ops::Range<usize>>, usize)> {
    let (mut depth, mut from, mut at) = (0usize, start, start);
    let mut choices = Vec::new();
    loop {
        match text.get(at)? {
            b'\\' => at += 1,
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b'}' => {
                choices.push(from..at);
                return Some((choices, at));
            }
            b',' if depth == 0 => {
                choices.push(from..at);
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests;
