//! The response to `info/refs`: references and capabilities of a repository.

use crate::fault::{Fault, printable};
use crate::pkt_line::{Packet, split, trim};

/// Version of the protocol that the server selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// 0 or 1, which lists all references.
    Zero,
    /// 2, which lists capabilities.
    Two,
}

/// A checked response.
#[derive(Debug)]
pub(crate) struct Advertisement {
    pub(crate) version: Version,
    /// All packets without those that name the service.
    pub(crate) packets: Vec<u8>,
}

/// A reference.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// An object id, or `@` and the target of a symbolic reference.
    pub(crate) value: String,
    pub(crate) name: String,
}

/// References of protocol 0 or 1.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct References {
    pub(crate) list: Vec<Reference>,
    /// Hash algorithm of the object ids.
    pub(crate) object_format: String,
}

impl Advertisement {
    /// Checks a response of the smart protocol.
    pub(crate) fn parse(body: Vec<u8>, service: &str) -> Result<Self, Fault> {
        let invalid = || Fault::new("the server's list of references is incomplete or invalid");
        let mut rest = body.as_slice();
        let mut start = 0;
        let mut first = split(&mut rest).ok_or_else(invalid)?;
        // Servers may omit it in protocol 2.
        if let Packet::Line(line) = first
            && let Some(named) = line.strip_prefix(b"# service=")
        {
            if trim(named) != service.as_bytes() || split(&mut rest) != Some(Packet::Flush) {
                return Err(invalid());
            }
            start = body.len() - rest.len();
            first = split(&mut rest).ok_or_else(invalid)?;
        }
        let version = match first {
            Packet::Line(line) if trim(line) == b"version 2" => Version::Two,
            _ => Version::Zero,
        };
        let mut packet = first;
        while packet != Packet::Flush {
            if let Packet::Line(line) = packet {
                check_error(line)?;
            }
            packet = split(&mut rest).ok_or_else(invalid)?;
        }
        if !rest.is_empty() {
            return Err(invalid());
        }
        Ok(Self { version, packets: body.get(start..).unwrap_or_default().to_vec() })
    }

    /// Parses the references of protocol 0 or 1.
    pub(crate) fn references(&self) -> Result<References, Fault> {
        let mut references = References { list: Vec::new(), object_format: "sha1".to_owned() };
        let mut symbolic: Vec<(String, String)> = Vec::new();
        let mut rest = self.packets.as_slice();
        let mut is_first = true;
        while let Some(Packet::Line(line)) = split(&mut rest) {
            let line = trim(line);
            // Protocol 1 starts with its version; a shallow repository ends with its boundaries.
            if (is_first && line.starts_with(b"version ")) || line.starts_with(b"shallow ") {
                continue;
            }
            let mut parts = line.splitn(2, |byte| *byte == 0);
            let (reference, capabilities) = (parts.next().unwrap_or_default(), parts.next());
            if let Some(capabilities) = capabilities.filter(|_| is_first) {
                for word in String::from_utf8_lossy(capabilities).split([' ', '\n']) {
                    if let Some((name, target)) = word.strip_prefix("symref=").and_then(|pair| pair.split_once(':')) {
                        symbolic.push((name.to_owned(), target.to_owned()));
                    } else if let Some(format) = word.strip_prefix("object-format=") {
                        references.object_format = format.to_owned();
                    }
                }
            }
            is_first = false;
            let (id, name) = parse_reference(reference)?;
            // An empty repository has only the first, and the second is an object of another repository.
            if name == "capabilities^{}" || name == ".have" {
                continue;
            }
            let target = symbolic.iter().find(|(from, to)| *from == name && is_name(to));
            let value = target.map_or(id, |(_, to)| format!("@{to}"));
            references.list.push(Reference { value, name });
        }
        if !is_name(&references.object_format) {
            return Err(Fault::new("the server's list of capabilities is invalid"));
        }
        Ok(references)
    }
}

/// A server that fails sends its reason in a packet.
fn check_error(line: &[u8]) -> Result<(), Fault> {
    match line.strip_prefix(b"ERR ") {
        Some(message) => {
            Err(Fault::new(format!("remote error: {}", printable(&String::from_utf8_lossy(trim(message))))))
        }
        None => Ok(()),
    }
}

