//! A script as a tree of statements, which can be shrunk statement by statement.

/// One statement on separate lines.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// A command, with the bodies of its here-documents.
    Line(String),
    /// A compound command: `open`, then bodies with separators, then `close`.
    Block { open: String, bodies: Vec<(String, Vec<Self>)>, close: String },
}

impl Statement {
    pub(crate) fn block(open: impl Into<String>, body: Vec<Self>, close: impl Into<String>) -> Self {
        Self::Block { open: open.into(), bodies: vec![(String::new(), body)], close: close.into() }
    }
}

/// Returns the text of the statements in order.
pub(crate) fn text(statements: &[Statement]) -> String {
    let mut text = String::new();
    print(statements, &mut text);
    text
}

fn print(statements: &[Statement], text: &mut String) {
    for statement in statements {
        match statement {
            Statement::Line(line) => {
                text.push_str(line);
                text.push('\n');
            }
            Statement::Block { open, bodies, close } => {
                text.push_str(open);
                text.push('\n');
                for (before, body) in bodies {
                    if !before.is_empty() {
                        text.push_str(before);
                        text.push('\n');
                    }
                    if body.is_empty() {
                        text.push_str(":\n");
                    }
                    print(body, text);
                }
                text.push_str(close);
                text.push('\n');
            }
        }
    }
}

/// Returns the smallest script found by removing statements, and then parts of lines, for which `holds` is still true.
pub(crate) fn shrink(statements: &[Statement], mut holds: impl FnMut(&str) -> bool) -> String {
    let mut best = statements.to_vec();
    while let Some(smaller) = smaller(&best).into_iter().find(|candidate| holds(&text(candidate))) {
        best = smaller;
    }
    let mut best = text(&best);
    for chunks in [split_lines, split_words, split_characters] {
        best = without_chunks(best, chunks, &mut holds);
    }
    best
}

/// Returns copies of the statements with one removed, or with one block replaced by its content.
fn smaller(statements: &[Statement]) -> Vec<Vec<Statement>> {
    let mut found = Vec::new();
    if statements.len() > 3 {
        let (first, second) = statements.split_at(statements.len() / 2);
        found.extend([first.to_vec(), second.to_vec()]);
    }
    for (at, statement) in statements.iter().enumerate() {
        let with = |replacement: &[Statement]| [&statements[..at], replacement, &statements[at + 1..]].concat();
        found.push(with(&[]));
        let Statement::Block { open, bodies, close } = statement else { continue };
        for (index, (_, body)) in bodies.iter().enumerate() {
            found.push(with(body));
            for inner in smaller(body) {
                let mut bodies = bodies.clone();
                bodies[index].1 = inner;
                let (open, close) = (open.clone(), close.clone());
                found.push(with(&[Statement::Block { open, bodies, close }]));
            }
        }
    }
    found
}

fn split_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn split_words(text: &str) -> Vec<&str> {
    text.split_inclusive([' ', '\n']).collect()
}

fn split_characters(text: &str) -> Vec<&str> {
    text.split_inclusive(|_| true).collect()
}

/// Removes sequences of parts, the long ones first.
fn without_chunks(text: String, split: fn(&str) -> Vec<&str>, holds: &mut impl FnMut(&str) -> bool) -> String {
    let mut best = text;
    let mut run = (split(&best).len() / 2).max(1);
    loop {
        let mut at = 0;
        loop {
            let chunks = split(&best);
            if at >= chunks.len() {
                break;
            }
            let end = (at + run).min(chunks.len());
            let candidate = [chunks[..at].concat(), chunks[end..].concat()].concat();
            if holds(&candidate) {
                best = candidate;
            } else {
                at += run;
            }
        }
        if run == 1 {
            return best;
        }
        run /= 2;
    }
}
