//! Signal delivery to an interpreter while it computes.
//!
//! A Unix signal handler sets flags that the interpreter checks between two steps. A handler cannot run within a guest
//! that computes, so the host sets the flags directly. They are detected when the image is created: the interpreter's
//! own function is called once per signal, and the bytes that it changes are recorded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wasmtime::{Instance, Memory};

use crate::engine::Store;

/// For each signal, the addresses and bits to set.
#[derive(Debug, Default)]
pub(crate) struct SignalFlags(Vec<(u32, Vec<(usize, u8)>)>);

impl SignalFlags {
    /// Loads the flags recorded for an image; empty if none were recorded.
    pub(super) fn open(image: &Path) -> Self {
        let text = fs::read_to_string(sidecar_path(image)).unwrap_or_default();
        let mut found = Self::default();
        for line in text.lines() {
            let mut numbers = line.split(' ').map(str::parse::<usize>);
            let (Some(Ok(signal)), Some(Ok(at)), Some(Ok(bits))) = (numbers.next(), numbers.next(), numbers.next())
            else {
                continue;
            };
            let (Ok(signal), Ok(bits)) = (u32::try_from(signal), u8::try_from(bits)) else { continue };
            match found.0.last_mut().filter(|(last, _)| *last == signal) {
                Some((_, flags)) => flags.push((at, bits)),
                None => found.0.push((signal, vec![(at, bits)])),
            }
        }
        found
    }

    /// Sets the flags of the pending signals. Bit *n* is signal *n*.
    pub(crate) fn set(&self, memory: &mut [u8], signals: u64) {
        for (signal, flags) in &self.0 {
            if signals >> signal & 1 == 0 {
                continue;
            }
            for (at, bits) in flags {
                if let Some(byte) = memory.get_mut(*at) {
                    *byte |= bits;
                }
            }
        }
    }

    /// Detects the flags. Restores the memory except for the stack.
    pub(super) async fn detect(
        store: &mut Store,
        instance: Instance,
        memory: Memory,
        function: &str,
        signals: &[u32],
        stack_bytes: usize,
    ) -> wasmtime::Result<Self> {
        let function = instance.get_typed_func::<u32, i32>(&mut *store, function)?;
        let before = memory.data(&*store).to_vec();
        let mut found = Self::default();
        for signal in signals {
            function.call_async(&mut *store, *signal).await?;
            let now = memory.data_mut(&mut *store);
            let mut flags = Vec::new();
            for (at, (now, before)) in now.iter_mut().zip(&before).enumerate().skip(stack_bytes) {
                if now != before {
                    flags.push((at, *now & !before));
                    *now = *before;
                }
            }
            found.0.push((*signal, flags));
        }
        Ok(found)
    }

    /// Saves the flags next to an image.
    pub(super) fn save(&self, image: &Path) -> io::Result<()> {
        let lines = self
            .0
            .iter()
            .flat_map(|(signal, flags)| flags.iter().map(move |(at, bits)| format!("{signal} {at} {bits}\n")));
        fs::write(sidecar_path(image), lines.collect::<String>())
    }
}

fn sidecar_path(image: &Path) -> PathBuf {
    image.with_extension("signals")
}
