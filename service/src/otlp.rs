//! OpenTelemetry: traces and metrics over OTLP/HTTP with JSON.
//!
//! Written without the crates of OpenTelemetry: they add a second registry of metrics and a second HTTP client. The JSON encoding
//! is a part of the specification of OTLP, and every collector accepts it.

mod export;
mod metrics;
mod span;

use std::fmt;
use std::time::Duration;

use tidebox_core::Secret;

pub use export::OtlpExporter;
pub(crate) use span::{ActiveSpan, Spans, Value};

/// Default address of a collector on this computer.
const ENDPOINT: &str = "http://localhost:4318";

/// Destination and intervals of telemetry.
#[derive(Clone, Debug)]
pub struct OtlpConfig {
    /// URL of the collector without the paths `/v1/traces` and `/v1/metrics`.
    pub endpoint: String,
    /// Headers of each request, for example with a credential.
    pub headers: Vec<(String, Secret)>,
    /// Name of the service in the telemetry. Default `tidebox`.
    pub service_name: String,
    /// Time between two exports of the metrics. Default 60 s. Traces are sent after at most 5 s.
    pub metric_interval: Duration,
}

/// An invalid environment variable.
#[derive(Debug)]
pub struct OtlpError(String);

impl fmt::Display for OtlpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OtlpError {}

impl OtlpConfig {
    /// Returns the configuration of OpenTelemetry's environment variables, which `get` returns: `OTEL_EXPORTER_OTLP_ENDPOINT`,
    /// `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_METRIC_EXPORT_INTERVAL` (milliseconds) and `OTEL_SDK_DISABLED`.
    /// `None` without an endpoint, because nothing may leave the host unless it is requested.
    ///
    /// # Errors
    /// If a variable is invalid, or requests another protocol than HTTP.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, OtlpError> {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let is_disabled = get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let Some(endpoint) = get("OTEL_EXPORTER_OTLP_ENDPOINT").filter(|_| !is_disabled) else { return Ok(None) };
        if !endpoint.starts_with("http://") && !endpoint.starts_with("https://") {
            let message = format!("OTEL_EXPORTER_OTLP_ENDPOINT is {endpoint:?}; expected a URL such as {ENDPOINT}");
            return Err(OtlpError(message));
        }
        if get("OTEL_EXPORTER_OTLP_PROTOCOL").is_some_and(|protocol| !protocol.starts_with("http/")) {
            let message = "OTEL_EXPORTER_OTLP_PROTOCOL is not http/json; Tidebox sends OTLP over HTTP with JSON only";
            return Err(OtlpError(message.to_owned()));
        }
        let headers = get("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
        let interval = get("OTEL_METRIC_EXPORT_INTERVAL").unwrap_or_else(|| "60000".to_owned());
        let interval =
            interval.parse::<u64>().ok().filter(|milliseconds| *milliseconds > 0).ok_or_else(|| {
                OtlpError(format!("OTEL_METRIC_EXPORT_INTERVAL is {interval:?}; expected milliseconds"))
            })?;
        Ok(Some(Self {
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            headers: parse_headers(&headers)?,
            service_name: get("OTEL_SERVICE_NAME").unwrap_or_else(|| "tidebox".to_owned()),
            metric_interval: Duration::from_millis(interval),
        }))
    }
}

/// Parses `NAME=VALUE,...`. A value may be a credential, so the message does not repeat it.
fn parse_headers(text: &str) -> Result<Vec<(String, Secret)>, OtlpError> {
    let parse = |pair: &str| {
        let (name, value) = pair.split_once('=').filter(|(name, _)| !name.trim().is_empty())?;
        Some((name.trim().to_ascii_lowercase(), Secret::new(value.trim())))
    };
    let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
    pairs
        .map(|pair| parse(pair).ok_or_else(|| OtlpError("OTEL_EXPORTER_OTLP_HEADERS is not NAME=VALUE,...".to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Result<Option<OtlpConfig>, OtlpError> {
        let find =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        OtlpConfig::from_variables(find)
    }

    #[test]
    fn nothing_is_sent_without_an_endpoint() {
        assert!(config(&[]).unwrap().is_none());
        assert!(config(&[("OTEL_SERVICE_NAME", "x"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "")]).unwrap().is_none());
        let disabled = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"), ("OTEL_SDK_DISABLED", "true")];
        assert!(config(&disabled).unwrap().is_none());
    }

    #[test]
    fn variables_are_read_and_checked() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/");
        let read = config(&[endpoint, ("OTEL_EXPORTER_OTLP_HEADERS", "Api-Key=planted, b=c=d")]).unwrap().unwrap();
        assert_eq!((read.endpoint.as_str(), read.service_name.as_str()), ("http://c:4318", "tidebox"));
        let headers: Vec<_> = read.headers.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
        assert_eq!(headers, [("api-key", &b"planted"[..]), ("b", b"c=d")]);
        assert!(!format!("{read:?}").contains("planted"));
        for invalid in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "c:4318"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "planted"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "0"),
        ] {
            let error = config(&[invalid, endpoint]).unwrap_err().to_string();
            assert!(error.contains(invalid.0) && !error.contains("planted"), "{error}");
        }
    }
}
