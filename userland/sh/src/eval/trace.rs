//! `set -x`.

use crate::expand::{Mode, ansi_quote, lossy, needs_ansi, single_quote};
use crate::ir::{Arith, Assign, Bytes, Element, Part, Word};
use crate::state::{EvalResult, Shell};

impl Shell {
    /// Writes one traced line to standard error, or to where `BASH_XTRACEFD` points.
    pub(crate) fn trace_raw(&mut self, text: &[u8]) {
        let mut line = self.trace_prefix();
        line.extend_from_slice(text);
        line.push(b'\n');
        let number = self.io.trace_fd.filter(|number| self.io.fd(*number).is_some()).unwrap_or(2);
        // A closed descriptor is ignored.
        let _ = self.io.write(number, &line);
        if number != 2 {
            self.io.flush();
            // The command that is traced did not fail.
            let _ = self.io.take_error();
        }
    }

    /// `PS4`, expanded. Its first character is repeated for each level of nested texts.
    fn trace_prefix(&mut self) -> Bytes {
        let Some(prefix) = self.lookup(b"PS4") else { return Bytes::new() };
        let traced = std::mem::replace(&mut self.options.xtrace, false);
        let (status, substituted) = (self.status, self.expansion.substitution_status);
        let expanded = self.expand_prompt(&prefix);
        self.options.xtrace = traced;
        self.status = status;
        self.expansion.substitution_status = substituted;
        let len = crate::character::char_len(&expanded);
        let first = expanded.get(..len).unwrap_or_default().to_vec();
        [first.repeat(self.flow.trace_depth as usize), expanded].concat()
    }

    /// The words of a command, as they were expanded.
    #[inline(never)]
    pub(crate) fn trace_words(&mut self, words: &[Bytes]) {
        let line = words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(&b' ');
        self.trace_raw(&line);
    }

    /// An assignment whose value was just found.
    pub(crate) fn trace_assign(&mut self, assign: &Assign, value: &[u8]) {
        let mut text = target(assign);
        if !value.is_empty() {
            text.extend(quote(value));
        }
        self.trace_raw(&text);
    }

    /// An assignment of an array, which bash shows as it is written.
    pub(crate) fn trace_array(&mut self, assign: &Assign, elements: &[Element]) {
        let mut text = target(assign);
        text.push(b'(');
        let words: Vec<Bytes> = elements.iter().map(element_text).collect();
        text.extend(words.join(&b' '));
        text.push(b')');
        self.trace_raw(&text);
    }

    /// An array among the arguments of `declare`, whose values are expanded already.
    #[inline(never)]
    pub(crate) fn trace_declared_array(&mut self, assign: &Assign, elements: &[Element]) {
        let words: Vec<Bytes> = elements
            .iter()
            .map(|element| {
                let value = single_quote(&element.value.raw);
                match &element.subscript {
                    Some(subscript) => {
                        let operator: &[u8] = if element.append { b"]+=" } else { b"]=" };
                        [b"[", &single_quote(&subscript.key.raw)[..], operator, &value].concat()
                    }
                    None => value,
                }
            })
            .collect();
        self.trace_raw(&[&target(assign)[..], b"(", &words.join(&b' '), b")"].concat());
    }

    pub(crate) fn trace_for(&mut self, keyword: &str, name: &[u8], words: Option<&[Word]>) {
        let text = for_text(keyword, name, words);
        self.trace_raw(&text);
    }

    /// Traces an expression that is a command, with its expansions. Returns the expanded expression if there were any,
    /// because they must be expanded only once. `written` is the unexpanded text.
    pub(crate) fn traced_arith(&mut self, arith: &Arith, written: &[u8]) -> EvalResult<Option<Arith>> {
        if !self.options.xtrace || written.is_empty() {
            return Ok(None);
        }
        let plain = arith.text.parts.iter().all(|part| matches!(part, Part::Lit(_) | Part::Quoted(_)));
        let expanded = if plain { None } else { Some(self.expand_text(&arith.text)?) };
        let start = arith.text.raw.len() - written.len();
        let shown = expanded.as_deref().map_or(written, |text| text.get(start..).unwrap_or_default());
        self.trace_raw(&[b"(( ", shown, b" ))"].concat());
        Ok(expanded.map(|text| {
            let word = Word { parts: vec![Part::Lit(text.clone())], raw: text.as_slice().into(), braces: false };
            Arith { text: word, ..Arith::default() }
        }))
    }

