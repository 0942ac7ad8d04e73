//! Standard streams: descriptors 0, 1 and 2 of the process.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::cli::{stderr, stdin, stdout};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

use super::host::Host;
use super::input::{Input, Source};
use super::output::{Output, Sink};

impl stdin::Host for Host {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<DynInputStream>> {
        let stream: DynInputStream = Box::new(Input::from(Source::standard(self.handle.clone(), 0)));
        Ok(self.table.push(stream)?)
    }
}

impl stdout::Host for Host {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.output(1)
    }
}

impl stderr::Host for Host {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        self.output(2)
    }
}

impl Host {
    fn output(&mut self, fd: u32) -> wasmtime::Result<Resource<DynOutputStream>> {
        let stream: DynOutputStream = Box::new(Output::from(Sink::standard(self.handle.clone(), fd)));
        Ok(self.table.push(stream)?)
    }
}
