//! Property test: thousands of generated calls and responses are unchanged after recording and replaying.

use std::time::{Duration, SystemTime};

use futures_executor::block_on;

use super::{Canned, id};
use crate::error::{Error, ErrorKind, FileError, FileErrorCode, Result};
use crate::execute::{Background, ExecuteRequest, ExecuteResponse, OutputChunk, OutputStream, StopReason};
use crate::file::{
    Content, DeleteResponse, EditRequest, EditResponse, FileInfo, FileKind, LineWindow, LsResponse, ReadRequest,
    ReadResponse, WriteRequest, WriteResponse,
};
use crate::layer::{Call, Cassette, Matching, Recorder, Redaction, Replayer, Response};
use crate::path::SandboxPath;
use crate::port::PortEndpoint;
use crate::process::{
    ProcessId, ProcessInfo, ProcessInput, ProcessSignal, ProcessState, SpawnInput, SpawnRequest, TerminalSize,
};
use crate::search::{GlobRequest, GlobResponse, GrepMatch, GrepRequest, GrepResponse, Truncation};
use crate::secret::Secret;
use crate::shell_mode::ShellMode;
use crate::transfer::{Download, Upload, UploadResult};

/// Values of every shape from a seed (SplitMix64).
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.coin().then(|| make(self))
    }

    fn list<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = self.below(4);
        (0..length).map(|_| make(self)).collect()
    }

    fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[usize::try_from(self.below(values.len() as u64)).unwrap()].clone()
    }

    fn text(&mut self) -> String {
        const PARTS: &[&str] =
            &["a", "b c", "\n", "\r\n", "\"", "\\", "\0", "\u{1b}[1m", "é", "🦀", "\u{2028}", "/", "{", "'"];
        let length = self.below(12);
        (0..length).map(|_| self.one_of(PARTS)).collect()
    }

    fn bytes(&mut self) -> Vec<u8> {
        if self.coin() {
            return self.text().into_bytes();
        }
        let length = self.below(120);
        (0..length).map(|_| self.next() as u8).collect()
    }

    fn path(&mut self) -> SandboxPath {
        let mut bytes = self.bytes();
        bytes.retain(|byte| *byte != 0);
        SandboxPath::root().resolve([b"x", &*bytes].concat()).unwrap()
    }

    fn duration(&mut self) -> Duration {
        let seconds = self.one_of(&[0, 1, 59, 4_000_000_000, u64::MAX]);
        Duration::new(seconds, u32::try_from(self.below(1_000_000_000)).unwrap())
    }

    fn moment(&mut self) -> SystemTime {
        let away = Duration::new(self.below(1 << 33), u32::try_from(self.below(1_000_000_000)).unwrap());
        if self.coin() { SystemTime::UNIX_EPOCH + away } else { SystemTime::UNIX_EPOCH - away }
    }

    fn info(&mut self) -> FileInfo {
        let kinds = [FileKind::File, FileKind::Directory, FileKind::Symlink, FileKind::Other];
        FileInfo {
            path: self.bytes(),
            kind: self.one_of(&kinds),
            size: self.some(Self::next),
            modified: self.some(Self::moment),
        }
    }

    fn request(&mut self) -> ExecuteRequest {
        let mut request = ExecuteRequest::new(self.text()).with_stdin(self.bytes());
        request.arguments = self.some(|generator| generator.list(Self::text));
        request.timeout = self.some(Self::duration);
        request.cwd = self.some(Self::path);
        request.shell_mode = self.some(|generator| generator.one_of(&[ShellMode::Fresh, ShellMode::Persistent]));
        request.env = self.list(|generator| (generator.text(), generator.text()));
        request.background = self.one_of(&Background::ALL);
        request
    }

    fn spawn_request(&mut self) -> SpawnRequest {
        let mut request = SpawnRequest::new(self.text());
        request.arguments = self.some(|generator| generator.list(Self::text));
        request.cwd = self.some(Self::path);
        request.env = self.list(|generator| (generator.text(), generator.text()));
        request.input = self.one_of(&[SpawnInput::Closed, SpawnInput::Open]);
        request.terminal = self.some(Self::size);
        request.timeout = self.some(Self::duration);
        request.tag = self.some(Self::text);
        request
    }

    fn size(&mut self) -> TerminalSize {
        TerminalSize::new(self.next() as u16, self.next() as u16)
    }

    fn process_id(&mut self) -> ProcessId {
        ProcessId::new(self.text())
    }

    fn process_info(&mut self) -> ProcessInfo {
        let state = match self.some(|generator| generator.some(|generator| generator.one_of(&StopReason::ALL))) {
            Some(stopped_by) => {
                ProcessState::Ended { exit_code: self.some(|generator| generator.next() as i32), stopped_by }
            }
            None => ProcessState::Running,
        };
        ProcessInfo {
            id: self.process_id(),
            tag: self.some(Self::text),
            command: self.text(),
            started: self.duration(),
            state,
            written_bytes: self.next(),
        }
    }

    /// Reads are not generated: their replay joins all pages of a process.
    fn call(&mut self) -> Call {
        match self.below(18) {
            0 => Call::Execute(self.request()),
            1 => Call::ExecuteStreaming(self.request()),
            2 => Call::Ls(self.path()),
            3 => {
                let (path, offset, limit) = (self.path(), self.below(3), self.some(Self::next));
                Call::Read(ReadRequest { path, offset, limit })
            }
            4 => Call::Write(WriteRequest::new(self.path(), self.bytes())),
            5 => {
                let edit = EditRequest::new(self.path(), self.text(), self.text());
                Call::Edit(if self.coin() { edit.all() } else { edit })
            }
            6 => Call::Delete(self.path()),
            7 => {
                let mut request = GrepRequest::new(self.bytes(), self.path());
                request.glob = self.some(Self::bytes);
                request.max_count = self.some(|generator| usize::try_from(generator.below(100)).unwrap());
                Call::Grep(request)
            }
            8 => Call::Glob(GlobRequest::new(self.bytes(), self.path())),
            9 => Call::UploadFiles(self.list(|generator| Upload::new(generator.bytes(), generator.bytes()))),
            10 => Call::DownloadFiles(self.list(Self::bytes)),
            11 => Call::Spawn(self.spawn_request()),
            12 => Call::Processes,
            13 => {
                let input = self.some(Self::bytes).map_or(ProcessInput::End, ProcessInput::Bytes);
                Call::WriteProcess(self.process_id(), input)
            }
            14 => Call::SignalProcess(self.process_id(), self.one_of(&ProcessSignal::ALL)),
            15 => Call::ResizeProcess(self.process_id(), self.size()),
            16 => Call::PortEndpoint(self.next() as u16),
            _ => Call::Close,
        }
    }

    fn refusal(&mut self) -> FileError {
        let codes = [FileErrorCode::FileNotFound, FileErrorCode::NoSpace, FileErrorCode::StringNotUnique];
        FileError::new(self.one_of(&codes), self.text())
    }

    fn file_result<T>(&mut self, reply: impl FnOnce(&mut Self) -> T) -> std::result::Result<T, FileError> {
        if self.below(4) == 0 { Err(self.refusal()) } else { Ok(reply(self)) }
    }

    fn event(&mut self) -> OutputChunk {
        OutputChunk { stream: self.one_of(&[OutputStream::Stdout, OutputStream::Stderr]), bytes: self.bytes() }
    }

    fn execute_response(&mut self, events: &[OutputChunk]) -> ExecuteResponse {
        let mut response = ExecuteResponse::default();
        events.iter().for_each(|event| response.push_chunk(event));
        // A backend may report less, or stream less than it returns.
        if self.coin() {
            (response.stdout, response.stderr) = (self.bytes(), self.bytes());
        }
        if self.coin() {
            response.output = self.bytes();
        }
        response.exit_code = self.some(|generator| i32::try_from(generator.below(300)).unwrap() - 20);
        response.truncated = self.coin();
        let reasons = StopReason::ALL;
        response.stopped_by = self.some(|generator| generator.one_of(&reasons));
        response.duration = self.duration();
        response.peak_memory_bytes = self.one_of(&[0, 1, u64::MAX]);
        response
    }

    fn page(&mut self) -> ReadResponse {
        let content = if self.coin() { Content::Text(self.text()) } else { Content::Binary(self.bytes()) };
        let window = self.some(|generator| LineWindow { start: generator.next(), end: 2, total: u64::MAX });
        ReadResponse {
            content,
            mime: self.one_of(&["text/plain", "image/x-none"]).into(),
            window,
            no_lines_requested: self.coin(),
            line_truncated: self.coin(),
            modified: self.some(Self::moment),
        }
    }

    fn truncation(&mut self) -> Option<Truncation> {
        self.some(|generator| generator.one_of(&[Truncation::MaxCount, Truncation::Budget, Truncation::Unreadable]))
    }

    fn response(&mut self, call: &Call, events: &[OutputChunk]) -> Result<Response> {
        if self.below(10) == 0 {
            return Err(Error::new(self.one_of(&[ErrorKind::Unavailable, ErrorKind::Closed]), "do", self.text())
                .with_context("fact", self.text())
                .with_source(self.refusal()));
        }
        Ok(match call {
            Call::Execute(_) | Call::ExecuteStreaming(_) => Response::Execute(self.execute_response(events)),
            Call::Ls(_) => {
                Response::Ls(self.file_result(|generator| LsResponse { entries: generator.list(Self::info) }))
            }
            Call::Read(_) => Response::Read(self.file_result(Self::page)),
            Call::Write(_) => Response::Write(
                self.file_result(|generator| WriteResponse { path: generator.path(), created: generator.coin() }),
            ),
            Call::Edit(_) => Response::Edit(self.file_result(|generator| {
                let occurrences = usize::try_from(generator.below(9)).unwrap();
                EditResponse { path: generator.path(), occurrences }
            })),
            Call::Delete(_) => {
                Response::Delete(self.file_result(|generator| DeleteResponse { path: generator.path() }))
            }
            Call::Grep(_) => Response::Grep(self.file_result(|generator| GrepResponse {
                matches: generator.list(|generator| GrepMatch {
                    path: generator.bytes(),
                    line: generator.next(),
                    text: generator.bytes(),
                }),
                truncated: generator.truncation(),
            })),
            Call::Glob(_) => Response::Glob(self.file_result(|generator| {
                let files = generator.list(Self::info);
                GlobResponse { files, truncated: generator.truncation() }
            })),
            Call::UploadFiles(_) => Response::UploadFiles(
                self.list(|generator| UploadResult { path: generator.bytes(), result: generator.file_result(|_| ()) }),
            ),
            Call::DownloadFiles(_) => Response::DownloadFiles(
                self.list(|generator| Download { path: generator.bytes(), result: generator.file_result(Self::bytes) }),
            ),
            Call::Spawn(_) => Response::Spawn(self.process_id()),
            Call::Processes => Response::Processes(self.list(Self::process_info)),
            Call::ReadProcess(..) => unreachable!("reads are not generated"),
            Call::WriteProcess(..) => Response::WriteProcess(usize::try_from(self.below(1 << 20)).unwrap()),
            Call::SignalProcess(..) => Response::SignalProcess(()),
            Call::ResizeProcess(..) => Response::ResizeProcess(()),
            Call::PortEndpoint(_) => {
                let endpoint = PortEndpoint::new(self.text());
                let headers = self.list(Self::text);
                let value = || Secret::new("canary");
                Response::PortEndpoint(
                    headers.into_iter().fold(endpoint, |endpoint, name| endpoint.with_header(name, value())),
                )
            }
            Call::Close => Response::Close,
        })
    }
}

