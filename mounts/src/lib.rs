//! Folders of the host and foreign file systems inside a sandbox.

#![forbid(unsafe_code)]

mod seed_folder;

pub use seed_folder::SeedFolder;
