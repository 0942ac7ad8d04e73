//! Unpacking programs of the package where the platform has no Brotli for scripts: browsers.

use std::io::Read;

use brotli_decompressor::Decompressor;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

/// Bytes that are read at a time.
const BUFFER: usize = 64 << 10;

/// A Brotli stream of so many bytes.
///
/// # Errors
/// For what is no Brotli stream, and for one of another length.
#[wasm_bindgen]
pub fn unpack(packed: &[u8], bytes: usize) -> Result<Vec<u8>, JsError> {
    Ok(unpacked(packed, bytes)?)
}

fn unpacked(packed: &[u8], bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut all = Vec::with_capacity(bytes);
    // No more than was asked for, whatever the stream says.
    let most = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(1);
    Decompressor::new(packed, BUFFER).take(most).read_to_end(&mut all)?;
    if all.len() == bytes {
        return Ok(all);
    }
    Err(std::io::Error::other(format!("it holds {} bytes, and {bytes} were expected", all.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `hello` in an uncompressed meta-block, as it stands before a flush, and the end that `js/archive.ts` adds.
    const HELLO: [u8; 9] = [0x0f, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 3];

    #[test]
    fn a_stream_of_the_expected_length_is_unpacked() {
        assert_eq!(unpacked(&HELLO, 5).expect("it is one"), b"hello");
    }

    #[test]
    fn a_stream_of_another_length_is_refused() {
        assert!(unpacked(&HELLO, 4).is_err());
        assert!(unpacked(&HELLO, 6).is_err());
    }

    #[test]
    fn damaged_streams_are_refused_and_never_panic() {
        assert!(unpacked(&HELLO[..7], 5).is_err());
        for at in 0..3 {
            for value in 0..=255 {
                let mut damaged = HELLO;
                damaged[at] = value;
                let _ = unpacked(&damaged, 5);
            }
        }
    }
}