/// Returns the caller's view of a call.
fn observed(
    backend: &dyn crate::SandboxBackend,
    call: Call,
) -> (Vec<OutputChunk>, std::result::Result<Response, String>) {
    let mut events = Vec::new();
    let mut sink = |event| events.push(event);
    let streaming = matches!(call, Call::ExecuteStreaming(_));
    let reply = block_on(call.run(backend, streaming.then_some(&mut sink)));
    let reported = reply.map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        format!("{} {error} {cause:?}", error.kind())
    });
    (events, reported)
}

#[test]
fn generated_interactions_survive_the_text_form() {
    for seed in 0..60 {
        let mut generator = Generator(seed);
        let calls: Vec<Call> = (0..40).map(|_| generator.call()).collect();
        let responses: Vec<_> = calls
            .iter()
            .map(|call| {
                let streamed = matches!(call, Call::ExecuteStreaming(_));
                let events = if streamed { generator.list(Generator::event) } else { Vec::new() };
                let reply = generator.response(call, &events);
                (events, reply)
            })
            .collect();
        let recorder = Recorder::default();
        let live = recorder.backend(Canned::backend(responses));
        let lived: Vec<_> = calls.iter().map(|call| observed(&*live, call.clone())).collect();

        let text = recorder.cassette().to_text().unwrap();
        let cassette = Cassette::parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!(cassette, recorder.cassette(), "seed {seed}");
        assert_eq!(cassette.to_text().unwrap(), text, "seed {seed}");
        let player = Replayer::new(cassette, Matching::InOrder, Redaction::new()).unwrap();
        let replay = player.sandbox(id("sb-canned"));
        for (call, lived) in calls.iter().zip(lived) {
            assert_eq!(observed(&*replay, call.clone()), lived, "seed {seed}: {call:?}");
        }
        player.assert_all_used();
    }
}

