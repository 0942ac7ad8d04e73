//! Tools of dos2unix.

mod dos2unix;

pub use dos2unix::dos2unix;
pub use dos2unix::unix2dos;
