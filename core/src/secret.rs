//! A value that is used and never shown.

use std::fmt;

use zeroize::Zeroizing;

/// A credential. It prints as asterisks, has no `Display`, and its memory is overwritten when the last copy goes.
///
/// What it is asked for it gives only by [`expose`](Self::expose), so that every place which sees the bytes can be found
/// by that word. It is not `PartialEq`: comparing secrets byte by byte tells how much of a guess was right.
#[derive(Clone)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes the bytes, which are usually text: a token, or a whole header value such as `Bearer abc`.
    pub fn new(value: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(value.into()))
    }

    /// The bytes themselves.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not even the length, which tells what kind of key it is.
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_is_never_printed_and_does_not_tell_its_length() {
        let (short, long) = (Secret::new("a"), Secret::new("Bearer planted-token"));
        assert_eq!(format!("{short:?}"), format!("{long:#?}"));
        assert_eq!(long.expose(), b"Bearer planted-token");
    }
}
