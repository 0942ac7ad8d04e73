//! The layer of every sandbox: quotas, metrics, processor time and the time of the last call.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tidebox_core::layer::{Call, Layer, Response, from_layer};
use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, OutputSink, ProcessSignal, ProcessState, Result, SandboxBackend, SandboxId};
use tidebox_emulators::ReadCpuTime;

use crate::account::{Account, Lease};
use crate::metrics::Metrics;
use crate::otlp::{ActiveSpan, Spans, Value};

/// A sandbox of an account.
pub(crate) struct Metered {
    pub(crate) backend: Arc<dyn SandboxBackend>,
    pub(crate) account: Arc<Account>,
    /// Freed when the sandbox is closed, even if it is still referenced.
    pub(crate) lease: Mutex<Option<Lease>>,
    pub(crate) activity: Arc<Activity>,
    pub(crate) cpu: CpuMeter,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) spans: Arc<Spans>,
}

/// Returns a sandbox with its meter.
pub(crate) fn metered(meter: Arc<Metered>) -> Arc<dyn SandboxBackend> {
    meter.metrics.change_sandboxes(&meter.account.name, 1.0);
    from_layer(MeterLayer(meter))
}

/// The layer, which shares its meter with the service.
#[derive(Debug)]
struct MeterLayer(Arc<Metered>);

/// Reads the processor time of a sandbox, and keeps how much was charged.
pub(crate) struct CpuMeter {
    read: ReadCpuTime,
    charged: Mutex<Duration>,
}

impl CpuMeter {
    pub(crate) fn new(read: ReadCpuTime) -> Self {
        Self { read, charged: Mutex::default() }
    }

    /// Returns the time since the last call of this function.
    fn take(&self) -> Duration {
        let mut charged = self.charged.lock();
        let used = (self.read)();
        // A closed sandbox has used nothing.
        used.saturating_sub(std::mem::replace(&mut *charged, used))
    }
}

impl fmt::Debug for Metered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered").field("backend", &self.backend).finish_non_exhaustive()
    }
}

/// Calls of a sandbox.
#[derive(Debug)]
pub(crate) struct Activity {
    running: AtomicUsize,
    last: Mutex<Instant>,
}

impl Default for Activity {
    fn default() -> Self {
        Self { running: AtomicUsize::new(0), last: Mutex::new(Instant::now()) }
    }
}

impl Activity {
    /// Returns the time since the last call ended. Zero while one runs.
    pub(crate) fn idle_time(&self) -> Duration {
        if self.running.load(Ordering::Acquire) > 0 {
            return Duration::ZERO;
        }
        self.last.lock().elapsed()
    }

    fn begin(self: &Arc<Self>) -> RunningCall {
        self.running.fetch_add(1, Ordering::AcqRel);
        RunningCall(Arc::clone(self))
    }
}

/// Marks the end of a call when it is dropped.
struct RunningCall(Arc<Activity>);

impl Drop for RunningCall {
    fn drop(&mut self) {
        *self.0.last.lock() = Instant::now();
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Counts a command on every exit path, including drop.
struct Command<'a> {
    metered: &'a Metered,
    start: Instant,
    has_ended: bool,
    span: Option<ActiveSpan>,
}

impl<'a> Command<'a> {
    fn start(metered: &'a Metered) -> Self {
        let mut span = metered.spans.start_child("execute");
        if let Some(span) = &mut span {
            span.set("tidebox.tenant", Value::Text(metered.account.name.clone()));
        }
        Self { metered, start: Instant::now(), has_ended: false, span }
    }

    /// Sets the attributes of its span: never the command line or its output.
    fn describe(&mut self, result: &Result<Response>) {
        let Some(span) = &mut self.span else { return };
        let Ok(Response::Execute(response)) = result else { return span.fail() };
        if let Some(code) = response.exit_code {
            span.set("process.exit.code", Value::Integer(code.into()));
        }
        if let Some(reason) = response.stopped_by {
            span.set("tidebox.stopped_by", Value::Text(reason.as_str().to_owned()));
        }
        if let Some(used) = response.cpu_time {
            span.set("tidebox.cpu_seconds", Value::Number(used.as_secs_f64()));
        }
        let peak = i64::try_from(response.peak_memory_bytes).unwrap_or(i64::MAX);
        span.set("tidebox.memory_peak_bytes", Value::Integer(peak));
    }

    fn end(mut self, result: &Result<Response>) {
        self.has_ended = true;
        self.describe(result);
        let (tenant, metrics) = (&self.metered.account.name, &self.metered.metrics);
        match result {
            Ok(Response::Execute(response)) => metrics.count_command(tenant, self.start.elapsed(), response),
            _ => metrics.count_lost_command(tenant, "failed"),
        }
    }
}

impl Drop for Command<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.metered.metrics.count_lost_command(&self.metered.account.name, "dropped");
        }
    }
}

impl Metered {
    /// Denies commands beyond the quotas.
    fn check(&self, call: &Call) -> Result<()> {
        if !matches!(call, Call::Execute(_) | Call::ExecuteStreaming(_) | Call::Spawn(_)) {
            return Ok(());
        }
        self.charge();
        self.account.check_cpu(call.method()).inspect_err(|error| self.metrics.count_refusal(&self.account.name, error))
    }

    /// Charges the processor time since the last charge to the tenant.
    fn charge(&self) {
        self.account.charge_cpu(self.cpu.take());
    }

    /// Charges processor time, and kills the processes that outlived their calls if a quota of it is used up.
    pub(crate) async fn enforce_cpu(&self) {
        self.charge();
        if self.account.check_cpu("run processes").is_ok() {
            return;
        }
        // A closed sandbox has none.
        let processes = self.backend.processes().await.unwrap_or_default();
        for process in processes.iter().filter(|process| process.state == ProcessState::Running) {
            // It may have ended since.
            let _ = self.backend.signal_process(&process.id, ProcessSignal::Kill).await;
        }
    }

    fn release(&self) {
        if self.lease.lock().take().is_some() {
            self.metrics.change_sandboxes(&self.account.name, -1.0);
        }
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        self.charge();
        self.release();
    }
}

impl Layer for MeterLayer {
    fn id(&self) -> &SandboxId {
        self.0.backend.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        let meter = &*self.0;
        Box::pin(async move {
            meter.check(&call)?;
            let _running = meter.activity.begin();
            meter.metrics.count_input(&meter.account.name, &call);
            let is_close = matches!(call, Call::Close);
            let is_command = matches!(call, Call::Execute(_) | Call::ExecuteStreaming(_));
            let command = is_command.then(|| Command::start(meter));
            if is_close {
                meter.charge();
            }
            let result = call.run(&*meter.backend, sink).await;
            if let Some(command) = command {
                meter.charge();
                command.end(&result);
            }
            if let Ok(response) = &result {
                meter.metrics.count_output(&meter.account.name, response);
            }
            if is_close {
                meter.release();
            }
            result
        })
    }
}
