//! The text format of recorded cases.
//!
//! ```text
//! === sort: numbers within a field
//! --- file data.txt
//!   b 10
//!   a 9
//! --- script
//!   sort -k2n data.txt
//! --- stdout
//!   a 9
//!   b 10
//! --- stderr
//! --- exit 0
//! ```
//! Content is indented by two spaces, so it may contain any text. Content that is not plain text, or does not end with a
//! newline, is marked `(escaped)` and written as one Rust byte string per line. `--- differs: ID: TEXT` marks a known
//! difference of the sandbox; such a case fails if the sandbox does not differ.

use std::fmt::Write as _;

/// One script with its recorded outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Lines above the case that start with `#`, and blank lines.
    pub(crate) comment: String,
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) script: Vec<u8>,
    pub(crate) expected: Option<Outcome>,
    /// The known difference of the sandbox: `ID: TEXT`.
    pub(crate) differs: Option<String>,
}

/// Output and exit code of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) exit: i32,
}

/// Parses a file of cases. The error names the line.
pub(crate) fn parse(text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    let mut comment = String::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let error = |message: &str| format!("line {}: {message}: {line}", number + 1);
        if line.starts_with('#') || line.is_empty() {
            comment.push_str(line);
            comment.push('\n');
            continue;
        }
        if let Some(name) = line.strip_prefix("=== ") {
            cases.push(Case { name: name.to_owned(), comment: std::mem::take(&mut comment), ..Case::default() });
            continue;
        }
        let case = cases.last_mut().ok_or_else(|| error("expected `=== name` first"))?;
        let heading = line.strip_prefix("--- ").ok_or_else(|| error("expected `=== name` or `--- part`"))?;
        let mut content = Vec::new();
        while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with("  ")) {
            content.push(&line[2..]);
        }
        let (part, escaped) = match heading.strip_suffix(" (escaped)") {
            Some(part) => (part, true),
            None => (heading, false),
        };
        let bytes =
            if escaped { unescape(&content).ok_or_else(|| error("invalid escape below"))? } else { plain(&content) };
        let expected = || Outcome::default();
        match part.split_once(' ').map_or((part, ""), |(word, rest)| (word, rest)) {
            ("file", path) => case.files.push((path.to_owned(), bytes)),
            ("script", "") => case.script = bytes,
            ("stdout", "") => case.expected.get_or_insert_with(expected).stdout = bytes,
            ("stderr", "") => case.expected.get_or_insert_with(expected).stderr = bytes,
            ("exit", code) => {
                let code = code.parse().map_err(|_| error("invalid exit code"))?;
                case.expected.get_or_insert_with(expected).exit = code;
            }
            ("differs:", reason) => case.differs = Some(reason.to_owned()),
            _ => return Err(error("unknown part")),
        }
    }
    Ok(cases)
}

fn plain(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// Formats cases so that [`parse`] reads them back.
pub(crate) fn print(cases: &[Case]) -> String {
    let mut text = String::new();
    for case in cases {
        text.push_str(&case.comment);
        writeln!(text, "=== {}", case.name).expect("writing to a String cannot fail");
        for (path, bytes) in &case.files {
            part(&mut text, &format!("file {path}"), bytes);
        }
        part(&mut text, "script", &case.script);
        if let Some(expected) = &case.expected {
            for (name, bytes) in [("stdout", &expected.stdout), ("stderr", &expected.stderr)] {
                if !bytes.is_empty() {
                    part(&mut text, name, bytes);
                }
            }
            writeln!(text, "--- exit {}", expected.exit).expect("writing to a String cannot fail");
        }
        if let Some(reason) = &case.differs {
            writeln!(text, "--- differs: {reason}").expect("writing to a String cannot fail");
        }
    }
    text
}

fn part(text: &mut String, heading: &str, bytes: &[u8]) {
    text.push_str("--- ");
    text.push_str(heading);
    let as_text = std::str::from_utf8(bytes).ok().filter(|_| bytes.is_empty() || bytes.ends_with(b"\n"));
    match as_text.filter(|text| !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t')) {
        Some(plain) => {
            text.push('\n');
            plain.lines().for_each(|line| writeln!(text, "  {line}").expect("writing to a String cannot fail"));
        }
        None => {
            text.push_str(" (escaped)\n");
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                writeln!(text, "  {}", line.escape_ascii()).expect("writing to a String cannot fail");
            }
        }
    }
}

/// Inverse of `escape_ascii`.
fn unescape(lines: &[&str]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for line in lines {
        let mut rest = line.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'\\' => match rest.next()? {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'x' => {
                        let digits = [rest.next()?, rest.next()?];
                        u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                    }
                    quoted @ (b'\\' | b'\'' | b'"') => quoted,
                    _ => return None,
                },
                byte => byte,
            });
        }
    }
    Some(bytes)
}

/// A test that `main` lists.
pub(crate) fn printed_cases_parse_to_the_same_cases() {
    let case = |name: &str, bytes: &[u8]| Case {
        name: name.to_owned(),
        files: vec![("a b".to_owned(), bytes.to_vec())],
        script: b"echo \"  x\"\n\n=== y\n".to_vec(),
        expected: Some(Outcome { stdout: bytes.to_vec(), stderr: Vec::new(), exit: -1 }),
        ..Case::default()
    };
    let mut cases =
        vec![case("text", b"x\n\n  y\n"), case("no newline", b"x"), case("bytes", b"\0\xff\\'\"\r\n\t\x1b")];
    cases[0].comment = "# comment\n".to_owned();
    cases[1].differs = Some("sort-1: reason".to_owned());
    assert_eq!(parse(&print(&cases)), Ok(cases));
}
