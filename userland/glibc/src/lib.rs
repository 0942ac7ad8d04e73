//! Programs of the C library (`libc-bin` in Debian).

mod getconf;
mod getent;
mod iconv;
mod locale;

pub use getconf::main as getconf;
pub use getent::main as getent;
pub use iconv::main as iconv;
pub use locale::main as locale;
