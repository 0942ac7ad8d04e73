//! Destination files of documents.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tidebox_gnu::message::{bytes_path, error_text};

use super::super::log::{now, speed};
use super::{FILE, FetchError, LOGIN, SERVER, Session, drain};
use tidebox_host_http::address::{Address, decode};
use tidebox_host_http::{Head, Transfer};

impl Session<'_> {
    /// Offset to resume an interrupted file.
    pub(super) fn resumes(&self, to: &Address) -> Option<u64> {
        if !self.options.continues {
            return None;
        }
        let path = match &self.options.document {
            Some(name) => bytes_path(name).to_owned(),
            None => self.named(to),
        };
        std::fs::metadata(path).ok().map(|known| known.len()).filter(|length| *length > 0)
    }

    /// The file name for a URL.
    pub(super) fn named(&self, to: &Address) -> PathBuf {
        let mut name = decode(to.file_name());
        if name.is_empty() {
            name = b"index.html".to_vec();
        }
        if let Some(query) = to.query.as_ref().filter(|query| !query.is_empty()) {
            name.extend_from_slice(&[b"?", query.as_bytes()].concat());
        }
        // Encoded characters never become path separators.
        name.iter_mut().filter(|byte| matches!(byte, b'/' | 0)).for_each(|byte| *byte = b'_');
        if name == b".." || name == b"." {
            name = b"index.html".to_vec();
        }
        self.folder().join(bytes_path(&name))
    }

    pub(super) fn folder(&self) -> &Path {
        bytes_path(self.options.folder.as_deref().unwrap_or_default())
    }

    pub(super) fn save(
        &mut self,
        to: &Address,
        transfer: Transfer,
        head: &Head,
        started: u64,
    ) -> Result<(), FetchError> {
        let fail = |code| FetchError { code, again: false };
        let options = self.options;
        if options.is_spider {
            return self.looked(head);
        }
        if options.continues && head.status == 416 {
            drain(transfer);
            self.log.all("\n    The file is already fully retrieved; nothing to do.\n\n");
            return Ok(());
        }
        if head.status >= 400 {
            self.log.always(&self.refusal(to, head));
            let code = if head.status == 401 { LOGIN } else { SERVER };
            if !options.keeps_on_error {
                drain(transfer);
                return Err(fail(code));
            }
        }
        let length: Option<u64> =
            head.header("content-length").and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
        let kind =
            head.header("content-type").map(|kind| String::from_utf8_lossy(kind).into_owned()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let shown = length.map_or_else(|| "unspecified".to_owned(), |length| length.to_string());
        let kind = if kind.is_empty() { String::new() } else { format!(" [{kind}]") };
        self.log.all(&format!("Length: {shown}{kind}\n"));
        let document = self.document.take();
        let is_document = document.is_some();
        let (mut file, name) = match document {
            Some(document) => {
                let name = self.options.document.as_deref().unwrap_or(b"-");
                (document, String::from_utf8_lossy(name).into_owned())
            }
            None => self.open(to, head)?,
        };
        self.log.all(&format!("Saving to: '{name}'\n\n"));
        let copied = self.copy(to, transfer, &mut *file, &name);
        if is_document {
            self.document = Some(file);
        }
        let received = copied?;
        let us = tidebox_rt::monotonic_ns().saturating_sub(started) / 1000;
        let counted = length.map_or_else(|| received.to_string(), |length| format!("{received}/{length}"));
        let verb = if name == "-" { "written to stdout" } else { "saved" };
        let place = if name == "-" { String::new() } else { format!("'{name}' ") };
        let verb = if place.is_empty() { verb.to_owned() } else { format!("{place}{verb}") };
        self.log.all(&format!("{} {} - {verb} [{counted}]\n\n", now(), speed(received, us)));
        self.log.little(&format!("{} URL:{} [{counted}] -> \"{name}\" [1]\n", now(), to.url()));
        if head.status >= 400 { Err(fail(if head.status == 401 { LOGIN } else { SERVER })) } else { Ok(()) }
    }

    /// Writes the body to the file and returns its size in bytes.
    pub(super) fn copy(
        &mut self,
        from: &Address,
        mut transfer: Transfer,
        file: &mut dyn Write,
        name: &str,
    ) -> Result<u64, FetchError> {
        let mut received: u64 = 0;
        loop {
            let (piece, ends) = match transfer.next_chunk() {
                Ok(Some(piece)) => (piece, false),
                Ok(None) => (Vec::new(), true),
                Err(failure) => return Err(self.failed(from, &failure)),
            };
            received += piece.len() as u64;
            let written = file.write_all(&piece).and_then(|()| if ends { file.flush() } else { Ok(()) });
            if let Err(error) = written {
                self.log.always(&format!("Cannot write to '{name}' ({}).\n", error_text(&error)));
                return Err(FetchError { code: FILE, again: false });
            }
            if ends {
                return Ok(received);
            }
        }
    }

    /// Opens the file for a response, under an unused name.
    pub(super) fn open(&mut self, to: &Address, head: &Head) -> Result<(Box<dyn Write>, String), FetchError> {
        let fail = |code| FetchError { code, again: false };
        let resumes = self.options.continues && head.status == 206;
        let chosen = head.header("content-disposition").filter(|_| self.options.heeds_disposition);
        let mut path = match chosen.and_then(crate::curl::disposition_name) {
            Some(name) => self.folder().join(bytes_path(&name)),
            None => self.named(to),
        };
        if !resumes && !self.options.continues {
            path = free(path);
        }
        let made = self.options.folder.as_ref().map_or(Ok(()), |folder| std::fs::create_dir_all(bytes_path(folder)));
        if let Err(error) = made {
            let message = format!("{}: {}\n", self.folder().display(), error_text(&error));
            self.log.always(&message);
            return Err(fail(FILE));
        }
        let mut how = OpenOptions::new();
        how.create(true).write(true).append(resumes).truncate(!resumes);
        match how.open(&path) {
            Ok(file) => Ok((Box::new(io::BufWriter::new(file)), path.display().to_string())),
            Err(error) => {
                self.log.always(&format!("{}: {}\n", path.display(), error_text(&error)));
                Err(fail(FILE))
            }
        }
    }
}

/// The name itself, or with suffix `.1`, `.2` and so on.
pub(super) fn free(path: PathBuf) -> PathBuf {
    if !path.exists() {
        return path;
    }
    let name = path.as_os_str().to_owned();
    (1..100_000)
        .map(|number| {
            let mut numbered = name.clone();
            numbered.push(format!(".{number}"));
            PathBuf::from(numbered)
        })
        .find(|numbered| !numbered.exists())
        .unwrap_or(path)
}
