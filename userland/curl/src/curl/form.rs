//! `-F`: multipart bodies (RFC 7578).

use tidebox_gnu::message::path_bytes;

use crate::body::{Body, Part};

/// One part of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    name: Vec<u8>,
    content: Part,
    file_name: Option<Vec<u8>>,
    kind: Option<Vec<u8>>,
}

/// Parses `name=content`, `name=@file` or `name=<file`, followed by `;type=` and `;filename=`. `special` is false for
/// `--form-string`, where the content is literal.
pub(super) fn parse(value: &[u8], special: bool) -> Result<Field, String> {
    let at = value.iter().position(|byte| *byte == b'=');
    let at = at.ok_or_else(|| "Illegally formatted input field!".to_owned())?;
    let name = value.get(..at).unwrap_or_default().to_vec();
    let rest = value.get(at + 1..).unwrap_or_default();
    if !special {
        return Ok(Field { name, content: Part::Bytes(rest.to_vec()), file_name: None, kind: None });
    }
    let (content, attributes) = attributes(rest)?;
    let attribute = |wanted: &str| attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let (file_name, kind) = (attribute("filename"), attribute("type"));
    Ok(match content {
        [b'@', file @ ..] => Field {
            name,
            content: part(file),
            file_name: file_name.or_else(|| Some(base(file))),
            kind: kind.or_else(|| Some(guess(file).to_vec())),
        },
        [b'<', file @ ..] => Field { name, content: part(file), file_name, kind },
        plain => Field { name, content: Part::Bytes(unquoted(plain)), file_name, kind },
    })
}

type Attributes = Vec<(String, Vec<u8>)>;

/// Splits off `;type=...` and `;filename=...` at the end.
fn attributes(value: &[u8]) -> Result<(&[u8], Attributes), String> {
    let (mut content, mut found) = (value, Vec::new());
    while let Some(at) = content.iter().rposition(|byte| *byte == b';') {
        let attribute = content.get(at + 1..).unwrap_or_default().trim_ascii_start();
        let Some(equals) = attribute.iter().position(|byte| *byte == b'=') else { break };
        let name = String::from_utf8_lossy(attribute.get(..equals).unwrap_or_default()).into_owned();
        match name.as_str() {
            "type" | "filename" => found.push((name, unquoted(attribute.get(equals + 1..).unwrap_or_default()))),
            "headers" | "encoder" => {
                return Err(format!("a part of a form with ;{name}= is not supported in this sandbox"));
            }
            // A type such as `text/plain;charset=utf-8` contains a semicolon.
            _ => {
                let Some(kind) = content.windows(6).rposition(|window| window == b";type=") else { break };
                found.push(("type".to_owned(), content.get(kind + 6..).unwrap_or_default().to_vec()));
                content = content.get(..kind).unwrap_or_default();
                continue;
            }
        }
        content = content.get(..at).unwrap_or_default();
    }
    Ok((content, found))
}

fn unquoted(value: &[u8]) -> Vec<u8> {
    match value {
        [b'"', inner @ .., b'"'] => inner.to_vec(),
        plain => plain.to_vec(),
    }
}

fn part(file: &[u8]) -> Part {
    let file = unquoted(file);
    if file == b"-" { Part::Stdin } else { Part::File(file, 0) }
}

fn base(file: &[u8]) -> Vec<u8> {
    let file = unquoted(file);
    let path = tidebox_gnu::message::bytes_path(&file);
    path.file_name().map_or_else(Vec::new, |name| path_bytes(std::path::Path::new(name)).to_vec())
}

/// The content type for a file name, from curl's short list.
fn guess(file: &[u8]) -> &'static [u8] {
    let file = unquoted(file).to_ascii_lowercase();
    let known: &[(&[u8], &[u8])] = &[
        (b".gif", b"image/gif"),
        (b".jpg", b"image/jpeg"),
        (b".jpeg", b"image/jpeg"),
        (b".png", b"image/png"),
        (b".svg", b"image/svg+xml"),
        (b".txt", b"text/plain"),
        (b".htm", b"text/html"),
        (b".html", b"text/html"),
        (b".pdf", b"application/pdf"),
        (b".xml", b"application/xml"),
    ];
    known.iter().find(|(end, _)| file.ends_with(end)).map_or(b"application/octet-stream", |(_, kind)| kind)
}

/// The whole body with boundaries.
pub(super) fn body(fields: &[Field], boundary: &str) -> Body {
    let mut parts = Vec::new();
    for field in fields {
        let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"").into_bytes();
        head.extend_from_slice(&quoted(&field.name));
        head.push(b'"');
        if let Some(file_name) = &field.file_name {
            head.extend_from_slice(&[b"; filename=\"", quoted(file_name).as_slice(), b"\""].concat());
        }
        if let Some(kind) = &field.kind {
            head.extend_from_slice(&[b"\r\nContent-Type: ", kind.as_slice()].concat());
        }
        head.extend_from_slice(b"\r\n\r\n");
        parts.extend([Part::Bytes(head), field.content.clone(), Part::Bytes(b"\r\n".to_vec())]);
    }
    parts.push(Part::Bytes(format!("--{boundary}--\r\n").into_bytes()));
    Body(parts)
}

fn quoted(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in name {
        match byte {
            b'"' => out.extend_from_slice(b"%22"),
            b'\r' => out.extend_from_slice(b"%0D"),
            b'\n' => out.extend_from_slice(b"%0A"),
            byte => out.push(*byte),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{body, parse};
    use crate::body::Part;

    #[test]
    fn a_form_is_text_and_files_between_boundaries() {
        let fields = ["a=1", "f=@/tmp/x.TXT;filename=\"y\\\".txt\"", "g=@-;type=text/csv;charset=utf-8", "h=<n"]
            .map(|value| parse(value.as_bytes(), true).expect("it can be read"));
        let parts: Vec<String> = body(&fields, "B")
            .0
            .into_iter()
            .map(|part| match part {
                Part::Bytes(bytes) => String::from_utf8(bytes).expect("text"),
                Part::File(name, _) => format!("[{}]", String::from_utf8_lossy(&name)),
                Part::Stdin => "[-]".to_owned(),
            })
            .collect();
        let expected = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
            --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"y\\%22.txt\"\r\nContent-Type: text/plain\r\n\r\n\
            [/tmp/x.TXT]\r\n\
            --B\r\nContent-Disposition: form-data; name=\"g\"; filename=\"-\"\r\n\
            Content-Type: text/csv;charset=utf-8\r\n\r\n[-]\r\n\
            --B\r\nContent-Disposition: form-data; name=\"h\"\r\n\r\n[n]\r\n--B--\r\n";
        assert_eq!(parts.concat(), expected);
    }

    #[test]
    fn a_string_is_taken_as_it_stands() {
        let field = parse(b"a=@b;type=c", false).expect("it can be read");
        assert_eq!(field.content, Part::Bytes(b"@b;type=c".to_vec()));
        assert!(parse(b"nothing", true).is_err());
    }
}
