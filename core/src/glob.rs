//! Patterns for file names, matched one path segment at a time.
//!
//! Matching by segments, instead of by one regular expression over the whole path, lets a search leave out directories
//! that cannot hold a match, and says exactly which wildcard met which name, which the rule for names with a leading
//! dot needs.

use crate::error::{FileError, FileErrorCode};

mod segment;

use segment::Segment;

/// Longest pattern, in bytes. Real ones stay below a hundred.
const PATTERN_BYTES: usize = 1024;

/// Most alternatives that the braces of one pattern may stand for; `{a,b}{a,b}{a,b}...` doubles with every pair.
const ALTERNATIVES: usize = 256;

/// The rules in which dialects differ, see [`crate::Dialect::glob_rules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobRules {
    /// A pattern without a slash matches a name at any depth, not only directly in the directory searched; and, unlike
    /// one that begins with `**`, also below directories with a leading dot.
    pub bare_at_any_depth: bool,
    /// `*`, `?`, `[...]` and `**` match a leading dot. Otherwise only a dot in the pattern does.
    pub star_matches_dot: bool,
    /// A slash at the end asks for directories. Where only files are found, one behind `**` means nothing.
    pub finds_directories: bool,
}

impl GlobRules {
    /// How the file filter of `grep` is read, in every dialect: as `grep --include`, which knows no hidden files.
    pub const FILTER: Self = Self { bare_at_any_depth: true, star_matches_dot: true, finds_directories: false };
}

/// A parsed pattern.
///
/// `*` and `?` match within a name, `[a-z]` and `[!a-z]` one character of a class, `**` any number of directories
/// (and, as the last segment, everything below), `{a,b}` either, `\` takes the next character's meaning away. A leading
/// slash anchors the pattern at the directory searched; a slash at the end finds directories only. Names are bytes; where
/// they are UTF-8, `?` is a character.
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

/// How far a pattern has matched the path to some directory: what its entries still have to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobState(Vec<(usize, usize)>);

impl GlobState {
    /// Whether nothing at or below here can match any more.
    pub fn is_dead(&self) -> bool {
        self.0.is_empty()
    }
}

impl GlobPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// [`FileErrorCode::InvalidPattern`] when it is empty, too long, has a `..` segment or a NUL byte, or its braces
    /// stand for too many alternatives.
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

    /// The state in the directory where the search begins.
    pub fn start(&self) -> GlobState {
        let mut state = GlobState(Vec::new());
        for alternative in 0..self.alternatives.len() {
            self.enter(&mut state, alternative, 0);
        }
        state
    }

    /// The state after going from `state` to the entry `name`.
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

    /// Whether an entry that was reached with `state` is a match.
    pub fn accepts(&self, state: &GlobState, is_dir: bool) -> bool {
        state.0.iter().any(|(alternative, at)| {
            self.alternatives
                .get(*alternative)
                .is_some_and(|found| *at == found.segments.len() && (is_dir || !found.directories_only))
        })
    }

    /// Whether a whole path, relative to the directory searched, matches.
    pub fn matches(&self, path: &[u8], is_dir: bool) -> bool {
        let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        let state = names.fold(self.start(), |state, name| self.step(&state, name));
        self.accepts(&state, is_dir)
    }

    /// Adds a position, and those behind `**` segments there, which may stand for no directory at all.
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
    /// A name to be found at any depth.
    fn bare(text: &[u8]) -> Result<Self, &'static str> {
        match text {
            b"" | b"." => Err("it matches no name"),
            b".." => Err("it leaves the directory searched"),
            name => Ok(Self { segments: vec![Segment::AnyDepth, Segment::name(name)], directories_only: false }),
        }
    }

    fn parse(text: &[u8], rules: GlobRules) -> Result<Self, &'static str> {
        let mut segments = Vec::new();
        for part in text.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => return Err("it leaves the directory searched"),
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

/// Turns `a{b,c}` into `ab` and `ac`, as a shell does: braces that hold no comma or do not close are plain text.
fn expand_braces(pattern: &[u8]) -> Result<Vec<Vec<u8>>, FileError> {
    let mut done = Vec::new();
    let mut todo = vec![(pattern.to_vec(), 0)];
    while let Some((text, from)) = todo.pop() {
        if done.len() + todo.len() >= ALTERNATIVES {
            return Err(invalid(pattern, &format!("its braces stand for more than {ALTERNATIVES} alternatives")));
        }
        match first_brace(&text, from) {
            None => done.push(text),
            Some((open, choices, close)) => {
                let head = text.get(..open).unwrap_or_default();
                let tail = text.get(close + 1..).unwrap_or_default();
                // Last first, so that they are taken from the stack in order.
                for choice in choices.iter().rev() {
                    let middle = text.get(choice.clone()).unwrap_or_default();
                    todo.push(([head, middle, tail].concat(), open));
                }
            }
        }
    }
    Ok(done)
}

/// The first brace at or after `from` that has a comma: where it opens, its choices, where it closes.
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
