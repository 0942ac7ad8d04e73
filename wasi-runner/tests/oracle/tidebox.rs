//! The probe on Tidebox's kernel and engine.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tidebox_core::Limits;
use tidebox_kernel::engine::Engine;
use tidebox_kernel::fs::{Cred, FileBytes, Fs};
use tidebox_kernel::{Clock, ExecutionSpec, ExitStatus, Kernel, KernelConfig, OutputStream, SeededEntropy};
use tidebox_wasi_runner::{EngineConfig, WasmtimeEngine};

use crate::tree::{self, USER};
use crate::{Call, ProbeExit, Run};

/// The host's credentials, which may do everything. The program's file is removed before the probe reads the tree.
const HOST: Cred = Cred { uid: 0, gid: 0 };

/// No scenario takes a second; a probe that hangs is stopped by the kernel and reported.
const WALL_TIME: Duration = Duration::from_secs(60);

struct RealClock {
    start: Instant,
}

impl Clock for RealClock {
    fn realtime(&self) -> u64 {
        let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX)
    }

    fn monotonic(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn fork(&self) -> Box<dyn Clock> {
        Box::new(Self { start: self.start })
    }
}

/// Tidebox, with the probe compiled for it.
pub(crate) struct TideboxProbe {
    engine: WasmtimeEngine,
    probe: FileBytes,
}

impl TideboxProbe {
    pub(crate) fn new(probe: &[u8]) -> Self {
        let engine = WasmtimeEngine::new(EngineConfig::default()).expect("the engine starts on this host");
        let probe = FileBytes::from(probe.to_vec());
        engine.precompile(&probe).expect("the probe is a valid module");
        Self { engine, probe }
    }

    pub(crate) fn run(&self, call: &Call) -> Run {
        let limits = Limits::default();
        let clock = RealClock { start: Instant::now() };
        let mut fs = Fs::new(&limits);
        fs.install_dir(b"/", 0o755, USER.uid).expect("the root can be created");
        tree::lay_in_kernel(&tree::initial(), &mut fs, clock.realtime());
        fs.install(b"/bin/probe", self.probe.clone(), 0o755, 0).expect("the name is free");
        let mut kernel = Kernel::new(KernelConfig {
            limits,
            clock: Box::new(clock),
            entropy: Box::new(SeededEntropy::new(7)),
            files: fs.snapshot(),
            hostname: "oracle".to_owned(),
        });
        let environment = call.environment();
        let execution = ExecutionSpec {
            argv: call.arguments().into_iter().collect(),
            env: environment.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            cwd: b"/".to_vec(),
            program: b"/bin/probe".to_vec(),
            stdin: call.input().to_vec(),
            output_bytes: u64::MAX,
            ..ExecutionSpec::default()
        };
        let (execution, _) = kernel.start_execution(execution).expect("the probe can be started");
        let now = kernel.now();
        let root = kernel.fs().root();
        kernel.fs_mut().unlink(&HOST, root, b"bin/probe", now).expect("the program was installed");
        kernel.fs_mut().rmdir(&HOST, root, b"bin", now).expect("nothing else was installed");

        let kernel = Arc::new(tidebox_core::lock::Mutex::new(kernel));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
        let driven = runtime.block_on(self.engine.drive(&kernel, execution, WALL_TIME, None));
        driven.expect("the host does its part");
        let mut kernel = kernel.lock();
        let mut text = Vec::new();
        let mut messages = Vec::new();
        for chunk in kernel.take_output(execution) {
            match chunk.stream {
                OutputStream::Stdout => text.extend(chunk.bytes),
                OutputStream::Stderr => messages.extend(chunk.bytes),
            }
        }
        let exit = match kernel.finish_execution(execution).status {
            Some(ExitStatus::Exited(code)) => ProbeExit::Exit(i32::from(code)),
            other => ProbeExit::Terminated(format!("{other:?}: {}", String::from_utf8_lossy(&messages))),
        };
        let text = String::from_utf8_lossy(&text).into_owned();
        Run { text, exit, tree: tree::read_from_kernel(kernel.fs()) }
    }
}
