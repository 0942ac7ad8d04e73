//! Program name in messages.

/// The name that the program was started with.
pub(crate) fn program() -> String {
    let name = tidebox_gnu::message::program();
    if name.is_empty() { "awk".to_owned() } else { name }
}
