//! Replacement of a match.

use tidebox_gnu::regex::Groups;

/// A parsed replacement.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) parts: Vec<Part>,
}

/// A part of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(Vec<u8>),
    /// The text of a group; 0 is the match.
    Group(usize),
    Case(Case),
}

/// Case conversion of the following text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// `\U`
    Upper,
    /// `\L`
    Lower,
    /// `\u`
    UpperNext,
    /// `\l`
    LowerNext,
    /// `\E`
    End,
}

impl Replacement {
    /// The largest referenced group.
    pub(crate) fn most_group(&self) -> usize {
        let groups = self.parts.iter().map(|part| match part {
            Part::Group(number) => *number,
            _ => 0,
        });
        groups.max().unwrap_or(0)
    }

    /// Appends the replacement of a match.
    pub(crate) fn write(&self, text: &[u8], groups: &Groups, out: &mut Vec<u8>) {
        let (mut lasting, mut next) = (Case::End, Case::End);
        for part in &self.parts {
            let piece = match part {
                Part::Text(text) => text.as_slice(),
                Part::Group(number) => {
                    let range = groups.get(*number).cloned().flatten();
                    range.and_then(|range| text.get(range)).unwrap_or_default()
                }
                Part::Case(case @ (Case::UpperNext | Case::LowerNext)) => {
                    next = *case;
                    continue;
                }
                Part::Case(case) => {
                    (lasting, next) = (*case, Case::End);
                    continue;
                }
            };
            if piece.is_empty() {
                continue;
            }
            if lasting == Case::End && next == Case::End {
                out.extend_from_slice(piece);
                continue;
            }
            write_in_case(piece, lasting, next, out);
            next = Case::End;
        }
    }
}

fn write_in_case(piece: &[u8], lasting: Case, mut next: Case, out: &mut Vec<u8>) {
    let mut letters = [0; 4];
    for chunk in piece.utf8_chunks() {
        for char in chunk.valid().chars() {
            let case = if next == Case::End { lasting } else { next };
            next = Case::End;
            match case {
                Case::Upper | Case::UpperNext => {
                    char.to_uppercase()
                        .for_each(|char| out.extend_from_slice(char.encode_utf8(&mut letters).as_bytes()));
                }
                Case::Lower | Case::LowerNext => {
                    char.to_lowercase()
                        .for_each(|char| out.extend_from_slice(char.encode_utf8(&mut letters).as_bytes()));
                }
                Case::End => out.extend_from_slice(char.encode_utf8(&mut letters).as_bytes()),
            }
        }
        out.extend_from_slice(chunk.invalid());
    }
}
