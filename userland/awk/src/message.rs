//! Under which name messages come.

/// The name under which the program was started.
pub(crate) fn program() -> String {
    let name = tidebox_gnu::message::program();
    if name.is_empty() { "awk".to_owned() } else { name }
}
