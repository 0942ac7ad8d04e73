//! Sending to a collector.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tidebox_core::Result;
use tidebox_remote_adapters::transport::{HttpTransport, Method, Request, Transport as _};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::metrics::families;
use super::span::nanoseconds;
use super::{OtlpConfig, Value};
use crate::service::Service;

/// Time between two exports of traces, the default of OpenTelemetry.
const TRACE_INTERVAL: Duration = Duration::from_secs(5);
/// Time for one export, the default of OpenTelemetry.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends the telemetry of a service.
#[derive(Debug)]
pub struct OtlpExporter {
    service: Service,
    config: OtlpConfig,
    /// Names of the headers, as the transport needs them.
    headers: Vec<(&'static str, tidebox_core::Secret)>,
    transport: Arc<HttpTransport>,
    start: u128,
}

impl OtlpExporter {
    /// Creates an exporter. From now on the service keeps spans until they are sent.
    ///
    /// # Errors
    /// If the HTTP client cannot be created.
    pub fn new(service: &Service, config: OtlpConfig) -> Result<Self> {
        service.0.spans.enable();
        let transport = HttpTransport::new(None)?;
        // The names live as long as the program: there are few, and an exporter is created once.
        let leak = |name: &String| -> &'static str { name.clone().leak() };
        let headers = config.headers.iter().map(|(name, value)| (leak(name), value.clone())).collect();
        Ok(Self { service: service.clone(), config, headers, transport, start: nanoseconds() })
    }

    /// Sends regularly, until the future is dropped. The first failure of a series is printed to stderr.
    pub async fn run(&self) {
        let timer = |period: Duration| {
            let mut timer = interval_at(Instant::now() + period, period);
            timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
            timer
        };
        let (mut traces, mut metrics) = (timer(TRACE_INTERVAL), timer(self.config.metric_interval));
        let mut has_failed = false;
        loop {
            let sent = tokio::select! {
                _ = traces.tick() => self.send_traces().await,
                _ = metrics.tick() => self.send_metrics().await,
            };
            if let Err(cause) = &sent
                && !has_failed
            {
                report(cause);
            }
            has_failed = sent.is_err();
        }
    }

    /// Sends everything that is left. Failures are printed to stderr.
    pub async fn finish(&self) {
        for sent in [self.send_traces().await, self.send_metrics().await] {
            if let Err(cause) = sent {
                report(&cause);
            }
        }
    }

    async fn send_traces(&self) -> std::result::Result<(), String> {
        let spans = self.service.0.spans.take();
        if spans.is_empty() {
            return Ok(());
        }
        let scope = json!({ "scope": { "name": "tidebox" }, "spans": spans });
        let body = json!({ "resourceSpans": [{ "resource": self.resource(), "scopeSpans": [scope] }] });
        self.send("/v1/traces", &body).await
    }

    async fn send_metrics(&self) -> std::result::Result<(), String> {
        let metrics = families(self.service.metrics(), self.start);
        let scope = json!({ "scope": { "name": "tidebox" }, "metrics": metrics });
        let body = json!({ "resourceMetrics": [{ "resource": self.resource(), "scopeMetrics": [scope] }] });
        self.send("/v1/metrics", &body).await
    }

    fn resource(&self) -> Json {
        let attribute =
            |name: &str, value: &str| json!({ "key": name, "value": Value::Text(value.to_owned()).to_json() });
        json!({ "attributes": [
            attribute("service.name", &self.config.service_name),
            attribute("service.version", env!("CARGO_PKG_VERSION")),
        ] })
    }

    async fn send(&self, path: &str, body: &Json) -> std::result::Result<(), String> {
        let url = format!("{}{path}", self.config.endpoint);
        let mut request = Request::new(Method::Post, &url).json(body).timeouts(TIMEOUT, TIMEOUT);
        for (name, value) in &self.headers {
            request = request.secret(name, value.clone());
        }
        let sent = self.transport.send(&request).await;
        let response = sent.map_err(|failed| format!("cannot send telemetry to {url}: {}", failed.error.message()))?;
        match response.is_success() {
            true => Ok(()),
            false => Err(format!("cannot send telemetry to {url}: status {}", response.status)),
        }
    }
}

fn report(cause: &str) {
    use std::io::Write as _;
    // The reader of stderr may have exited.
    let _ =
        writeln!(std::io::stderr().lock(), "tidebox: {cause}; further failures are not reported until one succeeds");
}
