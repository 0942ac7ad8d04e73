//! Size limits of guest programs, so that every engine compiles them in bounded time and all engines reject the same programs.

use std::fmt;

/// Maximum functions of one program. The largest in use (compilers, browser engines) have some 100,000.
pub const MAX_FUNCTIONS: u32 = 200_000;

/// Maximum bytes of one function. Compile time grows faster than the length of a function; the interpreter loop of CPython has
/// some 100 KiB.
pub const MAX_FUNCTION_BYTES: usize = 1 << 20;

/// A program exceeds its size limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// Number of functions.
    Functions(u32),
    /// Bytes of a function.
    Function(usize),
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Functions(count) => write!(f, "the module has {count} functions, more than {MAX_FUNCTIONS}"),
            Self::Function(bytes) => {
                let (has, limit) = (bytes >> 10, MAX_FUNCTION_BYTES >> 10);
                let reason = format!("one of its functions has {has} KiB, more than {limit} KiB");
                write!(f, "the module cannot be compiled in bounded time: {reason}")
            }
        }
    }
}

impl std::error::Error for TooLarge {}

/// Checks the number of functions that a program defines.
///
/// # Errors
/// [`TooLarge`] beyond [`MAX_FUNCTIONS`].
pub fn check_function_count(count: u32) -> Result<(), TooLarge> {
    if count > MAX_FUNCTIONS { Err(TooLarge::Functions(count)) } else { Ok(()) }
}

/// Checks the size of a function in bytes.
///
/// # Errors
/// [`TooLarge`] beyond [`MAX_FUNCTION_BYTES`].
pub fn check_function_size(bytes: usize) -> Result<(), TooLarge> {
    if bytes > MAX_FUNCTION_BYTES { Err(TooLarge::Function(bytes)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_inclusive() {
        assert_eq!(check_function_count(MAX_FUNCTIONS), Ok(()));
        let error = check_function_count(MAX_FUNCTIONS + 1).unwrap_err();
        assert_eq!(error.to_string(), "the module has 200001 functions, more than 200000");
        assert_eq!(check_function_size(MAX_FUNCTION_BYTES), Ok(()));
        let error = check_function_size(MAX_FUNCTION_BYTES + 1).unwrap_err().to_string();
        assert!(error.ends_with("one of its functions has 1024 KiB, more than 1024 KiB"), "{error}");
    }
}
