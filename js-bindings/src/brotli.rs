//! Decompresses programs of the package if the platform has no Brotli API for scripts: browsers.

use std::io::Read;

use brotli_decompressor::Decompressor;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

/// Buffer size in bytes.
const BUFFER: usize = 64 << 10;

/// Decompresses a Brotli stream to exactly `bytes` bytes.
///
/// # Errors
/// For bytes that are not a Brotli stream, and for another length.
#[wasm_bindgen]
pub fn decompress(packed: &[u8], bytes: usize) -> Result<Vec<u8>, JsError> {
    Ok(decompress_exact(packed, bytes)?)
}

fn decompress_exact(packed: &[u8], bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut all = Vec::with_capacity(bytes);
    // Limits the output to the expected length, whatever the stream contains.
    let limit = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(1);
    Decompressor::new(packed, BUFFER).take(limit).read_to_end(&mut all)?;
    if all.len() == bytes {
        return Ok(all);
    }
    Err(std::io::Error::other(format!("expected {bytes} bytes, found {}", all.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `hello` in an uncompressed meta-block, as before a flush, and the final block that `js/archive.ts` adds.
    const HELLO: [u8; 9] = [0x0f, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 3];

    #[test]
    fn a_stream_of_the_expected_length_is_decompressed() {
        assert_eq!(decompress_exact(&HELLO, 5).expect("it is one"), b"hello");
    }

    #[test]
    fn a_stream_of_another_length_is_rejected() {
        assert!(decompress_exact(&HELLO, 4).is_err());
        assert!(decompress_exact(&HELLO, 6).is_err());
    }

    #[test]
    fn corrupt_streams_never_panic() {
        assert!(decompress_exact(&HELLO[..7], 5).is_err());
        for at in 0..3 {
            for value in 0..=255 {
                let mut damaged = HELLO;
                damaged[at] = value;
                let _ = decompress_exact(&damaged, 5);
            }
        }
    }
}