#[test]
fn a_damaged_cassette_never_panics() {
    let mut generator = Generator(1);
    let calls: Vec<Call> = (0..12).map(|_| generator.call()).collect();
    let responses: Vec<_> = calls.iter().map(|call| (Vec::new(), generator.response(call, &[]))).collect();
    let recorder = Recorder::default();
    let live = recorder.backend(Canned::backend(responses));
    for call in &calls {
        let _ = observed(&*live, call.clone());
    }
    let text = recorder.cassette().to_text().unwrap();
    let mut rejected = 0;
    for _ in 0..3000 {
        let mut bytes = text.clone().into_bytes();
        let at = usize::try_from(generator.below(bytes.len() as u64)).unwrap();
        match generator.below(3) {
            0 => bytes.truncate(at),
            1 => bytes[at] = generator.next() as u8 & 0x7f,
            _ => drop(bytes.drain(at..(at + 9).min(text.len()))),
        }
        let Ok(damaged) = String::from_utf8(bytes) else { continue };
        match Cassette::parse(&damaged) {
            Err(_) => rejected += 1,
            Ok(cassette) => {
                let player = Replayer::new(cassette, Matching::ByRequest, Redaction::new()).unwrap();
                let replay = player.sandbox(id("sb-canned"));
                for call in &calls {
                    let _ = observed(&*replay, call.clone());
                }
            }
        }
    }
    assert!(rejected > 2000, "only {rejected} were rejected");
}
