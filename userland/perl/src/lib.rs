//! Programs that come with Perl.

mod shasum;

pub use shasum::main as shasum;
