//! Streams of Brotli (RFC 7932).

use brotli::enc::StandardAlloc;
use brotli::enc::encode::{BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct};
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};

/// Result of a run: the state of the stream, nothing after an error, with the bytes read and the bytes written.
pub(crate) type Done = (Option<Progress>, usize, usize);

/// The state of a stream after a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It needs more input, or room for output.
    Open,
    /// It ends here.
    Ended,
}

/// A stream that compresses.
pub(crate) struct Packer(Box<BrotliEncoderStateStruct<StandardAlloc>>);

impl Packer {
    /// Creates a stream with parameters, each with its number. Unknown parameters have no effect.
    pub(crate) fn new(parameters: &[(usize, u32)]) -> Self {
        let mut state = Box::new(BrotliEncoderStateStruct::new(StandardAlloc::default()));
        for (number, value) in parameters {
            if let Some(parameter) = parameter(*number) {
                state.set_parameter(parameter, *value);
            }
        }
        Self(state)
    }

    /// Runs the stream: `operation` is 0 to process, 1 to flush, 2 to finish.
    pub(crate) fn run(&mut self, operation: u32, from: &[u8], to: &mut [u8]) -> Done {
        let operation = match operation {
            0 => BrotliEncoderOperation::BROTLI_OPERATION_PROCESS,
            1 => BrotliEncoderOperation::BROTLI_OPERATION_FLUSH,
            2 => BrotliEncoderOperation::BROTLI_OPERATION_FINISH,
            _ => BrotliEncoderOperation::BROTLI_OPERATION_EMIT_METADATA,
        };
        let (mut left, mut room, mut read, mut written) = (from.len(), to.len(), 0, 0);
        let works = self.0.compress_stream(
            operation,
            &mut left,
            from,
            &mut read,
            &mut room,
            to,
            &mut written,
            &mut None,
            &mut |_, _, _, _| (),
        );
        let progress = if self.0.is_finished() { Progress::Ended } else { Progress::Open };
        (works.then_some(progress), read, written)
    }
}

fn parameter(number: usize) -> Option<BrotliEncoderParameter> {
    Some(match number {
        0 => BrotliEncoderParameter::BROTLI_PARAM_MODE,
        1 => BrotliEncoderParameter::BROTLI_PARAM_QUALITY,
        2 => BrotliEncoderParameter::BROTLI_PARAM_LGWIN,
        3 => BrotliEncoderParameter::BROTLI_PARAM_LGBLOCK,
        5 => BrotliEncoderParameter::BROTLI_PARAM_SIZE_HINT,
        6 => BrotliEncoderParameter::BROTLI_PARAM_LARGE_WINDOW,
        _ => return None,
    })
}

/// A stream that decompresses.
pub(crate) struct Unpacker(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>);

impl Unpacker {
    pub(crate) fn new() -> Self {
        let parts = StandardAlloc::default;
        Self(Box::new(BrotliState::new(parts(), parts(), parts())))
    }

    /// Returns the name that the library gives to the last error.
    pub(crate) fn error(&self) -> String {
        format!("{:?}", self.0.error_code)
    }

    pub(crate) fn run(&mut self, from: &[u8], to: &mut [u8]) -> Done {
        let (mut left, mut room, mut read, mut written) = (from.len(), to.len(), 0, 0);
        let result =
            BrotliDecompressStream(&mut left, &mut read, from, &mut room, &mut written, to, &mut 0, &mut self.0);
        let progress = match result {
            BrotliResult::ResultSuccess => Some(Progress::Ended),
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => Some(Progress::Open),
            BrotliResult::ResultFailure => None,
        };
        (progress, read, written)
    }
}
