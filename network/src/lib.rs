//! Speaking to the hosts that a policy allows: [`NativeGateway`], the port of `tidebox_core::network` over this machine's
//! sockets.
//!
//! Everything that decides is in `tidebox_core::network`. Here a request that was checked is sent to an address that was
//! checked, over a connection of its own: nothing is looked up a second time, nothing is pooled, no proxy of the
//! environment is heeded, no redirect is followed.

#![forbid(unsafe_code)]

mod body;
mod connect;
mod error;
mod gateway;
mod send;
mod spelling;
mod trust;

pub use gateway::NativeGateway;
pub use rustls_pki_types::CertificateDer;
