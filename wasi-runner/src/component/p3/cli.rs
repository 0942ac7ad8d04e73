//! Standard streams, environment and randomness of WASI 0.3.

use tidebox_kernel::Errno;
use wasmtime::component::{Access, Accessor, FutureReader, StreamReader};
use wasmtime_wasi::p3::bindings::cli::types::ErrorCode;
use wasmtime_wasi::p3::bindings::cli::{environment, exit, stderr, stdin, stdout};
use wasmtime_wasi::p3::bindings::random::{insecure, insecure_seed, random};
use wasmtime_wasi::p3::bindings::sockets::{ip_name_lookup, types as socket};

use super::super::host::Host;
use super::super::input::Source;
use super::super::output::Sink;
use super::super::random::MAX_RANDOM;
use super::HasHost;
use super::stream::{DescriptorConsumer, DescriptorProducer, ResultSender, future};
use wasmtime_wasi::p2::bindings::cli::{environment as environment2, exit as exit2};

/// Converts an errno to the error code of `wasi:cli`.
fn code(errno: Errno) -> ErrorCode {
    match errno {
        Errno::Pipe => ErrorCode::Pipe,
        Errno::Ilseq => ErrorCode::IllegalByteSequence,
        _ => ErrorCode::Io,
    }
}

type ResultFuture = FutureReader<Result<(), ErrorCode>>;

impl stdin::Host for Host {}
impl stdout::Host for Host {}
impl stderr::Host for Host {}

impl<U> stdin::HostWithStore<U> for HasHost {
    fn read_via_stream(mut store: Access<'_, U, Self>) -> wasmtime::Result<(StreamReader<u8>, ResultFuture)> {
        let source = Source::standard(store.get().handle.clone(), 0);
        let (result_sender, receiver) = ResultSender::new(code);
        let stream = StreamReader::new(&mut store, DescriptorProducer::new(source, result_sender))?;
        Ok((stream, future(&mut store, receiver)?))
    }
}

fn write<U>(mut store: Access<'_, U, HasHost>, data: StreamReader<u8>, fd: u32) -> wasmtime::Result<ResultFuture> {
    let sink = Sink::standard(store.get().handle.clone(), fd);
    let (result_sender, receiver) = ResultSender::new(code);
    data.pipe(&mut store, DescriptorConsumer::new(sink, result_sender))?;
    future(&mut store, receiver)
}

impl<U> stdout::HostWithStore<U> for HasHost {
    fn write_via_stream(store: Access<'_, U, Self>, data: StreamReader<u8>) -> wasmtime::Result<ResultFuture> {
        write(store, data, 1)
    }
}

impl<U> stderr::HostWithStore<U> for HasHost {
    fn write_via_stream(store: Access<'_, U, Self>, data: StreamReader<u8>) -> wasmtime::Result<ResultFuture> {
        write(store, data, 2)
    }
}

impl environment::Host for Host {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        environment2::Host::get_environment(self)
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        environment2::Host::get_arguments(self)
    }

    fn get_initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        environment2::Host::initial_cwd(self)
    }
}

impl exit::Host for Host {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        exit2::Host::exit(self, status)
    }

    fn exit_with_code(&mut self, code: u8) -> wasmtime::Result<()> {
        exit2::Host::exit_with_code(self, code)
    }
}

/// 0.3 permits returning fewer bytes than requested.
impl random::Host for Host {
    fn get_random_bytes(&mut self, max_len: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(max_len.min(MAX_RANDOM))
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.random_u64()
    }
}

impl insecure::Host for Host {
    fn get_insecure_random_bytes(&mut self, max_len: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(max_len.min(MAX_RANDOM))
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.random_u64()
    }
}

impl insecure_seed::Host for Host {
    fn get_insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((self.random_u64()?, self.random_u64()?))
    }
}

impl ip_name_lookup::Host for Host {}

impl<U> ip_name_lookup::HostWithStore<U> for HasHost {
    async fn resolve_addresses(
        _: &Accessor<U, Self>,
        _: String,
    ) -> wasmtime::Result<Result<Vec<socket::IpAddress>, ip_name_lookup::ErrorCode>> {
        Ok(Err(ip_name_lookup::ErrorCode::AccessDenied))
    }
}
