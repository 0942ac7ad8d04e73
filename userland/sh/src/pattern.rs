//! Patterns of the shell: `*`, `?`, brackets, extended groups.
//!
//! Matching keeps the set of all places where the text may stand after each element, so that its cost stays polynomial
//! however groups are nested.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ir::Bytes;
use crate::vars::Map;

#[derive(Debug)]
enum Node {
    /// Exactly this byte.
    Byte(u8),
    /// Any one character.
    Any,
    /// Any run of characters.
    Star,
    Set {
        negated: bool,
        items: Vec<Item>,
    },
    /// `?( )`, `*( )`, `+( )`, `@( )`, `!( )`
    Group {
        kind: u8,
        choices: Vec<Vec<Self>>,
    },
}

/// What a bracket expression holds.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Range(char, char),
    Class(Class),
}

/// A test such as `[:alpha:]`.
pub(crate) type Class = fn(char) -> bool;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    nodes: Vec<Node>,
    fold: bool,
    /// It is no UTF-8, so that every byte of it is a character.
    broken: bool,
}

/// How to read a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// `@(a|b)` and its kind are groups.
    pub(crate) extended: bool,
    /// Upper and lower case are the same.
    pub(crate) fold: bool,
}

/// Levels of groups within groups. One more ends the shell, as memory that is used up does: bash's own stack ends somewhere, too.
const MAX_DEPTH: u32 = 500;

fn too_deep() -> ! {
    // Nobody is left who could be told that the message could not be written.
    let _ = writeln!(std::io::stderr(), "sh: pattern: groups are nested more than {MAX_DEPTH} levels deep");
    std::process::exit(2)
}

impl Pattern {
    /// Reads a pattern. A backslash takes the meaning from the next byte.
    pub(crate) fn new(text: &[u8], style: Style) -> Self {
        let broken = std::str::from_utf8(text).is_err();
        let mut reader = Reader { text, pos: 0, style, depth: 0, unclosed: BTreeSet::new() };
        let nodes = in_bytes_where(broken, || reader.nodes(b""));
        Self { nodes, fold: style.fold, broken }
    }

    /// Runs `inner`, which matches parts of `text`. Where the pattern or the text is no UTF-8 every byte is a character then.
    pub(crate) fn within<T>(&self, text: &[u8], inner: impl FnOnce() -> T) -> T {
        in_bytes_where(self.broken || std::str::from_utf8(text).is_err(), inner)
    }

    /// The text of a pattern that is nothing but text.
    pub(crate) fn literal(&self) -> Option<Bytes> {
        if self.fold {
            return None;
        }
        self.nodes.iter().map(|node| if let Node::Byte(byte) = node { Some(*byte) } else { None }).collect()
    }

    /// Whether it is a pattern of no text at all.
    pub(crate) fn is_nothing(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether a dot at the start of a name can be matched by a dot of the pattern.
    pub(crate) fn may_start_with_dot(&self) -> bool {
        fn dot(nodes: &[Node]) -> bool {
            match nodes.split_first() {
                Some((Node::Byte(byte), _)) => *byte == b'.',
                Some((Node::Group { kind, choices }, rest)) => {
                    (*kind != b'!' && choices.iter().any(|choice| dot(choice)))
                        || (matches!(kind, b'?' | b'*') && dot(rest))
                }
                _ => false,
            }
        }
        dot(&self.nodes)
    }

    /// Whether it starts with `*`, so that bash looks for it in empty text too.
    pub(crate) fn starts_with_star(&self) -> bool {
        matches!(self.nodes.first(), Some(Node::Star | Node::Group { kind: b'*', .. }))
    }

    /// Whether the whole of `text` matches.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        self.within(text, || self.fits(text))
    }

    /// The same for a part of the text that [`Self::within`] was told of.
    pub(crate) fn fits(&self, text: &[u8]) -> bool {
        if self.nodes.iter().all(|node| !matches!(node, Node::Group { .. })) {
            return simple_match(&self.nodes, text, self.fold);
        }
        self.ends(text).last() == Some(&text.len())
    }

