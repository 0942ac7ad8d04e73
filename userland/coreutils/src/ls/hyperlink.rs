//! Links from names to their files, for terminals that know them.

/// Links to files of this machine.
#[derive(Debug)]
pub(crate) struct Hyperlinks {
    host: String,
}

impl Hyperlinks {
    pub(crate) fn new() -> Self {
        Self { host: tidebox_hostname::name() }
    }

    /// A written name as a link to the file; where the file's path cannot be found, the name alone.
    pub(crate) fn around(&self, path: &[u8], written: &[u8]) -> Vec<u8> {
        let Ok(full) = std::fs::canonicalize(tidebox_rt::path_of_bytes(path)).or_else(|_| dangling(path)) else {
            return written.to_vec();
        };
        let full = encoded(&full.into_os_string().into_encoded_bytes());
        [b"\x1b]8;;file://".as_slice(), self.host.as_bytes(), &full, b"\x07", written, b"\x1b]8;;\x07"].concat()
    }
}

/// Where a link leads to that leads nowhere, in the folder in which it lies.
fn dangling(path: &[u8]) -> std::io::Result<std::path::PathBuf> {
    let link = tidebox_rt::path_of_bytes(path);
    let folder = link.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = std::fs::canonicalize(folder.unwrap_or(std::path::Path::new(".")))?;
    Ok(folder.join(std::fs::read_link(link)?))
}

/// A path as it stands in an address: what is neither a letter, a digit nor one of a few signs is written in hexadecimal digits.
fn encoded(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    for byte in path {
        match byte {
            b'/' | b'~' | b'.' | b'_' | b'-' => out.push(*byte),
            byte if byte.is_ascii_alphanumeric() => out.push(*byte),
            byte => out.extend_from_slice(format!("%{byte:02x}").as_bytes()),
        }
    }
    out
}
