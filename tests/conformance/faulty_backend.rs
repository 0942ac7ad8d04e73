//! The development backend with one injected defect, as observed in real backends.

use std::collections::HashMap;
use std::time::Duration;

use tidebox_core::lock::Mutex;

use tidebox::{
    BoxFuture, Content, DeleteResponse, Download, EditRequest, EditResponse, ExecuteRequest, ExecuteResponse,
    FileError, FileErrorCode, FileFuture, FileResult, GlobRequest, GlobResponse, GrepRequest, GrepResponse, LineWindow,
    LsResponse, OutputChunk, OutputPage, OutputSink, PortEndpoint, ProcessId, ProcessInfo, ProcessInput, ProcessSignal,
    ReadOutput, ReadRequest, ReadResponse, Result, Sandbox, SandboxBackend, SandboxId, SandboxPath, SpawnRequest,
    TerminalSize, Upload, UploadResult, WriteRequest, WriteResponse,
};

/// The injected defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    ExitCodeMadeUp,
    StderrLost,
    StreamsJoined,
    StdinDropped,
    EnvDropped,
    CwdDropped,
    TimeoutLate,
    TimeoutHidden,
    TimeoutCodeUnknown,
    TimeoutOutputLost,
    TruncationHidden,
    OutputLossy,
    StreamsAtTheEnd,
    OneAtATime,
    LinesNumbered,
    WindowLies,
    EmptyFileHasAWindow,
    PastEndIsEmpty,
    BytesAsText,
    BytesTypedAsText,
    PagesOverlap,
    DirectoriesEndInSlash,
    ListUnordered,
    HiddenNotListed,
    LineEndAdded,
    WriteRefused,
    WriteAppends,
    EditTakesTheFirst,
    EditUncounted,
    DeleteOfNothingSucceeds,
    DeleteFlat,
    ColonsLost,
    MissingRootIsEmpty,
    CutHidden,
    LinesFromZero,
    ResultsReversed,
    FailureStopsTheRest,
    RelativeResolved,
    DirectoryNotFound,
    StaleDownload,
    ModesIgnored,
    HarnessRefused,
    HostShown,
    StaysOpen,
}

use Defect::*;

#[derive(Debug)]
pub(crate) struct FaultyBackend {
    inner: Sandbox,
    defect: Defect,
    downloaded: Mutex<HashMap<Vec<u8>, Vec<u8>>>,
    turn: tokio::sync::Mutex<()>,
}

impl FaultyBackend {
    pub(crate) fn new(inner: Sandbox, defect: Defect) -> Self {
        Self { inner, defect, downloaded: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }

    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    /// Waits for the lock if only one operation may run at a time.
    async fn turn(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        if self.is(OneAtATime) { Some(self.turn.lock().await) } else { None }
    }

    fn request(&self, mut request: ExecuteRequest) -> ExecuteRequest {
        match self.defect {
            StdinDropped => request.stdin.clear(),
            EnvDropped => request.env.clear(),
            CwdDropped => request.cwd = None,
            TimeoutLate => request.timeout = request.timeout.map(|timeout| timeout + Duration::from_secs(3)),
            _ => {}
        }
        request
    }

    fn response(&self, mut response: ExecuteResponse) -> ExecuteResponse {
        let stopped = response.stopped_by.is_some();
        match self.defect {
            ExitCodeMadeUp => response.exit_code = Some(0),
            StderrLost => response.output = response.stdout.clone(),
            StreamsJoined => {
                response.stdout = response.output.clone();
                response.stderr.clear();
            }
            TimeoutHidden if stopped => response.stopped_by = None,
            TimeoutCodeUnknown if stopped => response.exit_code = None,
            TimeoutOutputLost if stopped => response.output.clear(),
            TruncationHidden => response.truncated = false,
            OutputLossy => response.output = response.output_text().into_owned().into_bytes(),
            _ => {}
        }
        response
    }

    fn page(&self, request: &ReadRequest, reply: FileResult<ReadResponse>) -> FileResult<ReadResponse> {
        let mut response = match reply {
            Err(error) if self.is(PastEndIsEmpty) && error.code == FileErrorCode::PastEnd => return Ok(nothing()),
            reply => reply?,
        };
        match (self.defect, &mut response.content) {
            (LinesNumbered, Content::Text(text)) => {
                let first = request.offset + 1;
                *text = text.lines().zip(first..).map(|(line, number)| format!("{number:6}\t{line}\n")).collect();
            }
            (WindowLies, _) => {
                response.window = response.window.map(|window| LineWindow { total: window.end, ..window })
            }
            (EmptyFileHasAWindow, Content::Text(text)) if text.is_empty() => {
                response.window = Some(LineWindow { start: 1, end: 1, total: 1 });
            }
            (BytesAsText, Content::Binary(bytes)) => {
                response.content = Content::Text(String::from_utf8_lossy(bytes).into_owned());
            }
            (BytesTypedAsText, Content::Binary(_)) => response.mime = "text/plain".into(),
            _ => {}
        }
        Ok(response)
    }

    fn downloads(&self, mut results: Vec<Download>) -> Vec<Download> {
        let mut seen = self.downloaded.lock();
        for download in &mut results {
            match (self.defect, &download.result) {
                (StaleDownload, Ok(content)) => drop(seen.insert(download.path.clone(), content.clone())),
                (StaleDownload, Err(_)) => {
                    if let Some(old) = seen.get(&download.path) {
                        download.result = Ok(old.clone());
                    }
                }
                (ModesIgnored, Err(error)) if error.code == FileErrorCode::PermissionDenied => {
                    download.result = Ok(b"secret\n".to_vec());
                }
                (DirectoryNotFound, Err(error)) if error.code == FileErrorCode::IsDirectory => {
                    download.result = Err(FileError::not_found(&download.path));
                }
                _ => {}
            }
        }
        if self.is(ResultsReversed) {
            results.reverse();
        }
        results
    }
}

fn nothing() -> ReadResponse {
    ReadResponse {
        content: Content::Text(String::new()),
        mime: "text/plain".into(),
        window: None,
        no_lines_requested: false,
        line_truncated: false,
        modified: None,
    }
}

impl SandboxBackend for FaultyBackend {
    fn id(&self) -> &SandboxId {
        self.inner.id()
    }

    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, Result<ExecuteResponse>> {
        Box::pin(async move {
            let _turn = self.turn().await;
            Ok(self.response(self.inner.execute(self.request(request)).await?))
        })
    }