    /// Whether a name whose dot at the start only a dot of the pattern may match does.
    pub(crate) fn matches_hidden(&self, name: &[u8]) -> bool {
        let mut matcher = Matcher { text: name, fold: self.fold, hidden: true, memo: Memo::default() };
        self.within(name, || matcher.ends(&self.nodes, vec![0]).last() == Some(&name.len()))
    }

    /// All lengths, in order, of prefixes of `text` that match; a part of what [`Self::within`] was told of.
    pub(crate) fn ends(&self, text: &[u8]) -> Vec<usize> {
        Matcher { text, fold: self.fold, hidden: false, memo: Memo::default() }.ends(&self.nodes, vec![0])
    }
}

/// Whether text holds a byte that makes it a pattern.
pub(crate) fn has_special(text: &[u8], extended: bool) -> bool {
    text.iter().any(|b| matches!(b, b'*' | b'?' | b'['))
        || (extended && text.windows(2).any(|w| w[1] == b'(' && matches!(w[0], b'@' | b'!' | b'+')))
}

/// Whether text that is a whole word is a pattern. A bracket alone, as in `[ a = b ]`, is none.
pub(crate) fn is_pattern(text: &[u8], extended: bool) -> bool {
    text.iter().any(|b| matches!(b, b'*' | b'?'))
        || text
            .iter()
            .position(|&b| b == b'[')
            .is_some_and(|at| text.get(at..).is_some_and(|rest| rest.contains(&b']')))
        || (extended && text.windows(2).any(|w| w[1] == b'(' && matches!(w[0], b'@' | b'!' | b'+')))
}

/// Whether text with backslashes before what is quoted is a pattern of paths: a bracket closes before the next slash.
pub(crate) fn is_glob(text: &[u8], extended: bool) -> bool {
    let (mut at, mut open) = (0, false);
    while let Some(&byte) = text.get(at) {
        let next = text.get(at + 1).copied();
        match byte {
            b'*' | b'?' => return true,
            b'[' => open = true,
            b']' if open => return true,
            b'/' => open = false,
            b'+' | b'@' | b'!' if extended && next == Some(b'(') => return true,
            b'\\' if next != Some(b'/') || open => at += 1,
            _ => {}
        }
        at += 1;
    }
    false
}

/// Whether text ends within a bracket that may be closed by what follows.
pub(crate) fn leaves_open(text: &[u8]) -> bool {
    let (mut at, mut open) = (0, false);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => open = true,
            b']' | b'/' => open = false,
            _ => {}
        }
        at += 1;
    }
    open
}

