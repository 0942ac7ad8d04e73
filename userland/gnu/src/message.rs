//! The words of messages.

use std::io::{self, Write};
use std::path::Path;

/// What the system says about an error, in the words of POSIX and without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

/// Prints `tool: message` on stderr.
pub fn complain(tool: &str, message: &str) {
    // Nobody is left to tell when stderr is closed.
    let _ = writeln!(io::stderr(), "{tool}: {message}");
}

/// The bytes of a path, which need not be UTF-8.
pub fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// A path from bytes.
pub fn bytes_path(bytes: &[u8]) -> &Path {
    #[cfg(unix)]
    use std::os::unix::ffi::OsStrExt;
    #[cfg(target_os = "wasi")]
    use std::os::wasi::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// The arguments of the process after its name, as bytes.
pub fn arguments() -> Vec<Vec<u8>> {
    std::env::args_os().skip(1).map(std::ffi::OsString::into_encoded_bytes).collect()
}

/// The name under which the process was started, without folders.
pub fn program() -> String {
    let name = std::env::args_os().next().unwrap_or_default();
    Path::new(&name).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether the environment asks for Unicode rather than the C locale.
pub fn unicode_locale() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_some_and(|value| {
            let value = value.to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        })
}

/// A name as a message shows it that quotes only where the name could be misread.
pub fn shown(name: &[u8]) -> std::borrow::Cow<'_, str> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./,+@%=:".contains(byte) || !byte.is_ascii();
    let text = String::from_utf8_lossy(name);
    if !name.is_empty() && name.iter().all(plain) {
        return text;
    }
    if text.contains('\'') && !text.contains(['"', '$', '`', '\\']) {
        return format!("\"{text}\"").into();
    }
    format!("'{}'", text.replace('\'', "'\\''")).into()
}

/// Quotes a name for a message, as GNU tools do in the C locale.
pub fn quoted(name: &[u8]) -> String {
    let mut out = String::from("'");
    for char in String::from_utf8_lossy(name).chars() {
        match char {
            '\'' => out.push_str("\\'"),
            '\n' => out.push_str("\\n"),
            char => out.push(char),
        }
    }
    out.push('\'');
    out
}
