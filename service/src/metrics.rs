//! Metrics: counters, gauges and histograms with bounded labels.

mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tidebox_core::layer::{Call, Response};
use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ExecuteResponse, ProcessInput};

/// Tenants with their own series. Further ones share the name [`OTHER`], so that a scraper's storage is bounded.
const MAX_TENANTS: usize = 100;
/// Series of one family. Further ones are not recorded; only a route table above it could reach it.
const MAX_SERIES: usize = 20_000;
/// Name of the tenants beyond [`MAX_TENANTS`].
const OTHER: &str = "other";

/// Upper bounds of times, in seconds.
const SECONDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];
/// Upper bounds of memory, in bytes.
const BYTES: &[f64] = &[
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
    134_217_728.0,
    268_435_456.0,
    536_870_912.0,
    1_073_741_824.0,
];

/// A family of series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) kind: Kind,
}

/// Kind of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Counter,
    Gauge,
    Histogram(&'static [f64]),
}

/// All families, in the order of their output. `docs/service.md` lists them.
pub(crate) const FAMILIES: &[Family] = &[
    COMMANDS,
    COMMAND_SECONDS,
    COMMAND_CPU,
    COMMAND_MEMORY,
    TRANSFERRED,
    SANDBOXES,
    REFUSALS,
    REQUESTS,
    REQUEST_SECONDS,
];

const COMMANDS: Family = Family {
    name: "tidebox_commands_total",
    help: "Commands by tenant, outcome and stop reason.",
    kind: Kind::Counter,
};
const COMMAND_SECONDS: Family = Family {
    name: "tidebox_command_duration_seconds",
    help: "Wall time of commands by tenant.",
    kind: Kind::Histogram(SECONDS),
};
const COMMAND_CPU: Family = Family {
    name: "tidebox_command_cpu_seconds",
    help: "Processor time of commands by tenant.",
    kind: Kind::Histogram(SECONDS),
};
const COMMAND_MEMORY: Family = Family {
    name: "tidebox_command_memory_peak_bytes",
    help: "Peak linear memory of commands by tenant.",
    kind: Kind::Histogram(BYTES),
};
const TRANSFERRED: Family = Family {
    name: "tidebox_transferred_bytes_total",
    help: "Bytes into and out of sandboxes by tenant, direction and kind.",
    kind: Kind::Counter,
};
const SANDBOXES: Family =
    Family { name: "tidebox_sandboxes", help: "Sandboxes that exist, by tenant.", kind: Kind::Gauge };
const REFUSALS: Family = Family {
    name: "tidebox_quota_refusals_total",
    help: "Requests denied by a quota, by tenant and quota.",
    kind: Kind::Counter,
};
const REQUESTS: Family = Family {
    name: "tidebox_http_requests_total",
    help: "HTTP requests by API, method, route template and status.",
    kind: Kind::Counter,
};
const REQUEST_SECONDS: Family = Family {
    name: "tidebox_http_request_duration_seconds",
    help: "Time until the head of the HTTP response, by API.",
    kind: Kind::Histogram(SECONDS),
};

/// Labels with their values.
pub(crate) type Labels = Vec<(&'static str, String)>;

/// Value of a series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    /// Count per bound, sum of the values, and number of values.
    Histogram {
        counts: Vec<u64>,
        sum: f64,
        count: u64,
    },
}

/// Counters, gauges and histograms of a service.
#[derive(Debug, Default)]
pub struct Metrics {
    families: Mutex<BTreeMap<&'static str, BTreeMap<Labels, Value>>>,
    tenants: Mutex<BTreeSet<String>>,
}

impl Metrics {
    /// Returns all series in Prometheus' text format.
    pub fn to_text(&self) -> String {
        text::format(&self.snapshot(), None)
    }

    /// Returns the series of one tenant in Prometheus' text format.
    pub(crate) fn to_text_of(&self, tenant: &str) -> String {
        text::format(&self.snapshot(), Some(&self.tenant(tenant)))
    }

