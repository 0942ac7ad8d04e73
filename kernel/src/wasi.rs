//! Guest calls: decoding of arguments and encoding of results.

mod arg;
pub mod host_call;
pub mod preview1;
pub mod syscall_table;
#[cfg(test)]
mod tests;
pub mod tidebox;
