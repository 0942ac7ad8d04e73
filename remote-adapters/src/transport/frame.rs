//! Connect and gRPC envelopes: one byte of flags, four bytes of length, a message.

use bytes::{Bytes, BytesMut};

/// One message of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// 1 marks a compressed message; in Connect, 2 marks the last one.
    pub flags: u8,
    /// The message.
    pub message: Bytes,
}

/// Length of the header before a message.
const HEAD_BYTES: usize = 5;

/// Maximum message length. Providers send output in chunks of some KiB.
const MESSAGE_BYTES: usize = 16 << 20;

impl Frame {
    /// Returns a message with its envelope.
    pub fn write(flags: u8, message: &[u8]) -> Vec<u8> {
        let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
        [&[flags], length.to_be_bytes().as_slice(), message].concat()
    }
}

/// Splits chunks of bytes into messages.
#[derive(Debug, Default)]
pub struct FrameReader {
    bytes: BytesMut,
}

impl FrameReader {
    /// Adds a chunk and returns the messages that it completes; `None` if one is longer than 16 MiB.
    pub fn push(&mut self, chunk: &[u8]) -> Option<Vec<Frame>> {
        self.bytes.extend_from_slice(chunk);
        let mut frames = Vec::new();
        while let Some(&[flags, a, b, c, d]) = self.bytes.get(..HEAD_BYTES) {
            let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
            if length > MESSAGE_BYTES {
                return None;
            }
            if self.bytes.len() < HEAD_BYTES + length {
                // Reserve once, so that a long message is not moved as it grows. Reserved pages use no memory until
                // written.
                self.bytes.reserve(HEAD_BYTES + length - self.bytes.len());
                break;
            }
            let frame = self.bytes.split_to(HEAD_BYTES + length).freeze();
            frames.push(Frame { flags, message: frame.slice(HEAD_BYTES..) });
        }
        Some(frames)
    }

    /// Returns whether the stream ended between two messages.
    pub fn is_between(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_do_not_depend_on_chunk_boundaries() {
        let frames = [
            Frame { flags: 0, message: Bytes::from_static(b"{\"a\":1}") },
            Frame { flags: 2, message: Bytes::from_static(b"{}") },
        ];
        let bytes: Vec<u8> = frames.iter().flat_map(|frame| Frame::write(frame.flags, &frame.message)).collect();
        for size in 1..=bytes.len() {
            let mut reader = FrameReader::default();
            let read: Vec<Frame> = bytes.chunks(size).flat_map(|chunk| reader.push(chunk).unwrap()).collect();
            assert_eq!(read, frames, "in chunks of {size}");
            assert!(reader.is_between());
        }
    }

    #[test]
    fn an_oversized_message_is_rejected_early() {
        assert_eq!(FrameReader::default().push(&[0, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