    /// Returns a copy of all series.
    pub(crate) fn snapshot(&self) -> BTreeMap<&'static str, BTreeMap<Labels, Value>> {
        self.families.lock().clone()
    }

    /// Returns the label of a tenant.
    fn tenant(&self, name: &str) -> String {
        let mut tenants = self.tenants.lock();
        if tenants.len() < MAX_TENANTS && !tenants.contains(name) {
            tenants.insert(name.to_owned());
        }
        if tenants.contains(name) { name.to_owned() } else { OTHER.to_owned() }
    }

    fn change(&self, family: Family, labels: Labels, change: impl FnOnce(&mut Value)) {
        let mut families = self.families.lock();
        let series = families.entry(family.name).or_default();
        if series.len() >= MAX_SERIES && !series.contains_key(&labels) {
            return;
        }
        change(series.entry(labels).or_insert_with(|| match family.kind {
            Kind::Histogram(bounds) => Value::Histogram { counts: vec![0; bounds.len()], sum: 0.0, count: 0 },
            Kind::Counter | Kind::Gauge => Value::Number(0.0),
        }));
    }

    fn add(&self, family: Family, labels: Labels, amount: f64) {
        self.change(family, labels, |value| {
            if let Value::Number(number) = value {
                *number += amount;
            }
        });
    }

    fn observe(&self, family: Family, labels: Labels, observed: f64) {
        let Kind::Histogram(bounds) = family.kind else { return };
        self.change(family, labels, |value| {
            if let Value::Histogram { counts, sum, count } = value {
                for (slot, _) in counts.iter_mut().zip(bounds).filter(|(_, bound)| observed <= **bound) {
                    *slot += 1;
                }
                *sum += observed;
                *count += 1;
            }
        });
    }

    fn tenant_labels(&self, tenant: &str) -> Labels {
        vec![("tenant", self.tenant(tenant))]
    }

    /// Counts a command that has ended.
    pub(crate) fn count_command(&self, tenant: &str, wall: Duration, response: &ExecuteResponse) {
        let mut labels = self.tenant_labels(tenant);
        self.observe(COMMAND_SECONDS, labels.clone(), wall.as_secs_f64());
        if let Some(cpu) = response.cpu_time {
            self.observe(COMMAND_CPU, labels.clone(), cpu.as_secs_f64());
        }
        // Precise below 2^53 bytes.
        self.observe(COMMAND_MEMORY, labels.clone(), response.peak_memory_bytes as f64);
        labels.push(("outcome", outcome(response).to_owned()));
        labels.push(("stopped_by", response.stopped_by.map_or("none", |reason| reason.as_str()).to_owned()));
        self.add(COMMANDS, labels, 1.0);
    }

    /// Counts a command without a response: `failed` or `dropped`.
    pub(crate) fn count_lost_command(&self, tenant: &str, outcome: &'static str) {
        let mut labels = self.tenant_labels(tenant);
        labels.extend([("outcome", outcome.to_owned()), ("stopped_by", "none".to_owned())]);
        self.add(COMMANDS, labels, 1.0);
    }

    /// Counts the bytes of a call.
    pub(crate) fn count_input(&self, tenant: &str, call: &Call) {
        let (kind, bytes) = match call {
            Call::Execute(request) | Call::ExecuteStreaming(request) => ("command", request.stdin.len()),
            Call::WriteProcess(_, ProcessInput::Bytes(bytes)) => ("process", bytes.len()),
            Call::Write(request) => ("file", request.content.len()),
            Call::UploadFiles(files) => ("file", files.iter().map(|file| file.content.len()).sum()),
            _ => return,
        };
        self.count_bytes(tenant, "in", kind, bytes);
    }

    /// Counts the bytes of a response.
    pub(crate) fn count_output(&self, tenant: &str, response: &Response) {
        let (kind, bytes) = match response {
            Response::Execute(response) => ("command", response.output.len()),
            Response::ReadProcess(page) => ("process", page.chunks.iter().map(|chunk| chunk.bytes.len()).sum()),
            Response::DownloadFiles(files) => {
                ("file", files.iter().filter_map(|file| Some(file.result.as_ref().ok()?.len())).sum())
            }
            _ => return,
        };
        self.count_bytes(tenant, "out", kind, bytes);
    }

    fn count_bytes(&self, tenant: &str, direction: &'static str, kind: &'static str, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let mut labels = self.tenant_labels(tenant);
        labels.extend([("direction", direction.to_owned()), ("kind", kind.to_owned())]);
        self.add(TRANSFERRED, labels, bytes as f64);
    }

    /// Changes the number of sandboxes that exist.
    pub(crate) fn change_sandboxes(&self, tenant: &str, by: f64) {
        self.add(SANDBOXES, self.tenant_labels(tenant), by);
    }

    /// Counts a request denied by a quota. Other errors do not count.
    pub(crate) fn count_refusal(&self, tenant: &str, error: &Error) {
        let quota = error.context().iter().find(|(name, _)| name == crate::quota::QUOTA);
        if let Some((_, quota)) = quota {
            let mut labels = self.tenant_labels(tenant);
            labels.push(("quota", quota.clone()));
            self.add(REFUSALS, labels, 1.0);
        }
    }

    /// Counts an HTTP request. `route` is a template.
    pub(crate) fn count_request(&self, api: &str, method: &str, route: &str, status: u16, time: Duration) {
        let api = ("api", api.to_owned());
        self.observe(REQUEST_SECONDS, vec![api.clone()], time.as_secs_f64());
        let method = match method {
            "GET" | "POST" | "PUT" | "DELETE" | "PATCH" | "HEAD" | "OPTIONS" | "CONNECT" => method,
            // A client can invent others.
            _ => OTHER,
        };
        let labels =
            vec![api, ("method", method.to_owned()), ("route", route.to_owned()), ("status", status.to_string())];
        self.add(REQUESTS, labels, 1.0);
    }
}

