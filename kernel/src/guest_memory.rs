//! Access to the linear memory of a guest.

/// A guest passed a range outside its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFault;

/// Linear memory of a guest. Addresses and lengths come from the guest unchecked, so implementations must not overflow on `at +
/// len`.
pub trait GuestMemory {
    /// Copies from the guest. Fails without a partial copy if the range is outside.
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), MemoryFault>;

    /// Copies to the guest. Fails without a partial copy if the range is outside.
    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), MemoryFault>;

    /// Returns the range as a slice, if the engine supports it. Also `None` if the range is outside; the caller then copies,
    /// which reports the fault.
    fn slice(&self, at: u32, len: u32) -> Option<&[u8]> {
        let _ = (at, len);
        None
    }

    /// Returns the range as a mutable slice. As [`slice`](Self::slice).
    fn slice_mut(&mut self, at: u32, len: u32) -> Option<&mut [u8]> {
        let _ = (at, len);
        None
    }
}
