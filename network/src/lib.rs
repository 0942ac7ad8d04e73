//! Speaking to the hosts that a policy allows.

#![forbid(unsafe_code)]