/// Returns the class of an exit.
fn outcome(response: &ExecuteResponse) -> &'static str {
    match (response.stopped_by, response.exit_code) {
        (Some(_), _) => "stopped",
        (None, Some(0)) => "success",
        (None, Some(code)) if code > 128 => "signal",
        (None, Some(_)) => "error",
        (None, None) => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenants_beyond_the_maximum_share_a_name() {
        let metrics = Metrics::default();
        for number in 0..MAX_TENANTS + 5 {
            metrics.change_sandboxes(&format!("t{number}"), 1.0);
        }
        let text = metrics.to_text();
        assert_eq!(text.matches("tidebox_sandboxes{").count(), MAX_TENANTS + 1);
        assert!(text.contains("tidebox_sandboxes{tenant=\"other\"} 5\n"), "{text}");
    }

    #[test]
    fn commands_are_counted_by_outcome() {
        let metrics = Metrics::default();
        let mut response = ExecuteResponse::default();
        response.exit_code = Some(0);
        response.cpu_time = Some(Duration::from_millis(3));
        response.peak_memory_bytes = 2 << 20;
        metrics.count_command("a", Duration::from_millis(20), &response);
        response.exit_code = Some(124);
        response.stopped_by = Some(tidebox_core::StopReason::Timeout);
        metrics.count_command("a", Duration::from_secs(300), &response);
        let text = metrics.to_text();
        for line in [
            "tidebox_commands_total{tenant=\"a\",outcome=\"success\",stopped_by=\"none\"} 1\n",
            "tidebox_commands_total{tenant=\"a\",outcome=\"stopped\",stopped_by=\"timeout\"} 1\n",
            "tidebox_command_duration_seconds_bucket{tenant=\"a\",le=\"0.01\"} 0\n",
            "tidebox_command_duration_seconds_bucket{tenant=\"a\",le=\"0.025\"} 1\n",
            "tidebox_command_duration_seconds_bucket{tenant=\"a\",le=\"+Inf\"} 2\n",
            "tidebox_command_duration_seconds_count{tenant=\"a\"} 2\n",
            "tidebox_command_memory_peak_bytes_bucket{tenant=\"a\",le=\"4194304\"} 2\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }

    #[test]
    fn a_tenant_sees_only_its_own_series() {
        let metrics = Metrics::default();
        metrics.change_sandboxes("a", 1.0);
        metrics.change_sandboxes("b", 1.0);
        metrics.count_request("rest", "GET", "/v1/sandboxes", 200, Duration::ZERO);
        let text = metrics.to_text_of("a");
        assert!(text.contains("tenant=\"a\"") && !text.contains("tenant=\"b\"") && !text.contains("route="), "{text}");
    }
}
