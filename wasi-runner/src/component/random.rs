//! Randomness from the kernel, for both the secure and the insecure interface.

use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};

use super::errors;
use super::host::Host;

/// Maximum random bytes per call: they are buffered on the host before they reach the guest.
pub(super) const MAX_RANDOM: u64 = 16 << 20;

impl Host {
    pub(super) fn random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        if len > MAX_RANDOM {
            return Err(wasmtime::format_err!(
                "cannot return {len} random bytes in one call: the maximum is {MAX_RANDOM}"
            ));
        }
        let mut bytes = vec![0; usize::try_from(len)?];
        self.handle.call(|kernel, pid| kernel.random(pid, &mut bytes)).map_err(errors::trap)?;
        Ok(bytes)
    }

    pub(super) fn random_u64(&mut self) -> wasmtime::Result<u64> {
        let mut bytes = [0; 8];
        self.handle.call(|kernel, pid| kernel.random(pid, &mut bytes)).map_err(errors::trap)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

impl random::Host for Host {
    fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(len)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.random_u64()
    }
}

impl insecure::Host for Host {
    fn get_insecure_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(len)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.random_u64()
    }
}

impl insecure_seed::Host for Host {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((self.random_u64()?, self.random_u64()?))
    }
}
