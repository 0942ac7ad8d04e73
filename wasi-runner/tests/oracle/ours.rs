//! The probe on our kernel, driven by our engine.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tidebox_core::Limits;
use tidebox_kernel::engine::Engine;
use tidebox_kernel::fs::{Cred, FileBytes, Fs};
use tidebox_kernel::{Clock, Kernel, KernelConfig, SeededEntropy, SessionSpec, Status, Stream};
use tidebox_wasi_runner::{EngineConfig, WasmtimeEngine};

use crate::tree::{self, USER};
use crate::{Call, End, Run};

/// The host may do what it likes; it takes the program away again before the probe looks around.
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

/// Our implementation, with the probe compiled for it.
pub(crate) struct Ours {
    engine: WasmtimeEngine,
    probe: FileBytes,
}

impl Ours {
    pub(crate) fn new(probe: &[u8]) -> Self {
        let engine = WasmtimeEngine::new(EngineConfig::default()).expect("the engine starts on this machine");
        let probe = FileBytes::from(probe.to_vec());
        engine.prepare(&probe).expect("the probe is a valid module");
        Self { engine, probe }
    }

    pub(crate) fn run(&self, call: &Call) -> Run {
        let limits = Limits::default();
        let clock = RealClock { start: Instant::now() };
        let mut fs = Fs::new(&limits);
        fs.install_dir(b"/", 0o755, USER.uid).expect("the root is there");
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
        let session = SessionSpec {
            argv: call.arguments().into_iter().map(String::into_bytes).collect(),
            env: environment.iter().map(|(name, value)| format!("{name}={value}").into_bytes()).collect(),
            cwd: b"/".to_vec(),
            program: b"/bin/probe".to_vec(),
            stdin: call.input().to_vec(),
            output_bytes: u64::MAX,
            shell_state: None,
            conversation: false,
        };
        let (session, _) = kernel.begin(session).expect("the probe can be started");
        let now = kernel.now();
        let root = kernel.fs().root();
        kernel.fs_mut().unlink(&HOST, root, b"bin/probe", now).expect("the program was installed");
        kernel.fs_mut().rmdir(&HOST, root, b"bin", now).expect("nothing else was installed");

        let kernel = Arc::new(Mutex::new(kernel));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
        let driven = runtime.block_on(self.engine.drive(&kernel, session, WALL_TIME, None));
        driven.expect("the host does its part");
        let mut kernel = kernel.lock().expect("no thread panicked with the lock");
        let mut text = Vec::new();
        let mut messages = Vec::new();
        for chunk in kernel.take_output(session) {
            match chunk.stream {
                Stream::Stdout => text.extend(chunk.bytes),
                Stream::Stderr => messages.extend(chunk.bytes),
            }
        }
        let end = match kernel.end(session).status {
            Some(Status::Exited(code)) => End::Exit(i32::from(code)),
            other => End::Ended(format!("{other:?}: {}", String::from_utf8_lossy(&messages))),
        };
        let text = String::from_utf8_lossy(&text).into_owned();
        Run { text, end, tree: tree::read_from_kernel(kernel.fs()) }
    }
}
