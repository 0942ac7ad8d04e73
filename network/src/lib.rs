//! HTTP requests to the hosts that a policy allows: [`NativeGateway`] implements the port of `tidebox_core::network` with the
//! host's sockets.
//!
//! All decisions are made in `tidebox_core::network`. This crate sends a checked request to a checked address over a new
//! connection: no second look-up, no connection pool, no proxy from the environment, no redirects.

#![forbid(unsafe_code)]

mod body;
mod connect;
mod error;
mod gateway;
mod header_case;
mod send;
mod tls;

pub use gateway::NativeGateway;
pub use rustls_pki_types::CertificateDer;