    fn execute_streaming<'a>(
        &'a self,
        request: ExecuteRequest,
        sink: OutputSink<'a>,
    ) -> BoxFuture<'a, Result<ExecuteResponse>> {
        if !self.is(StreamsAtTheEnd) {
            return self.inner.execute_streaming(request, sink);
        }
        Box::pin(async move {
            let mut kept: Vec<OutputChunk> = Vec::new();
            let mut keep = |event| kept.push(event);
            let response = self.inner.execute_streaming(request, &mut keep).await;
            kept.into_iter().for_each(sink);
            response
        })
    }

    fn spawn(&self, request: SpawnRequest) -> BoxFuture<'_, Result<ProcessId>> {
        self.inner.spawn(request)
    }

    fn processes(&self) -> BoxFuture<'_, Result<Vec<ProcessInfo>>> {
        self.inner.processes()
    }

    fn read_process<'a>(&'a self, id: &'a ProcessId, request: ReadOutput) -> BoxFuture<'a, Result<OutputPage>> {
        self.inner.read_process(id, request)
    }

    fn write_process<'a>(&'a self, id: &'a ProcessId, input: ProcessInput) -> BoxFuture<'a, Result<usize>> {
        self.inner.write_process(id, input)
    }

    fn signal_process<'a>(&'a self, id: &'a ProcessId, signal: ProcessSignal) -> BoxFuture<'a, Result<()>> {
        self.inner.signal_process(id, signal)
    }

    fn resize_process<'a>(&'a self, id: &'a ProcessId, size: TerminalSize) -> BoxFuture<'a, Result<()>> {
        self.inner.resize_process(id, size)
    }

    fn port_endpoint(&self, port: u16) -> BoxFuture<'_, Result<PortEndpoint>> {
        self.inner.port_endpoint(port)
    }

    fn ls<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, LsResponse> {
        Box::pin(async move {
            let mut reply = self.inner.ls(path).await?;
            if let Ok(LsResponse { entries }) = &mut reply {
                match self.defect {
                    DirectoriesEndInSlash => {
                        entries.iter_mut().filter(|entry| entry.is_dir()).for_each(|dir| dir.path.push(b'/'));
                    }
                    ListUnordered => entries.reverse(),
                    HiddenNotListed => entries.retain(|entry| !entry.path.windows(2).any(|pair| pair == b"/.")),
                    _ => {}
                }
            }
            Ok(reply)
        })
    }

    fn read(&self, mut request: ReadRequest) -> FileFuture<'_, ReadResponse> {
        Box::pin(async move {
            let _turn = self.turn().await;
            if self.is(HostShown)
                && let Ok(host) = std::fs::read_to_string(&*request.path.to_text())
            {
                return Ok(Ok(ReadResponse { content: Content::Text(host), ..nothing() }));
            }
            if self.is(PagesOverlap) {
                request.offset = request.offset.saturating_sub(1);
            }
            Ok(self.page(&request, self.inner.read(request.clone()).await?))
        })
    }

    fn write(&self, mut request: WriteRequest) -> FileFuture<'_, WriteResponse> {
        Box::pin(async move {
            let path = request.path.as_bytes().to_vec();
            let exists = || FileError::new(FileErrorCode::AlreadyExists, "File already exists");
            match self.defect {
                LineEndAdded => request.content.push(b'\n'),
                HarnessRefused if path.starts_with(b"/large_tool_results") => {
                    return Ok(Err(FileError::new(FileErrorCode::PermissionDenied, "Permission denied")));
                }
                WriteRefused | WriteAppends => {
                    let old = self.inner.download_files(vec![path]).await?.pop().and_then(|old| old.result.ok());
                    match old {
                        Some(_) if self.is(WriteRefused) => return Ok(Err(exists())),
                        Some(old) => request.content = [old, request.content].concat(),
                        None => {}
                    }
                }
                _ => {}
            }
            self.inner.write(request).await
        })
    }

    fn edit(&self, request: EditRequest) -> FileFuture<'_, EditResponse> {
        Box::pin(async move {
            let reply = self.inner.edit(request.clone()).await?;
            match (self.defect, reply) {
                (EditTakesTheFirst, Err(error)) if error.code == FileErrorCode::StringNotUnique => {
                    self.inner.edit(request.all()).await
                }
                (EditUncounted, Ok(response)) => Ok(Ok(EditResponse { occurrences: 1, ..response })),
                (_, reply) => Ok(reply),
            }
        })
    }

    fn delete<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, DeleteResponse> {
        Box::pin(async move {
            if self.is(DeleteFlat) && self.inner.ls(path).await?.is_ok_and(|listed| !listed.entries.is_empty()) {
                return Ok(Err(FileError::new(FileErrorCode::IsDirectory, "Directory not empty")));
            }
            match self.inner.delete(path).await? {
                Err(_) if self.is(DeleteOfNothingSucceeds) => Ok(Ok(DeleteResponse { path: path.clone() })),
                reply => Ok(reply),
            }
        })
    }

    fn grep(&self, request: GrepRequest) -> FileFuture<'_, GrepResponse> {
        Box::pin(async move {
            let mut reply = self.inner.grep(request).await?;
            match (self.defect, &mut reply) {
                (MissingRootIsEmpty, Err(_)) => reply = Ok(GrepResponse::default()),
                (ColonsLost, Ok(response)) => response.matches.retain(|found| !found.path.contains(&b':')),
                (CutHidden, Ok(response)) => response.truncated = None,
                (LinesFromZero, Ok(response)) => response.matches.iter_mut().for_each(|found| found.line -= 1),
                _ => {}
            }
            Ok(reply)
        })
    }

    fn glob(&self, request: GlobRequest) -> FileFuture<'_, GlobResponse> {
        Box::pin(async move {
            let mut reply = self.inner.glob(request).await?;
            if let (CutHidden, Ok(response)) = (self.defect, &mut reply) {
                response.truncated = None;
            }
            Ok(reply)
        })
    }

    fn upload_files(&self, mut files: Vec<Upload>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        Box::pin(async move {
            let _turn = self.turn().await;
            if self.is(RelativeResolved) {
                for file in files.iter_mut().filter(|file| !file.path.starts_with(b"/") && !file.path.is_empty()) {
                    file.path = [b"/workspace/", &*file.path].concat();
                }
            }
            let mut results = self.inner.upload_files(files).await?;
            if self.is(ResultsReversed) {
                results.reverse();
            }
            let failed = results.iter().position(|result| result.result.is_err());
            if let (FailureStopsTheRest, Some(failed)) = (self.defect, failed) {
                for result in results.split_off(failed + 1) {
                    if let Ok(path) = SandboxPath::parse(&result.path) {
                        // Remove the file that was just uploaded, as if the upload had never arrived.
                        let _ = self.inner.delete(&path).await?;
                    }
                    results.push(UploadResult { result: Err(FileError::not_found(&result.path)), ..result });
                }
            }
            Ok(results)
        })
    }

    fn download_files(&self, paths: Vec<Vec<u8>>) -> BoxFuture<'_, Result<Vec<Download>>> {
        Box::pin(async move { Ok(self.downloads(self.inner.download_files(paths).await?)) })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { if self.is(StaysOpen) { Ok(()) } else { self.inner.close().await } })
    }
}
