//! Packet lines of Git's protocol: four hexadecimal digits for the length, themselves included, and the payload.

use std::io::{self, Read};

/// Ends a message.
pub(crate) const FLUSH: &[u8] = b"0000";

/// Ends a response of a stateless connection. Only this program sends it.
pub(crate) const RESPONSE_END: &[u8] = b"0002";

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packet<'a> {
    Flush,
    /// `0001`, between the sections of a message.
    Delimiter,
    Line(&'a [u8]),
}

/// Length of the packet with this header. 0 and 1 are a flush and a delimiter packet.
fn length(header: [u8; 4]) -> Option<usize> {
    let mut length = 0;
    for byte in header {
        length = length << 4 | char::from(byte).to_digit(16)? as usize;
    }
    // 2 is for the connection between this program and Git, and 3 is not defined.
    (!matches!(length, 2 | 3)).then_some(length)
}

/// Encodes a packet with this payload, which must be shorter than 65,516 bytes.
pub(crate) fn line(payload: &[u8]) -> Vec<u8> {
    [format!("{:04x}", payload.len() + 4).as_bytes(), payload].concat()
}

/// Takes the first packet from `bytes`. `None` if it is incomplete or invalid.
pub(crate) fn split<'a>(bytes: &mut &'a [u8]) -> Option<Packet<'a>> {
    let (header, rest) = bytes.split_first_chunk()?;
    let (packet, rest) = match length(*header)? {
        0 => (Packet::Flush, rest),
        1 => (Packet::Delimiter, rest),
        length => {
            let (payload, rest) = rest.split_at_checked(length - 4)?;
            (Packet::Line(payload), rest)
        }
    };
    *bytes = rest;
    Some(packet)
}

/// A line without the newline at its end.
pub(crate) fn trim(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Reads one message from a stream of packets: its packets, or only their payloads. A stream that ends before the first packet is
/// an empty message.
#[derive(Debug)]
pub(crate) struct Message<R> {
    input: R,
    /// Removes the headers: the packets only carry a message that has separate packets.
    unwrap: bool,
    pending: Vec<u8>,
    position: usize,
    is_started: bool,
    is_ended: bool,
}

impl<R: Read> Message<R> {
    /// A message with its packets, the flush packet included.
    pub(crate) fn packets(input: R) -> Self {
        Self { input, unwrap: false, pending: Vec::new(), position: 0, is_started: false, is_ended: false }
    }

    /// The payloads of the packets of a message.
    pub(crate) fn payloads(input: R) -> Self {
        Self { unwrap: true, ..Self::packets(input) }
    }

    /// Reads the next packet.
    fn fill(&mut self) -> io::Result<()> {
        self.position = 0;
        self.pending.clear();
        let mut header = [0; 4];
        if let Err(error) = self.input.read_exact(&mut header) {
            // Between two messages the peer may end.
            self.is_ended = !self.is_started && error.kind() == io::ErrorKind::UnexpectedEof;
            return if self.is_ended { Ok(()) } else { Err(error) };
        }
        self.is_started = true;
        let length = length(header).ok_or_else(|| io::Error::other("Git sent an invalid packet"))?;
        self.is_ended = length == 0;
        if !self.unwrap {
            self.pending.extend_from_slice(&header);
        }
        let start = self.pending.len();
        self.pending.resize(start + length.saturating_sub(4), 0);
        self.input.read_exact(self.pending.get_mut(start..).unwrap_or_default())
    }
}

impl<R: Read> Read for Message<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.position >= self.pending.len() {
            if self.is_ended {
                return Ok(0);
            }
            self.fill()?;
        }
        let n = self.pending.get(self.position..).unwrap_or_default().read(into)?;
        self.position += n;
        Ok(n)
    }
}

/// Checks that a stream consists of complete packets.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    header: [u8; 4],
    /// Bytes of the header that were read.
    read: usize,
    /// Bytes of the payload that are missing.
    missing: usize,
}

impl Checker {
    /// Checks the next part of the stream. Returns false if it is invalid.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.missing > 0 {
                let n = self.missing.min(bytes.len());
                self.missing -= n;
                bytes = bytes.get(n..).unwrap_or_default();
                continue;
            }
            if let (Some(to), Some((first, rest))) = (self.header.get_mut(self.read), bytes.split_first()) {
                *to = *first;
                bytes = rest;
            }
            self.read += 1;
            if self.read == self.header.len() {
                let Some(length) = length(self.header) else { return false };
                (self.read, self.missing) = (0, length.saturating_sub(4));
            }
        }
        true
    }

    /// Returns whether the stream may end here.
    pub(crate) fn is_complete(&self) -> bool {
        self.read == 0 && self.missing == 0
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{Checker, Message, Packet, line, split};

    fn read(message: Message<&[u8]>) -> Result<Vec<u8>, std::io::ErrorKind> {
        let mut message = message;
        let mut bytes = Vec::new();
        message.read_to_end(&mut bytes).map_err(|error| error.kind()).map(|_| bytes)
    }

    #[test]
    fn packets_are_split_until_one_is_incomplete() {
        let mut bytes: &[u8] = b"0006a\n000000010004000";
        let mut packets = Vec::new();
        while let Some(packet) = split(&mut bytes) {
            packets.push(packet);
        }
        assert_eq!(packets, [Packet::Line(b"a\n"), Packet::Flush, Packet::Delimiter, Packet::Line(b"")]);
        assert_eq!(bytes, b"000");
        for invalid in [&b"0002"[..], b"0003", b"000g", b"+004", b"0009abcd", b"00"] {
            assert_eq!(split(&mut &*invalid), None, "{invalid:?}");
        }
        assert_eq!(line(b"ab\n"), b"0007ab\n");
    }

    #[test]
    fn a_message_ends_with_its_flush_packet() {
        let bytes = b"0006ab0001000400000005x0000";
        assert_eq!(read(Message::packets(&bytes[..])), Ok(b"0006ab000100040000".to_vec()));
        assert_eq!(read(Message::payloads(&bytes[..])), Ok(b"ab".to_vec()));
        let mut rest = &bytes[..];
        let _ = read(Message::payloads(&rest[..18]));
        rest = &rest[18..];
        assert_eq!(read(Message::packets(rest)), Ok(b"0005x0000".to_vec()));
    }

    #[test]
    fn an_interrupted_message_fails_and_an_absent_one_is_empty() {
        assert_eq!(read(Message::packets(&b""[..])), Ok(Vec::new()));
        for bytes in [&b"0005x"[..], b"0006x", b"0005x00"] {
            assert_eq!(read(Message::packets(bytes)), Err(std::io::ErrorKind::UnexpectedEof), "{bytes:?}");
        }
        assert!(read(Message::packets(&b"zzzz"[..])).is_err());
        assert!(read(Message::packets(&b"0002"[..])).is_err());
    }

    #[test]
    fn the_checker_accepts_any_division_of_valid_packets() {
        let bytes = b"0008abcd0000000100040005x";
        for size in 1..bytes.len() {
            let mut checker = Checker::default();
            assert!(bytes.chunks(size).all(|chunk| checker.push(chunk)), "{size}");
            assert!(checker.is_complete());
        }
        let mut checker = Checker::default();
        assert!(checker.push(b"0008abc") && !checker.is_complete());
        assert!(checker.push(b"d00") && !checker.is_complete());
        assert!(!checker.push(b"02"));
    }
}
