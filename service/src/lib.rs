//! The service: sandboxes over HTTP for several tenants.
//!
//! A [`Service`] has the accounts of its tenants with their sandboxes, and the metrics. It serves a REST API with an OpenAPI
//! document ([`Service::router`]), and creates sandboxes for the emulators of providers, so that quotas and metrics are the same for
//! both. It does not depend on an engine: [`MakeSandbox`] creates sandboxes.

#![forbid(unsafe_code)]

mod account;
mod api;
mod drain;
mod log;
mod meter;
mod metrics;
mod otlp;
mod page;
mod quota;
mod reaper;
mod server;
mod service;
mod tenant;
mod tls;

pub use metrics::Metrics;
pub use otlp::{OtlpConfig, OtlpError, OtlpExporter};
pub use quota::Quotas;
pub use server::{Server, ServerConfig};
pub use service::{MakeSandbox, SandboxSpec, Service, ServiceConfig};
pub use tenant::{NewToken, TenantError, Tenants};
pub use tls::{TlsConfig, TlsError, TlsFiles};
