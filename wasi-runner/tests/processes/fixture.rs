//! A kernel, an engine and the programs of one test.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidebox_core::Limits;
use tidebox_kernel::engine::Engine;
use tidebox_kernel::fs::{FileBytes, Fs};
use tidebox_kernel::{
    Clock, ExecutionSpec, ExitStatus, Kernel, KernelConfig, OutputStream, SeededEntropy, SharedKernel, StopReason,
    VirtualClock,
};
use tidebox_wasi_runner::{EngineConfig, PreinitSource, PrepareSource, WasmtimeEngine};

use crate::guest;

/// Result of a run.
pub(crate) struct RunResult {
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stopped_by: Option<StopReason>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) peak_memory_bytes: u64,
}

pub(crate) struct Fixture {
    limits: Limits,
    wall_time: Duration,
    fixed: bool,
    files: Vec<(String, Vec<u8>, bool)>,
    links: Vec<(String, String)>,
    preinit: Vec<(String, FileBytes)>,
    engine: WasmtimeEngine,
}

struct Real(Instant);

impl Clock for Real {
    fn realtime(&self) -> u64 {
        0
    }

    fn monotonic(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn fork(&self) -> Box<dyn Clock> {
        Box::new(Self(self.0))
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let engine =
            WasmtimeEngine::new(EngineConfig { pool_slots: 16, ..EngineConfig::default() }).expect("the engine starts");
        let limits = Limits::default();
        Self {
            limits,
            wall_time: Duration::from_secs(60),
            fixed: false,
            files: Vec::new(),
            links: Vec::new(),
            preinit: Vec::new(),
            engine,
        }
    }

    pub(crate) fn program(mut self, path: &str, wat: &str) -> Self {
        self.files.push((path.to_owned(), guest::compile(wat), true));
        self
    }

    /// Adds an executable file of the guest.
    pub(crate) fn file(mut self, path: &str, bytes: &[u8]) -> Self {
        self.files.push((path.to_owned(), bytes.to_vec(), false));
        self
    }

    /// Adds a file registered as a pre-initialized program.
    pub(crate) fn preinit(mut self, path: &str, file: FileBytes, source: PreinitSource) -> Self {
        self.engine.register_preinit(&file, source);
        self.preinit.push((path.to_owned(), file));
        self
    }

    /// Adds a file of a pre-initialized program that is prepared on its first start.
    pub(crate) fn preinit_on_use(mut self, path: &str, file: FileBytes, prepare: PrepareSource) -> Self {
        self.engine.register_preinit_on_use(&file, prepare);
        self.preinit.push((path.to_owned(), file));
        self
    }

    /// Adds a symbolic link.
    pub(crate) fn link(mut self, path: &str, target: &str) -> Self {
        self.links.push((path.to_owned(), target.to_owned()));
        self
    }

    pub(crate) fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn wall_time(mut self, wall_time: Duration) -> Self {
        self.wall_time = wall_time;
        self
    }

    pub(crate) fn fixed_clock(mut self) -> Self {
        self.fixed = true;
        self
    }

    pub(crate) fn run(&self, program: &str) -> RunResult {
        let kernel: SharedKernel = Arc::new(tidebox_core::lock::Mutex::new(self.kernel()));
        let spec = ExecutionSpec {
            argv: [program].into_iter().collect(),
            cwd: b"/".to_vec(),
            program: program.as_bytes().to_vec(),
            stdin: Vec::new(),
            output_bytes: 1 << 20,
            ..ExecutionSpec::default()
        };
        let (execution, _) = kernel.lock().start_execution(spec).expect("the program can be started");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
        runtime.block_on(self.engine.drive(&kernel, execution, self.wall_time, None)).expect("the engine drives");

        let mut kernel = kernel.lock();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        for chunk in kernel.take_output(execution) {
            match chunk.stream {
                OutputStream::Stdout => stdout.extend(chunk.bytes),
                OutputStream::Stderr => stderr.extend(chunk.bytes),
            }
        }
        let report = kernel.finish_execution(execution);
        let (status, stopped_by) = (report.status, report.stopped_by);
        RunResult { status, stopped_by, stdout, stderr, peak_memory_bytes: report.peak_memory_bytes }
    }

    fn kernel(&self) -> Kernel {
        let mut fs = Fs::new(&self.limits);
        for (path, bytes, installed) in &self.files {
            let path = path.as_bytes();
            let ino = fs.install(path, bytes.clone().into(), 0o755, 1000).expect("the file can be placed");
            if !installed {
                // Writing the file makes it a guest's file instead of an installed one.
                fs.write_all(ino, bytes, 0).expect("the file can be written");
            }
        }
        for (path, file) in &self.preinit {
            fs.install(path.as_bytes(), file.clone(), 0o755, 0).expect("the file can be placed");
        }
        for (path, target) in &self.links {
            fs.install_symlink(path.as_bytes(), target.as_bytes()).expect("the link can be placed");
        }
        let clock: Box<dyn Clock> = match self.fixed {
            true => Box::new(VirtualClock::new(0)),
            false => Box::new(Real(Instant::now())),
        };
        Kernel::new(KernelConfig {
            limits: self.limits.clone(),
            clock,
            entropy: Box::new(SeededEntropy::new(1)),
            files: fs.snapshot(),
            hostname: "fixture".to_owned(),
        })
    }
}
