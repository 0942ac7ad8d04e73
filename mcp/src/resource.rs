//! Files of the sandbox as resources: URIs, the list, and the content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use tidebox_core::{Error, FileErrorCode, GlobRequest, SandboxPath, mime};

use crate::text::lossy;
use crate::workspace::OpenWorkspace;

/// Template of the URIs of files. The path is absolute, without its first slash.
pub(crate) const TEMPLATE: &str = "file:///{+path}";

/// Number of resources in one page of the list.
pub(crate) const PAGE_RESOURCES: usize = 100;

/// Maximum number of listed files. Beyond it a client uses the tools to find files.
pub(crate) const MAX_RESOURCES: usize = 1000;

/// Maximum bytes of a file that is sent to the client, as a resource or by `download`. In base64 it is a third more, and a client
/// keeps it in memory several times.
pub(crate) const MAX_CONTENT_BYTES: usize = 16 << 20;

/// Bytes that a path in a URI contains unencoded: the unreserved ones of RFC 3986, and the slash.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the URI of a file.
pub(crate) fn file_uri(path: &[u8]) -> String {
    format!("file://{}", percent_encode(path, ENCODED))
}

/// Parses the URI of a file. The error is one line.
pub(crate) fn parse_uri(uri: &str) -> Result<SandboxPath, String> {
    let invalid =
        |reason: &str| format!("cannot read resource {uri:?}: {reason}; use a URI such as file:///workspace/notes.txt");
    let rest = uri.strip_prefix("file://").ok_or_else(|| invalid("its scheme is not file"))?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    SandboxPath::parse(bytes).map_err(|error| invalid(&error.message))
}

/// Describes how URIs of files are built.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(TEMPLATE, "file")
        .with_title("File of the sandbox")
        .with_description("Any file of the sandbox by its absolute path, for example file:///workspace/notes.txt")
}

/// Describes a file, for lists and for links in results.
pub(crate) fn describe(path: &[u8], size: Option<u64>) -> Resource {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let resource = Resource::new(file_uri(path), lossy(name)).with_mime_type(guess_type(path));
    match size {
        Some(size) => resource.with_size(size),
        None => resource,
    }
}

/// Guesses the type by the name alone.
fn guess_type(path: &[u8]) -> &'static str {
    match mime::guess_binary(path, b"") {
        mime::BYTES => mime::guess_text(path),
        binary => binary,
    }
}

/// Lists the files below the working directory, in the order of a walk. The cursor is the number of files before the page.
///
/// # Errors
/// For an invalid cursor, and if the sandbox fails.
pub(crate) async fn list(open: &OpenWorkspace, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let skip = match cursor {
        None => 0,
        Some(cursor) => cursor.parse::<usize>().ok().filter(|skip| *skip <= MAX_RESOURCES).ok_or_else(|| {
            ErrorData::invalid_params(format!("invalid cursor {cursor:?}: it was not returned by this server"), None)
        })?,
    };
    let found = open.backend().glob(GlobRequest::new("**", open.cwd().clone())).await.map_err(internal)?;
    // A deleted working directory has no files.
    let files = found.map(|found| found.files).unwrap_or_default();
    let end = skip.saturating_add(PAGE_RESOURCES).min(MAX_RESOURCES);
    let page = files.iter().take(end).skip(skip).map(|file| describe(&file.path, file.size)).collect();
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = (end < files.len().min(MAX_RESOURCES)).then(|| end.to_string());
    Ok(result)
}

/// Reads a file: text if it is UTF-8, otherwise a blob.
///
/// # Errors
/// For a URI that is not a file's, a file that cannot be read or is larger than [`MAX_CONTENT_BYTES`], and if the sandbox fails.
pub(crate) async fn read(open: &OpenWorkspace, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let path = parse_uri(uri).map_err(|message| ErrorData::resource_not_found(message, None))?;
    let bytes = download(open, &path).await.map_err(|error| match error {
        DownloadError::File(FileErrorCode::FileNotFound, message) => ErrorData::resource_not_found(message, None),
        DownloadError::File(_, message) => ErrorData::invalid_params(message, None),
        DownloadError::Backend(error) => internal(error),
    })?;
    Ok(ReadResourceResult::new(vec![contents(&path, bytes, uri)]))
}

/// Converts the content of a file: text if it is UTF-8 without NUL bytes, otherwise a blob.
pub(crate) fn contents(path: &SandboxPath, bytes: Vec<u8>, uri: &str) -> ResourceContents {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            ResourceContents::text(text, uri).with_mime_type(mime::guess_text(path.as_bytes()))
        }
        Ok(text) => blob(path, text.as_bytes(), uri),
        Err(error) => blob(path, error.as_bytes(), uri),
    }
}

/// Converts the content of a file to a blob.
pub(crate) fn blob(path: &SandboxPath, bytes: &[u8], uri: &str) -> ResourceContents {
    ResourceContents::blob(BASE64.encode(bytes), uri).with_mime_type(mime::guess_binary(path.as_bytes(), bytes))
}

/// A file that cannot be sent to the client.
pub(crate) enum DownloadError {
    /// The file is missing, not readable or too large.
    File(FileErrorCode, String),
    /// The backend failed.
    Backend(Error),
}

/// Reads a whole file of at most [`MAX_CONTENT_BYTES`].
pub(crate) async fn download(open: &OpenWorkspace, path: &SandboxPath) -> Result<Vec<u8>, DownloadError> {
    let files = open.backend().download_files(vec![path.as_bytes().to_vec()]).await.map_err(DownloadError::Backend)?;
    let bytes = match files.into_iter().next().map(|file| file.result) {
        Some(Ok(bytes)) => bytes,
        Some(Err(error)) => return Err(DownloadError::File(error.code, error.message)),
        None => Vec::new(),
    };
    if bytes.len() > MAX_CONTENT_BYTES {
        let message = format!(
            "cannot send '{path}': it has {} bytes and may have {MAX_CONTENT_BYTES}; send parts of it, or compress it",
            bytes.len()
        );
        return Err(DownloadError::File(FileErrorCode::TooLarge, message));
    }
    Ok(bytes)
}

/// Converts a failure of the sandbox.
pub(crate) fn internal(error: Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_the_same_path_again() {
        for path in ["/", "/workspace/a b.txt", "/x/%20", "/ünï", "/a?b#c", "/\u{7f}\n"] {
            let uri = file_uri(path.as_bytes());
            assert_eq!(parse_uri(&uri).unwrap().as_bytes(), path.as_bytes(), "{uri}");
        }
        assert_eq!(file_uri(b"/a b/\xff"), "file:///a%20b/%FF");
        assert_eq!(parse_uri("file:///a%2Fb").unwrap().as_bytes(), b"/a/b");
        assert_eq!(parse_uri("file://localhost/a").unwrap().as_bytes(), b"/a");
    }

    #[test]
    fn uris_of_other_schemes_and_hosts_are_rejected() {
        for uri in ["http://host/a", "/workspace/a", "file:", "file://host/a", "file:///a%00b", ""] {
            assert!(parse_uri(uri).unwrap_err().contains("cannot read resource"), "{uri:?}");
        }
    }

    #[test]
    fn content_is_text_or_a_blob() {
        let path = SandboxPath::parse("/workspace/data.csv").unwrap();
        assert!(matches!(contents(&path, b"a,b\n".to_vec(), "u"), ResourceContents::TextResourceContents { .. }));
        for bytes in [b"\xff".to_vec(), b"a\0b".to_vec()] {
            assert!(matches!(contents(&path, bytes, "u"), ResourceContents::BlobResourceContents { .. }));
        }
    }
}