/// Whether the last byte is a backslash that quotes what follows.
pub(crate) fn ends_in_backslash(text: &[u8]) -> bool {
    text.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Whether quoted text that follows a pattern needs a backslash that [`escape_into`] does not write, because every quoted
/// character takes one and the last of the pattern is left without its own.
pub(crate) fn needs_backslash(pattern: &[u8], text: &[u8]) -> bool {
    ends_in_backslash(pattern) && text.first().is_some_and(|&first| !is_special(first))
}

/// Whether a byte may mean something else in a pattern.
fn is_special(byte: u8) -> bool {
    b"*?[]\\()|@!+-^".contains(&byte)
}

/// Text as a pattern that matches exactly it.
pub(crate) fn escape_into(out: &mut Bytes, text: &[u8]) {
    for &byte in text {
        if is_special(byte) {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

/// Whether the locale is that of C, in which every byte is a character. One of the process, as in the C library, because
/// what takes text apart knows no shell.
static BYTES: AtomicBool = AtomicBool::new(false);
/// Whether a variable of the locale was ever assigned, so that it has to be looked at when variables come back.
static TOUCHED: AtomicBool = AtomicBool::new(false);

pub(crate) fn set_bytes(on: bool) {
    BYTES.store(on, Ordering::Relaxed);
    TOUCHED.store(true, Ordering::Relaxed);
}

/// Whether the locale is that of C, in which every byte is a character of its own and those beyond ASCII are not printed.
pub(crate) fn in_bytes() -> bool {
    BYTES.load(Ordering::Relaxed)
}

/// Runs `inner` with every byte a character if `broken`, as bash matches what it cannot take apart into characters.
fn in_bytes_where<T>(broken: bool, inner: impl FnOnce() -> T) -> T {
    let outer = BYTES.load(Ordering::Relaxed);
    BYTES.store(outer || broken, Ordering::Relaxed);
    let result = inner();
    BYTES.store(outer, Ordering::Relaxed);
    result
}

/// Whether the locale's name asks for UTF-8, which counts for characters that are made from their numbers.
static NAMED_UNICODE: AtomicBool = AtomicBool::new(true);

pub(crate) fn name_unicode(on: bool) {
    NAMED_UNICODE.store(on, Ordering::Relaxed);
}

/// Whether characters beyond ASCII can be written.
pub(crate) fn writes_unicode() -> bool {
    !BYTES.load(Ordering::Relaxed) || NAMED_UNICODE.load(Ordering::Relaxed)
}

pub(crate) fn locale_touched() -> bool {
    TOUCHED.load(Ordering::Relaxed)
}

/// Length of the character at the start of `text`; bytes that are no UTF-8 count one by one.
pub(crate) fn char_len(text: &[u8]) -> usize {
    let len = match text.first() {
        None => return 0,
        Some(0..=0xbf) => return 1,
        Some(_) if in_bytes() => return 1,
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(_) => 4,
    };
    let valid = text.get(..len).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok());
    if valid { len } else { 1 }
}

/// The character at the start of `text` and its length.
pub(crate) fn char_at(text: &[u8]) -> Option<(char, usize)> {
    let len = char_len(text);
    let bytes = text.get(..len).filter(|b| !b.is_empty())?;
    let char = std::str::from_utf8(bytes).ok().and_then(|s| s.chars().next());
    Some((char.unwrap_or(char::from(*bytes.first()?)), len))
}

struct Reader<'a> {
    text: &'a [u8],
    pos: usize,
    style: Style,
    depth: u32,
    /// Where groups begin that do not close.
    unclosed: BTreeSet<usize>,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.pos + ahead).copied()
    }

    /// Elements up to one of `stops` or the end.
    fn nodes(&mut self, stops: &[u8]) -> Vec<Node> {
        let mut nodes = Vec::new();
        // Parentheses within a group that belong to no group pair up all the same.
        let mut open = 0_u32;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'(' if !stops.is_empty() => open += 1,
                b')' | b'|' if open > 0 && stops.contains(&byte) => open -= u32::from(byte == b')'),
                _ if stops.contains(&byte) => break,
                _ => {}
            }
            if self.style.extended
                && matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!')
                && self.peek(1) == Some(b'(')
                && let Some(group) = self.group(byte)
            {
                nodes.push(group);
                continue;
            }
            self.pos += 1;
            match byte {
                b'*' if matches!(nodes.last(), Some(Node::Star)) => {}
                b'*' => nodes.push(Node::Star),
                b'?' => nodes.push(Node::Any),
                b'[' => match self.set() {
                    Some(set) => nodes.push(set),
                    None if !stops.is_empty() => {
                        // What follows belongs to the bracket for bash, so that the group does not close.
                        self.pos = self.text.len();
                        return nodes;
                    }
                    None => nodes.push(Node::Byte(b'[')),
                },
                // After `*` bash looks for what this backslash quotes, which is nothing.
                b'\\' if self.peek(0).is_none() && matches!(nodes.last(), Some(Node::Star)) => {
                    nodes.push(Node::Set { negated: false, items: Vec::new() });
                }
                b'\\' => {
                    let escaped = self.peek(0);
                    self.pos += usize::from(escaped.is_some());
                    nodes.push(Node::Byte(escaped.unwrap_or(b'\\')));
                }
                _ => nodes.push(Node::Byte(byte)),
            }
        }
        nodes
    }

    /// A group, or `None` with nothing read when it does not close.
    fn group(&mut self, kind: u8) -> Option<Node> {
        let start = self.pos;
        if self.unclosed.contains(&start) {
            return None;
        }
        if self.depth >= MAX_DEPTH {
            too_deep();
        }
        self.pos += 2;
        self.depth += 1;
        let mut choices = Vec::new();
        loop {
            choices.push(self.nodes(b"|)"));
            match self.peek(0) {
                Some(b'|') => self.pos += 1,
                Some(_) => {
                    self.pos += 1;
                    self.depth -= 1;
                    return Some(Node::Group { kind, choices });
                }
                None => {
                    // Whoever reads on after a group that does not close meets those within it again.
                    self.unclosed.insert(start);
                    self.pos = start;
                    self.depth -= 1;
                    return None;
                }
            }
        }
    }

    /// What follows `[`, or `None` with nothing read when it does not close.
    fn set(&mut self) -> Option<Node> {
        let start = self.pos;
        let negated = matches!(self.peek(0), Some(b'!' | b'^'));
        self.pos += usize::from(negated);
        let mut items = Vec::new();
        let mut first = true;
        loop {
            let Some(byte) = self.peek(0) else {
                self.pos = start;
                return None;
            };
            if byte == b']' && !first {
                self.pos += 1;
                return Some(Node::Set { negated, items });
            }
            first = false;
            if byte == b'['
                && self.peek(1) == Some(b':')
                && let Some(class) = self.class()
            {
                items.push(Item::Class(class));
                continue;
            }
            if byte == b'['
                && let Some(mark @ (b':' | b'.' | b'=')) = self.peek(1)
                && self.skip_unknown(mark)
            {
                continue;
            }
            let low = self.set_char()?;
            let is_range = self.peek(0) == Some(b'-') && !matches!(self.peek(1), None | Some(b']'));
            if is_range {
                self.pos += 1;
                if self.peek(0) == Some(b'[')
                    && let Some(mark @ (b'.' | b'=')) = self.peek(1)
                    && self.skip_unknown(mark)
                {
                    // A range to nowhere holds nothing.
                    continue;
                }
                let high = self.set_char()?;
                items.push(Item::Range(low, high));
            } else {
                items.push(Item::Range(low, low));
            }
        }
    }

    /// Passes a class or a symbol that there is not, which matches nothing; says whether one was there.
    fn skip_unknown(&mut self, mark: u8) -> bool {
        let before = self.pos;
        if mark != b':' && self.symbol(mark).is_some() {
            self.pos = before;
            return false;
        }
        let rest = self.text.get(self.pos + 2..).unwrap_or_default();
        match rest.windows(2).position(|pair| pair == [mark, b']']) {
            Some(len) => {
                self.pos += len + 4;
                true
            }
            None => false,
        }
    }

    fn set_char(&mut self) -> Option<char> {
        if let (Some(b'['), Some(mark @ (b'.' | b'='))) = (self.peek(0), self.peek(1))
            && let Some(symbol) = self.symbol(mark)
        {
            return Some(symbol);
        }
        if self.peek(0) == Some(b'\\') && self.peek(1).is_some() {
            self.pos += 1;
        }
        let (char, len) = char_at(self.text.get(self.pos..)?)?;
        self.pos += len;
        Some(char)
    }

    /// `[.x.]` or `[=x=]`: a character, or the name of one.
    fn symbol(&mut self, mark: u8) -> Option<char> {
        let rest = self.text.get(self.pos + 2..)?;
        let len = rest.windows(2).position(|pair| pair == [mark, b']'])?;
        let name = rest.get(..len)?;
        let symbol = match char_at(name) {
            Some((char, one)) if one == name.len() => char,
            _ if mark == b'.' => collating_symbol(name)?,
            _ => return None,
        };
        self.pos += len + 4;
        Some(symbol)
    }

    fn class(&mut self) -> Option<Class> {
        let rest = self.text.get(self.pos + 2..)?;
        let len = rest.windows(2).position(|pair| pair == b":]")?;
        let class = class_named(rest.get(..len)?)?;
        self.pos += len + 4;
        Some(class)
    }
}

