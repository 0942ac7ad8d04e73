//! Time to live, saving and coming back, by a clock and a store that the test holds.

mod expiry;
mod mounted;
mod saving;
mod together;
mod world;