    /// The pattern of a test, and how it is shown: every character that was quoted has a backslash.
    #[inline(never)]
    pub(crate) fn traced_pattern(&mut self, word: &Word) -> EvalResult<(Bytes, Bytes)> {
        let quoted = |part: &Part| matches!(part, Part::Quoted(_) | Part::Double(_));
        if !word.parts.iter().any(quoted) {
            let pattern = self.expand_pattern(word)?;
            return Ok((pattern.clone(), pattern));
        }
        let (mut pattern, mut shown) = (Bytes::new(), Bytes::new());
        for part in &word.parts {
            // Each is expanded once, because expanding may change something.
            let section = self.expand_as(std::slice::from_ref(part), Mode::Pattern)?;
            if quoted(part) {
                let mut bytes = section.iter().copied();
                let plain: Bytes =
                    std::iter::from_fn(|| bytes.next().map(|b| if b == b'\\' { bytes.next().unwrap_or(b) } else { b }))
                        .collect();
                for char in lossy(&plain).chars() {
                    // A character with a mark has no backslash.
                    shown.extend((!matches!(char, '\u{1}' | '\u{7f}')).then_some(b'\\'));
                    shown.extend(char.to_string().into_bytes());
                }
            } else {
                shown.extend_from_slice(&section);
            }
            pattern.extend(section);
        }
        Ok((pattern, shown))
    }

    /// A test of `[[ ]]` whose operands were just expanded; empty ones are shown as quotes.
    #[inline(never)]
    pub(crate) fn trace_test(&mut self, not: bool, words: &[&[u8]]) {
        let shown = words.iter().map(|word| if word.is_empty() { &b"''"[..] } else { word });
        let text = shown.collect::<Vec<_>>().join(&b' ');
        let start: &[u8] = if not { b"[[ ! " } else { b"[[ " };
        self.trace_raw(&[start, &text, b" ]]"].concat());
    }

    /// Handles a new value of `BASH_XTRACEFD`: a descriptor, or an error.
    pub(crate) fn set_trace_fd(&mut self, value: &[u8]) {
        self.io.trace_fd = None;
        if value.is_empty() {
            return;
        }
        let number = crate::parse::plain_number(value).and_then(|n| u32::try_from(n).ok());
        match number.filter(|number| self.io.fd(*number).is_some()) {
            Some(number) => self.io.trace_fd = Some(number),
            None => {
                self.report_error([b"BASH_XTRACEFD: ", value, b": invalid value for trace file descriptor"].concat())
            }
        }
    }
}

/// `for name in words` as it is written.
pub(crate) fn for_text(keyword: &str, name: &[u8], words: Option<&[Word]>) -> Bytes {
    let mut text = [keyword.as_bytes(), b" ", name, b" in"].concat();
    match words {
        Some(words) => {
            for word in words {
                text.push(b' ');
                text.extend_from_slice(&word.raw);
            }
        }
        None => text.extend_from_slice(b" \"$@\""),
    }
    text
}

/// The part of an assignment before its value.
fn target(assign: &Assign) -> Bytes {
    let mut text = assign.name.to_vec();
    if let Some(subscript) = &assign.subscript {
        text.push(b'[');
        text.extend_from_slice(&subscript.key.raw);
        text.push(b']');
    }
    text.extend_from_slice(if assign.append { b"+=" } else { b"=" });
    text
}

fn element_text(element: &Element) -> Bytes {
    match &element.subscript {
        Some(subscript) => {
            let operator: &[u8] = if element.append { b"]+=" } else { b"]=" };
            [b"[", &subscript.key.raw[..], operator, &element.value.raw].concat()
        }
        None => match element.value.parts.as_slice() {
            [Part::Quoted(text)] if element.value.raw.starts_with(b"$'") => single_quote(text),
            _ => element.value.raw.to_vec(),
        },
    }
}

/// A word as it is traced: bare when nothing in it is special.
pub(crate) fn quote(text: &[u8]) -> Bytes {
    let special = |b: &u8| b" \t\n'\"\\|&;()<>!{}*[]?^$`".contains(b);
    let leading = match text.first() {
        Some(b'~') => true,
        Some(b'#') => true,
        _ => text.windows(2).any(|pair| matches!(pair, [b'=' | b':', b'~'])),
    };
    if text.is_empty() || leading || text.iter().any(special) {
        single_quote(text)
    } else if needs_ansi(text) {
        ansi_quote(text)
    } else {
        text.to_vec()
    }
}
