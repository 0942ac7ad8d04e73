//! Reading a file.

use std::time::SystemTime;

use super::reply::{ScriptReply, run_script};
use super::script::Script;
use super::walk::time;
use super::{SCRIPT_TIMEOUT, ShellTransport};
use crate::backend::FileResult;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind, FileError, FileErrorCode, Result};
use crate::file::{ReadRequest, ReadResponse};
use crate::mime;
use crate::page::PageReader;
use crate::path::SandboxPath;

/// Maximum size of a file that is returned together with the probe, which saves the second round trip.
const SMALL_BYTES: u64 = 48 * 1024;

/// Rejects everything except a readable regular file, then prints size and modification time, and the content if small.
const PROBE_SCRIPT: &str = r#"
[ -e "$p" ] || lost "$p"
[ ! -d "$p" ] || refuse is_directory
[ -f "$p" ] || refuse not_a_regular_file
[ -r "$p" ] || refuse permission_denied
m=$(stat -L -c '%s %Y' -- "$p") || m="$(wc -c < "$p" | tr -d ' ') "
say ok "${m% *}" "${m#* }"
[ "${m% *}" -gt "$small" ] || cat -- "$p"
"#;

/// Result of probing a file.
#[derive(Debug)]
pub(super) struct FileProbe {
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    /// The whole content, if it is small and did not change during the probe.
    pub(super) content: Option<Vec<u8>>,
}

pub(super) async fn probe<H: ShellTransport + ?Sized>(
    host: &H,
    operation: &'static str,
    path: &SandboxPath,
) -> Result<Result<FileProbe, FileErrorCode>> {
    let script =
        Script::new().set("p", path.as_bytes()).set("small", SMALL_BYTES.to_string().as_bytes()).lines(PROBE_SCRIPT);
    Ok(match run_script(host, operation, script, SCRIPT_TIMEOUT).await? {
        Ok(reply) => Ok(parse_probe(operation, reply)?),
        Err(code) => Err(code),
    })
}

fn parse_probe(operation: &'static str, mut reply: ScriptReply) -> Result<FileProbe> {
    let (Some(size), Some(modified)) = (reply.number::<u64>(), reply.field().map(time)) else {
        let message = "cannot read the file size from the output of stat; check that the image has a POSIX stat";
        return Err(Error::new(ErrorKind::Protocol, operation, message));
    };
    let small = size <= SMALL_BYTES && !reply.cut;
    let content = small.then(|| reply.rest()).filter(|content| content.len() as u64 == size);
    Ok(FileProbe { size, modified, content })
}

/// Implements [`crate::SandboxBackend::read`] with one script. A file over 48 KiB is transferred as a whole, and
/// only the page is kept.
///
/// # Errors
/// Those of the transport.
pub async fn read<H: ShellTransport + ?Sized>(host: &H, request: &ReadRequest) -> Result<FileResult<ReadResponse>> {
    let (dialect, path) = (host.dialect(), &request.path);
    let to_error = |error: FileError| dialect.read_error(path.as_bytes(), error);
    let probe_result = match probe(host, "read", path).await? {
        Ok(probe_result) => probe_result,
        Err(code) => return Ok(Err(to_error(FileError::with_code(code, path.as_bytes())))),
    };
    let mut state = ReadState::new(request, dialect, probe_result.size);
    match &probe_result.content {
        Some(content) => {
            state.push(content);
        }
        None => {
            let fetched = host.fetch(path, &mut |chunk| state.push(chunk)).await?;
            if let Err(error) = fetched {
                return Ok(Err(to_error(error)));
            }
        }
    }
    Ok(state.finish(request, dialect, probe_result.modified).map_err(to_error))
}

/// A file in transfer: a page of it while it can be text, its bytes while it can be returned as binary.
struct ReadState {
    page: Option<PageReader>,
    bytes: Vec<u8>,
    max_bytes: usize,
    too_large: bool,
}

impl ReadState {
    fn new(request: &ReadRequest, dialect: Dialect, size: u64) -> Self {
        let limit = request.limit.unwrap_or(dialect.read_limit());
        let by_name = size > 0 && mime::has_binary_extension(request.path.as_bytes());
        let max_bytes = usize::try_from(dialect.binary_bytes()).unwrap_or(usize::MAX);
        let page = (!by_name).then(|| PageReader::new(request.offset, limit));
        Self { page, bytes: Vec::new(), max_bytes, too_large: false }
    }

    /// Adds a chunk; returns false if further chunks cannot change the result.
    fn push(&mut self, chunk: &[u8]) -> bool {
        if let Some(page) = &mut self.page {
            page.push(chunk);
            if !page.is_text() {
                self.page = None;
            }
        }
        if self.bytes.len().saturating_add(chunk.len()) > self.max_bytes {
            self.too_large = true;
            self.bytes = Vec::new();
        } else if !self.too_large {
            self.bytes.extend_from_slice(chunk);
        }
        self.page.is_some() || !self.too_large
    }

    fn finish(self, request: &ReadRequest, dialect: Dialect, modified: Option<SystemTime>) -> FileResult<ReadResponse> {
        let page = match self.page {
            Some(page) => page.finish()?,
            None => None,
        };
        match page {
            Some(page) => Ok(ReadResponse::from_page(page, request, dialect, modified)),
            None if self.too_large => Err(ReadResponse::too_large(request, dialect)),
            None => Ok(ReadResponse::from_bytes(self.bytes, request, modified)),
        }
    }
}
