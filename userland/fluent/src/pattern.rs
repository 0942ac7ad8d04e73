//! Parts of a message's source text.

/// Part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Text within one line, without its line end.
    Text(&'a str),
    /// A line end, and the indentation of the next line.
    Line { indent: usize },
    /// The expression between braces.
    Placeable(&'a str),
}

/// Splits a pattern into parts. Spaces before the first part and all blanks after the last are dropped.
pub(crate) fn pieces(source: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = source.trim_start_matches(' ');
    while let Some(first) = rest.chars().next() {
        match first {
            '{' => {
                let end = placeable_end(rest);
                pieces.push(Piece::Placeable(rest.get(1..end).unwrap_or("")));
                rest = rest.get(end + 1..).unwrap_or("");
            }
            '\n' | '\r' => {
                let line = rest.strip_prefix("\r\n").or_else(|| rest.get(1..)).unwrap_or("");
                rest = line.trim_start_matches(' ');
                pieces.push(Piece::Line { indent: line.len() - rest.len() });
            }
            _ => {
                let end = rest.find(['{', '\n', '\r']).unwrap_or(rest.len());
                let (text, tail) = rest.split_at(end);
                pieces.push(Piece::Text(text));
                rest = tail;
            }
        }
    }
    trim_end(&mut pieces);
    pieces
}

fn trim_end(pieces: &mut Vec<Piece<'_>>) {
    while let Some(last) = pieces.last_mut() {
        match last {
            Piece::Text(text) if text.trim_end().is_empty() => {
                pieces.pop();
            }
            Piece::Text(text) => {
                *text = text.trim_end();
                return;
            }
            Piece::Line { .. } => {
                pieces.pop();
            }
            Piece::Placeable(_) => return,
        }
    }
}

/// Finds the closing brace of the one at the start of `source`. Ignores braces within quotes.
pub(crate) fn placeable_end(source: &str) -> usize {
    let mut depth = 0usize;
    let mut quoted = false;
    let mut escaped = false;
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' if depth > 0 => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    source.len()
}

/// Returns the common indentation of all lines after the first. Blank lines are ignored.
pub(crate) fn shared_indent(pieces: &[Piece<'_>]) -> usize {
    let followers = pieces.iter().skip(1).map(Some).chain([None]);
    pieces
        .iter()
        .zip(followers)
        .filter_map(|(piece, follower)| match (piece, follower) {
            (Piece::Line { indent }, Some(Piece::Text(_) | Piece::Placeable(_))) => Some(*indent),
            _ => None,
        })
        .min()
        .unwrap_or(0)
}
