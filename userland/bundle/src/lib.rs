//! The guest programs of the userland as bytes, for the host to install into a sandbox.
//!
//! `cargo xtask userland` builds the modules, `userland/tools.toml` says which commands each of them provides, and this
//! package brings both into the host binary, so that a sandbox needs no file of the host at run time.

/// One WebAssembly module and the commands it provides.
#[derive(Clone, Copy)]
pub struct Module {
    /// Name of its file, for example `coreutils.wasm`. Installed under `/bin`.
    pub name: &'static str,
    /// The module.
    pub wasm: &'static [u8],
    /// The names under which it is started; it decides by its first argument what to do.
    pub commands: &'static [&'static str],
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module")
            .field("name", &self.name)
            .field("wasm_bytes", &self.wasm.len())
            .field("commands", &self.commands)
            .finish()
    }
}

/// Every module of the userland, in the order of `userland/tools.toml`.
pub static MODULES: &[Module] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::MODULES;

    #[test]
    fn every_module_is_a_wasm_module() {
        assert!(!MODULES.is_empty());
        for module in MODULES {
            assert!(module.wasm.starts_with(b"\0asm\x01\0\0\0"), "{module:?}");
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
    fn the_page_on_commands_lists_what_is_there_and_nothing_else() {
        let page = include_str!("../../../docs/commands.md");
        let tables = page.lines().filter(|line| line.starts_with("| "));
        let listed: BTreeSet<&str> =
            tables.flat_map(|line| line.split('`').skip(1).step_by(2)).flat_map(str::split_whitespace).collect();
        let provided: BTreeSet<&str> = MODULES.iter().flat_map(|module| module.commands).copied().collect();
        assert_eq!(listed, provided);
    }
}