/// The character that POSIX gives this name.
fn collating_symbol(name: &[u8]) -> Option<char> {
    const NAMES: &[(&str, char)] = &[
        ("NUL", '\0'),
        ("tab", '\t'),
        ("newline", '\n'),
        ("vertical-tab", '\u{b}'),
        ("form-feed", '\u{c}'),
        ("carriage-return", '\r'),
        ("space", ' '),
        ("exclamation-mark", '!'),
        ("quotation-mark", '"'),
        ("number-sign", '#'),
        ("dollar-sign", '$'),
        ("percent-sign", '%'),
        ("ampersand", '&'),
        ("apostrophe", '\''),
        ("left-parenthesis", '('),
        ("right-parenthesis", ')'),
        ("asterisk", '*'),
        ("plus-sign", '+'),
        ("comma", ','),
        ("hyphen", '-'),
        ("hyphen-minus", '-'),
        ("minus", '-'),
        ("dash", '-'),
        ("period", '.'),
        ("full-stop", '.'),
        ("slash", '/'),
        ("solidus", '/'),
        ("zero", '0'),
        ("one", '1'),
        ("two", '2'),
        ("three", '3'),
        ("four", '4'),
        ("five", '5'),
        ("six", '6'),
        ("seven", '7'),
        ("eight", '8'),
        ("nine", '9'),
        ("colon", ':'),
        ("semicolon", ';'),
        ("less-than-sign", '<'),
        ("equals-sign", '='),
        ("greater-than-sign", '>'),
        ("question-mark", '?'),
        ("commercial-at", '@'),
        ("left-square-bracket", '['),
        ("backslash", '\\'),
        ("reverse-solidus", '\\'),
        ("right-square-bracket", ']'),
        ("circumflex", '^'),
        ("circumflex-accent", '^'),
        ("underscore", '_'),
        ("grave-accent", '`'),
        ("left-brace", '{'),
        ("left-curly-bracket", '{'),
        ("vertical-line", '|'),
        ("right-brace", '}'),
        ("right-curly-bracket", '}'),
        ("tilde", '~'),
    ];
    NAMES.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, char)| *char)
}

