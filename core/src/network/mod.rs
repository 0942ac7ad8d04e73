//! Network policy of sandboxes and the execution of every request.
//!
//! Disabled by default: a sandbox without a [`NetworkPolicy`] has no network. With a policy, every request passes
//! [`Network::begin`], which is written once over the port [`HttpGateway`]: it checks the policy, resolves the name, checks the
//! addresses, adds credentials, counts bytes and writes the [`NetworkLog`]. A gateway only connects to a given address and
//! transfers bytes.
//!
//! Redirects are not followed here. A client that follows them (`curl -L`) sends another request, which is checked, charged and
//! logged like the first, so a redirect can reach only what a request can.

mod address;
mod denied;
mod exchange;
mod gateway;
mod git_rule;
mod header;
mod host;
mod limits;
mod log;
mod mask;
mod policy;
mod target;
#[cfg(test)]
mod tests;
mod usage;

pub use address::is_public;
pub use denied::{DenyReason, RequestDenied};
pub use exchange::{Exchange, Network, NetworkClock, NetworkError, NetworkRequest};
pub use gateway::{Body, GatewayError, GatewayErrorKind, GatewayReply, GatewayRequest, HttpGateway, Timings};
pub use host::HostPattern;
pub use limits::NetworkLimits;
pub use log::{NetworkEvent, NetworkLog, RequestOutcome};
pub use policy::{AllowRule, HeaderInjection, NetworkPolicy, Permit};
pub use target::{Host, Scheme, Target};
