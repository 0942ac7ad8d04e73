//! What a guest's own program may be made of, so that every engine compiles it in bounded time and all refuse the same.

use std::fmt;

/// Functions of one program. The largest in use (compilers, browsers' engines) have some 100,000.
pub const MOST_FUNCTIONS: u32 = 200_000;

/// Bytes of one function. The time that a compiler takes for a function grows faster than its length; the interpreter's loop of
/// CPython has some 100 KiB.
pub const FUNCTION_BYTES: usize = 1 << 20;

/// That a program is larger than its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// It has so many functions.
    Functions(u32),
    /// One of its functions has so many bytes.
    Function(usize),
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Functions(count) => write!(f, "the module has {count} functions, more than {MOST_FUNCTIONS}"),
            Self::Function(bytes) => {
                let (has, most) = (bytes >> 10, FUNCTION_BYTES >> 10);
                let reason = format!("one of its functions has {has} KiB, more than {most} KiB");
                write!(f, "the module cannot be compiled in bounded time: {reason}")
            }
        }
    }
}

impl std::error::Error for TooLarge {}

/// Takes a program of so many functions of its own.
///
/// # Errors
/// [`TooLarge`] beyond [`MOST_FUNCTIONS`].
pub fn functions(count: u32) -> Result<(), TooLarge> {
    if count > MOST_FUNCTIONS { Err(TooLarge::Functions(count)) } else { Ok(()) }
}

/// Takes a function of so many bytes.
///
/// # Errors
/// [`TooLarge`] beyond [`FUNCTION_BYTES`].
pub fn function(bytes: usize) -> Result<(), TooLarge> {
    if bytes > FUNCTION_BYTES { Err(TooLarge::Function(bytes)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_themselves_are_taken_and_one_more_is_refused() {
        assert_eq!(functions(MOST_FUNCTIONS), Ok(()));
        let refused = functions(MOST_FUNCTIONS + 1).unwrap_err();
        assert_eq!(refused.to_string(), "the module has 200001 functions, more than 200000");
        assert_eq!(function(FUNCTION_BYTES), Ok(()));
        let refused = function(FUNCTION_BYTES + 1).unwrap_err().to_string();
        assert!(refused.ends_with("one of its functions has 1024 KiB, more than 1024 KiB"), "{refused}");
    }
}
