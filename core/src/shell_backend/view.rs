//! Reading a file.

use std::time::SystemTime;

use super::reply::{Reply, ask};
use super::script::Script;
use super::walk::time;
use super::{SCRIPT_TIME, ShellHost};
use crate::backend::FileResult;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind, FileError, FileErrorCode, Result};
use crate::file::{ReadRequest, ReadResponse};
use crate::mime;
use crate::page::PageReader;
use crate::path::SandboxPath;

/// Files up to this size come along with the first look at them, which saves the second round trip.
const SMALL_BYTES: u64 = 48 * 1024;

/// Refuses what is no readable regular file, then tells size and time of change, and the content when it is small.
const LOOK: &str = r#"
[ -e "$p" ] || lost "$p"
[ ! -d "$p" ] || refuse is_directory
[ -f "$p" ] || refuse not_a_regular_file
[ -r "$p" ] || refuse permission_denied
m=$(stat -L -c '%s %Y' -- "$p") || m="$(wc -c < "$p" | tr -d ' ') "
say ok "${m% *}" "${m#* }"
[ "${m% *}" -gt "$small" ] || cat -- "$p"
"#;

/// What a look at a file tells.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    /// All of it, when it is small and did not change meanwhile.
    pub(super) content: Option<Vec<u8>>,
}

pub(super) async fn look<H: ShellHost + ?Sized>(
    host: &H,
    operation: &'static str,
    path: &SandboxPath,
) -> Result<Result<Look, FileErrorCode>> {
    let script = Script::new().set("p", path.as_bytes()).set("small", SMALL_BYTES.to_string().as_bytes()).lines(LOOK);
    Ok(match ask(host, operation, script, SCRIPT_TIME).await? {
        Ok(reply) => Ok(seen(operation, reply)?),
        Err(code) => Err(code),
    })
}

fn seen(operation: &'static str, mut reply: Reply) -> Result<Look> {
    let (Some(size), Some(modified)) = (reply.number::<u64>(), reply.field().map(time)) else {
        let message = "the sandbox's shell told no size of a file; look at its image";
        return Err(Error::new(ErrorKind::Protocol, operation, message));
    };
    let small = size <= SMALL_BYTES && !reply.cut;
    let content = small.then(|| reply.rest()).filter(|content| content.len() as u64 == size);
    Ok(Look { size, modified, content })
}

/// [`crate::SandboxBackend::read`]: one script, and for files beyond 48 KiB the whole file, of which the page is kept.
///
/// # Errors
/// Those of the host.
pub async fn read<H: ShellHost + ?Sized>(host: &H, request: &ReadRequest) -> Result<FileResult<ReadResponse>> {
    let (dialect, path) = (host.dialect(), &request.path);
    let refused = |error: FileError| dialect.read_refusal(path.as_bytes(), error);
    let look = match look(host, "read", path).await? {
        Ok(look) => look,
        Err(code) => return Ok(Err(refused(FileError::refused(code, path.as_bytes())))),
    };
    let mut reading = Reading::new(request, dialect, look.size);
    match &look.content {
        Some(content) => {
            reading.push(content);
        }
        None => {
            let fetched = host.fetch(path, &mut |piece| reading.push(piece)).await?;
            if let Err(error) = fetched {
                return Ok(Err(refused(error)));
            }
        }
    }
    Ok(reading.finish(request, dialect, look.modified).map_err(refused))
}

/// A file on its way: a page of it while it can be text, its bytes while it can be shown as bytes.
struct Reading {
    page: Option<PageReader>,
    bytes: Vec<u8>,
    most: usize,
    too_large: bool,
}

impl Reading {
    fn new(request: &ReadRequest, dialect: Dialect, size: u64) -> Self {
        let limit = request.limit.unwrap_or(dialect.read_limit());
        let by_name = size > 0 && mime::has_binary_extension(request.path.as_bytes());
        let most = usize::try_from(dialect.binary_bytes()).unwrap_or(usize::MAX);
        let page = (!by_name).then(|| PageReader::new(request.offset, limit));
        Self { page, bytes: Vec::new(), most, too_large: false }
    }

    /// Takes a piece; false when nothing that follows can change the answer.
    fn push(&mut self, piece: &[u8]) -> bool {
        if let Some(page) = &mut self.page {
            page.push(piece);
            if !page.is_text() {
                self.page = None;
            }
        }
        if self.bytes.len().saturating_add(piece.len()) > self.most {
            self.too_large = true;
            self.bytes = Vec::new();
        } else if !self.too_large {
            self.bytes.extend_from_slice(piece);
        }
        self.page.is_some() || !self.too_large
    }

    fn finish(self, request: &ReadRequest, dialect: Dialect, modified: Option<SystemTime>) -> FileResult<ReadResponse> {
        let page = match self.page {
            Some(page) => page.finish()?,
            None => None,
        };
        match page {
            Some(page) => Ok(ReadResponse::of_page(page, request, dialect, modified)),
            None if self.too_large => Err(ReadResponse::too_large(request, dialect)),
            None => Ok(ReadResponse::of_bytes(self.bytes, request, modified)),
        }
    }
}