/// The class that `[:name:]` means.
pub(crate) fn class_named(name: &[u8]) -> Option<Class> {
    Some(match name {
        b"alpha" => char::is_alphabetic,
        b"digit" => |c| c.is_ascii_digit(),
        b"alnum" => char::is_alphanumeric,
        b"upper" => char::is_uppercase,
        b"lower" => char::is_lowercase,
        b"space" => |c| c.is_whitespace() && !matches!(c, '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}'),
        b"blank" => |c| c == ' ' || c == '\t',
        b"punct" => |c| {
            if c.is_ascii() {
                c.is_ascii_punctuation()
            } else {
                !(c.is_alphanumeric() || c.is_whitespace() || c.is_control())
            }
        },
        b"print" => |c| !c.is_control(),
        b"graph" => |c| !c.is_control() && !c.is_whitespace(),
        b"cntrl" => char::is_control,
        b"xdigit" => |c| c.is_ascii_hexdigit(),
        b"word" => |c| c.is_alphanumeric() || c == '_',
        b"ascii" => |c| c.is_ascii(),
        _ => return None,
    })
}

fn fold_char(char: char) -> char {
    char.to_lowercase().next().unwrap_or(char)
}

pub(crate) fn in_set(negated: bool, items: &[Item], char: char, fold: bool) -> bool {
    let one = |char: char| {
        items.iter().any(|item| match item {
            Item::Range(low, high) => (*low..=*high).contains(&char),
            Item::Class(class) => class(char),
        })
    };
    let found = one(char) || (fold && (one(fold_char(char)) || char.to_uppercase().next().is_some_and(one)));
    found != negated
}

fn same_byte(a: u8, b: u8, fold: bool) -> bool {
    a == b || (fold && a.eq_ignore_ascii_case(&b))
}

/// How many bytes of `text` one element other than a star or a group takes.
fn step(node: &Node, text: &[u8], fold: bool) -> Option<usize> {
    match node {
        Node::Byte(byte) => text.first().is_some_and(|b| same_byte(*b, *byte, fold)).then_some(1),
        Node::Any => Some(char_len(text)).filter(|len| *len > 0),
        Node::Set { negated, items } => {
            let (char, len) = char_at(text)?;
            in_set(*negated, items, char, fold).then_some(len)
        }
        Node::Star | Node::Group { .. } => None,
    }
}

