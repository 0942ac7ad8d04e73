//! `hostname`.

mod hostname;

pub use hostname::main as hostname;
pub use hostname::name;
