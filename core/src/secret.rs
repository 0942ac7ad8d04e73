//! A value that is used but never displayed.

use std::fmt;

use zeroize::Zeroizing;

/// A credential. `Debug` prints asterisks, there is no `Display`, and the memory is overwritten when the last copy is dropped.
///
/// The bytes are accessible only by [`expose`](Self::expose), so that all uses can be found by that name. It is not `PartialEq`:
/// comparing secrets byte by byte reveals the length of the matching prefix by its duration.
#[derive(Clone)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Creates a secret from bytes, usually text: a token, or a whole header value such as `Bearer abc`.
    pub fn new(value: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(value.into()))
    }

    /// Returns the bytes.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Hides even the length, which reveals the kind of key.
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_is_never_printed_and_hides_its_length() {
        let (short, long) = (Secret::new("a"), Secret::new("Bearer canary-token"));
        assert_eq!(format!("{short:?}"), format!("{long:#?}"));
        assert_eq!(long.expose(), b"Bearer canary-token");
    }
}