/// Matching without groups: only the newest star ever has to take more.
fn simple_match(nodes: &[Node], text: &[u8], fold: bool) -> bool {
    let (mut node, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        match nodes.get(node) {
            Some(Node::Star) => {
                retry = Some((node + 1, at));
                node += 1;
                continue;
            }
            Some(element) => {
                if let Some(len) = step(element, rest, fold) {
                    node += 1;
                    at += len;
                    continue;
                }
            }
            None if rest.is_empty() => return true,
            None => {}
        }
        let Some((after, from)) = retry else { return false };
        let skipped = text.get(from..).unwrap_or_default();
        if skipped.is_empty() {
            return false;
        }
        let from = from + char_len(skipped);
        retry = Some((after, from));
        node = after;
        at = from;
    }
}

/// Where a group that starts at a place may end after one of its choices: (address of the choices, place) to places.
/// Without it nested groups would be matched again and again, each level doubling the work.
type Memo = Map<(usize, usize), Rc<Vec<usize>>>;

/// Matching with groups.
struct Matcher<'a> {
    text: &'a [u8],
    fold: bool,
    /// The text starts with a dot that only a dot matches.
    hidden: bool,
    memo: Memo,
}

impl Matcher<'_> {
    fn rest(&self, at: usize) -> &[u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// All places where the text may stand after `nodes`, from any of `starts`; both in order.
    fn ends(&mut self, nodes: &[Node], starts: Vec<usize>) -> Vec<usize> {
        let mut places = starts;
        for node in nodes {
            let Some(first) = places.first().copied() else { return places };
            places = match node {
                // Only nothing at all can be before the dot.
                Node::Star if self.hidden && first == 0 => {
                    let mut places = places.get(1).map(|&next| self.from(next)).unwrap_or_default();
                    places.push(0);
                    places
                }
                Node::Star => self.from(first),
                Node::Group { kind, choices } => self.group_ends(*kind, choices, places),
                element => places
                    .iter()
                    .filter(|at| !self.hidden || **at > 0 || matches!(element, Node::Byte(_)))
                    .filter_map(|&at| step(element, self.rest(at), self.fold).map(|len| at + len))
                    .collect(),
            };
            places.sort_unstable();
            places.dedup();
        }
        places
    }

    /// All boundaries of characters from `at` on.
    fn from(&self, at: usize) -> Vec<usize> {
        let mut places = vec![at];
        let mut at = at;
        while at < self.text.len() {
            at += char_len(self.rest(at)).max(1);
            places.push(at);
        }
        places
    }

    /// Places after one of the choices, from one place.
    fn once(&mut self, choices: &[Vec<Node>], start: usize) -> Rc<Vec<usize>> {
        let key = (choices.as_ptr() as usize, start);
        if let Some(known) = self.memo.get(&key) {
            return Rc::clone(known);
        }
        let mut places = Vec::new();
        for choice in choices {
            places.extend(self.ends(choice, vec![start]));
        }
        let places = Rc::new(places);
        self.memo.insert(key, Rc::clone(&places));
        places
    }

    fn group_ends(&mut self, kind: u8, choices: &[Vec<Node>], starts: Vec<usize>) -> Vec<usize> {
        let mut places = Vec::new();
        match kind {
            b'!' => {
                for start in starts {
                    let matched = self.once(choices, start);
                    let hidden = self.hidden && start == 0;
                    let others = self.from(start).into_iter().filter(|place| !hidden || *place == 0);
                    places.extend(others.filter(|place| !matched.contains(place)));
                }
            }
            b'@' | b'?' => {
                for &start in &starts {
                    places.extend_from_slice(&self.once(choices, start));
                }
                if kind == b'?' {
                    places.extend(starts);
                }
            }
            _ => {
                // Each place is gone on from once.
                let mut reached = vec![false; self.text.len() + 1];
                let mut waiting = starts.clone();
                while let Some(start) = waiting.pop() {
                    for &place in self.once(choices, start).iter() {
                        if let Some(seen) = reached.get_mut(place).filter(|seen| !**seen) {
                            *seen = true;
                            waiting.push(place);
                        }
                    }
                }
                places.extend(reached.iter().enumerate().filter(|(_, seen)| **seen).map(|(place, _)| place));
                if kind == b'*' {
                    places.extend(starts);
                }
            }
        }
        places
    }
}
