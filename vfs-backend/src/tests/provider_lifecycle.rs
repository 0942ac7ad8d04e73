//! Expiry, saving and restoring, with a clock and a store that the test controls.

mod concurrency;
mod environment;
mod expiry;
mod mounted;
mod saving;