/// Splits `<object id> <name>`. A name must not contain a byte that would end a line of the response to Git.
fn parse_reference(line: &[u8]) -> Result<(String, String), Fault> {
    let parsed = str::from_utf8(line).ok().and_then(|line| line.split_once(' ')).filter(|(id, name)| {
        matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit()) && is_name(name)
    });
    match parsed {
        Some((id, name)) => Ok((id.to_owned(), name.to_owned())),
        None => {
            let line = printable(&String::from_utf8_lossy(line.get(..200).unwrap_or(line)));
            Err(Fault::new(format!("the server sent an invalid reference: '{line}'")))
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte > b' ' && byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::{Advertisement, Version};
    use crate::pkt_line::line;

    const ID: &str = "1111111111111111111111111111111111111111";

    fn packets(lines: &[String]) -> Vec<u8> {
        let mut bytes: Vec<u8> = lines.iter().flat_map(|text| line(text.as_bytes())).collect();
        bytes.extend_from_slice(b"0000");
        bytes
    }

    fn announced(lines: &[String]) -> Vec<u8> {
        [packets(&["# service=git-upload-pack\n".to_owned()]), packets(lines)].concat()
    }

    fn references(lines: &[String]) -> Option<Vec<(String, String)>> {
        let parsed = Advertisement::parse(announced(lines), "git-upload-pack").ok()?.references().ok()?;
        Some(parsed.list.into_iter().map(|reference| (reference.value, reference.name)).collect())
    }

    #[test]
    fn references_and_symbolic_references_are_listed() {
        let first = format!("{ID} HEAD\0multi_ack symref=HEAD:refs/heads/main object-format=sha1\n");
        let listed = references(&[first, format!("{ID} refs/heads/main\n"), format!("shallow {ID}")]).expect("valid");
        let pair = |value: &str, name: &str| (value.to_owned(), name.to_owned());
        assert_eq!(listed, [pair("@refs/heads/main", "HEAD"), pair(ID, "refs/heads/main")]);
        let zero = "0".repeat(40);
        assert_eq!(references(&[format!("{zero} capabilities^{{}}\0side-band-64k")]), Some(Vec::new()));
        let one = [String::from("version 1\n"), format!("{ID} refs/heads/a\0x"), format!("{ID} .have")];
        assert_eq!(references(&one), Some(vec![pair(ID, "refs/heads/a")]));
    }

    #[test]
    fn references_that_would_forge_an_answer_are_rejected() {
        for line in ["refs/heads/a\nfetch x", "refs/heads/a b", "", "refs/heads/\u{7f}", "a\rb"] {
            assert_eq!(references(&[format!("{ID} {line}")]), None, "{line:?}");
        }
        for line in ["HEAD", "12 refs/heads/a", "zz11111111111111111111111111111111111111 a"] {
            assert_eq!(references(&[line.to_owned()]), None, "{line:?}");
        }
    }

    #[test]
    fn the_service_is_optional_in_protocol_2() {
        let two = packets(&["version 2\n".to_owned(), "agent=x\n".to_owned()]);
        for body in [two.clone(), announced(&["version 2\n".to_owned(), "agent=x\n".to_owned()])] {
            let parsed = Advertisement::parse(body, "git-upload-pack").expect("valid");
            assert_eq!((parsed.version, parsed.packets), (Version::Two, two.clone()));
        }
    }

    #[test]
    fn incomplete_and_foreign_answers_are_rejected() {
        let good = announced(&[format!("{ID} refs/heads/a\0x")]);
        for end in 0..good.len() {
            assert!(Advertisement::parse(good[..end].to_vec(), "git-upload-pack").is_err(), "{end}");
        }
        assert!(Advertisement::parse([&good, &b"0000"[..]].concat(), "git-upload-pack").is_err());
        assert!(Advertisement::parse(good, "git-receive-pack").is_err());
        assert!(Advertisement::parse(b"<html></html>".to_vec(), "git-upload-pack").is_err());
        let failed = Advertisement::parse(announced(&["ERR no\x1b[2Jthing\n".to_owned()]), "git-upload-pack");
        assert!(matches!(failed, Err(crate::Fault::Message(text)) if text == "remote error: no?[2Jthing"));
    }
}
