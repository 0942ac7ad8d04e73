//! Letting an interpreter know of a signal while it computes.
//!
//! A signal handler of Unix sets flags that the interpreter looks at between two steps. Nothing can run within a guest that
//! computes, so we set the flags ourselves. Which ones they are is found out when the memory is prepared: the interpreter's
//! own function is called once for each signal, and what it changes is noted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wasmtime::{Instance, Memory};

use crate::engine::Store;

/// Bits to set, for each signal.
#[derive(Debug, Default)]
pub(crate) struct Interrupts(Vec<(u32, Vec<(usize, u8)>)>);

impl Interrupts {
    /// Those that were noted beside an image; none where nothing was.
    pub(super) fn open(image: &Path) -> Self {
        let text = fs::read_to_string(beside(image)).unwrap_or_default();
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

    /// Sets the flags of a set of signals, of which bit *n* is signal *n*.
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

    /// Finds them out, and leaves the memory as it was but for the stack.
    pub(super) async fn learn(
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

    /// Notes them beside an image.
    pub(super) fn keep(&self, image: &Path) -> io::Result<()> {
        let lines = self
            .0
            .iter()
            .flat_map(|(signal, flags)| flags.iter().map(move |(at, bits)| format!("{signal} {at} {bits}\n")));
        fs::write(beside(image), lines.collect::<String>())
    }
}

fn beside(image: &Path) -> PathBuf {
    image.with_extension("signals")
}
