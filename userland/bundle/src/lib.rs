//! The guest programs of the userland, compressed, for the host to install into a sandbox.
//!
//! `cargo xtask userland` builds and compresses the modules, `userland/tools.toml` lists the commands of each, and this
//! package embeds both into the host binary, so that a sandbox needs no host file at run time.

use std::io::Read as _;

use brotli_decompressor::Decompressor;

/// Bytes read from the compressed stream at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// One WebAssembly module and the commands it provides.
#[derive(Clone, Copy)]
pub struct Module {
    /// File name, for example `coreutils.wasm`. Installed under `/bin`.
    pub name: &'static str,
    /// Size of the module in bytes.
    pub len: usize,
    /// The first eight bytes of the module.
    pub prefix: &'static [u8],
    /// SHA-256 of the module.
    pub sha256: [u8; 32],
    /// The names under which the module is started; it selects the command by its first argument.
    pub commands: &'static [&'static str],
    /// The module as a Brotli stream.
    compressed: &'static [u8],
}

impl Module {
    /// Decompresses the module. Every call does so again; the caller keeps the result if it needs it twice.
    #[must_use]
    pub fn decompress(&self) -> Vec<u8> {
        let mut wasm = Vec::with_capacity(self.len);
        // The stream is part of this binary: a failure would be a build error, which the tests of this package report.
        let _ = Decompressor::new(self.compressed, BUFFER_BYTES).read_to_end(&mut wasm);
        wasm
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module")
            .field("name", &self.name)
            .field("wasm_bytes", &self.len)
            .field("compressed_bytes", &self.compressed.len())
            .field("commands", &self.commands)
            .finish()
    }
}

/// All modules of the userland, in the order of `userland/tools.toml`.
pub static MODULES: &[Module] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sha2::{Digest as _, Sha256};

    use super::MODULES;

    #[test]
    fn every_module_decompresses_to_its_wasm_module() {
        assert!(!MODULES.is_empty());
        for module in MODULES {
            let wasm = module.decompress();
            assert_eq!(wasm.len(), module.len, "{module:?}");
            assert!(wasm.starts_with(b"\0asm\x01\0\0\0") && wasm.starts_with(module.prefix), "{module:?}");
            let digest: [u8; 32] = Sha256::digest(&wasm).into();
            assert_eq!(digest, module.sha256, "{module:?}");
        }
    }

    #[test]
    fn every_command_has_one_module() {
        let mut seen = BTreeSet::new();
        for module in MODULES {
            for command in module.commands {
                assert!(seen.insert(*command), "{command} is provided twice, the second time by {}", module.name);
            }
        }
        assert!(seen.contains("sh"), "there is no shell among {seen:?}");
    }

    #[test]
    fn commands_page_lists_exactly_the_provided_commands() {
        let page = include_str!("../../../docs/commands.md");
        let tables = page.lines().filter(|line| line.starts_with("| "));
        let names =
            tables.filter_map(|line| line.split('|').nth(1)).flat_map(|cell| cell.split('`').skip(1).step_by(2));
        let listed: BTreeSet<&str> = names.flat_map(str::split_whitespace).collect();
        let provided: BTreeSet<&str> = MODULES.iter().flat_map(|module| module.commands).copied().collect();
        assert_eq!(listed, provided);
    }
}
