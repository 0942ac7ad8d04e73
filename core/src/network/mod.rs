//! Which hosts programs in a sandbox may speak to, and the way every request goes.
//!
//! Off by default: a sandbox without a [`NetworkPolicy`] has no network at all. With one, a request passes
//! [`Network::begin`], which is written once over the port [`HttpGateway`]: the policy is asked, the name is resolved, the
//! addresses are checked, credentials are added, bytes are counted, and the [`NetworkLog`] is written. A gateway only
//! connects to an address that it is given and moves bytes.
//!
//! Nothing here follows redirects. A client that does (`curl -L`) sends another request, which is checked, charged and
//! logged like the first, so a redirect can reach nothing that a request could not.

mod account;
mod address;
mod exchange;
mod gateway;
mod header;
mod host;
mod limits;
mod log;
mod policy;
mod refusal;
mod scrub;
mod target;
#[cfg(test)]
mod tests;

pub use address::is_public;
pub use exchange::{Exchange, Failure, Network, NetworkClock, NetworkRequest};
pub use gateway::{Body, GatewayError, GatewayErrorKind, GatewayReply, GatewayRequest, HttpGateway, Timings};
pub use host::HostPattern;
pub use limits::NetworkLimits;
pub use log::{Decision, NetworkEvent, NetworkLog};
pub use policy::{AllowRule, Injection, NetworkPolicy, Permit};
pub use refusal::{Refusal, RefusalKind};
pub use target::{Host, Scheme, Target};
