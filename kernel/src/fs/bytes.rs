//! Bytes of files that the host places.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Weak};

/// The bytes of a file that the host places, shared and never copied: part of the host program itself, so that the
/// userland costs no process more than the pages it touches, or on the heap.
#[derive(Clone)]
pub struct FileBytes(Place);

#[derive(Clone)]
enum Place {
    Program(&'static [u8]),
    Heap(Arc<[u8]>),
}

impl FileBytes {
    /// Whether both are the same bytes in the same place.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.address() == other.address() && self.len() == other.len()
    }

    /// Where the bytes are in the host's memory. As long as one of two clones is kept, no other bytes take this place.
    #[must_use]
    pub fn address(&self) -> usize {
        self.as_ptr().addr()
    }

    /// Tells later whether these bytes are still shared by anybody, without keeping them.
    #[must_use]
    pub fn watch(&self) -> Watch {
        match &self.0 {
            Place::Program(_) => Watch(None),
            Place::Heap(bytes) => Watch(Some(Arc::downgrade(bytes))),
        }
    }
}

/// Watches bytes without keeping them alive. Their memory stays taken, so that their address stays theirs.
#[derive(Clone, Debug)]
pub struct Watch(Option<Weak<[u8]>>);

impl Watch {
    /// Whether nobody has the bytes any more. What is part of the program never goes.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.0.as_ref().is_some_and(|bytes| bytes.strong_count() == 0)
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Place::Program(bytes) => bytes,
            Place::Heap(bytes) => bytes,
        }
    }
}

impl From<&'static [u8]> for FileBytes {
    fn from(bytes: &'static [u8]) -> Self {
        Self(Place::Program(bytes))
    }
}

impl<const N: usize> From<&'static [u8; N]> for FileBytes {
    fn from(bytes: &'static [u8; N]) -> Self {
        Self(Place::Program(bytes))
    }
}

impl From<Arc<[u8]>> for FileBytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self(Place::Heap(bytes))
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Place::Heap(bytes.into()))
    }
}

impl fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileBytes({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_program_are_not_copied() {
        static BYTES: [u8; 3] = [1, 2, 3];
        let placed = FileBytes::from(&BYTES);
        assert_eq!(placed.address(), BYTES.as_ptr().addr());
        assert!(placed.is_same(&placed.clone()));
        let watch = placed.watch();
        drop(placed);
        assert!(!watch.is_gone());
    }

    #[test]
    fn bytes_on_the_heap_are_shared_by_clones_and_gone_after_the_last() {
        let first = FileBytes::from(vec![1, 2, 3]);
        let (second, watch) = (first.clone(), first.watch());
        assert!(first.is_same(&second) && !first.is_same(&FileBytes::from(vec![1, 2, 3])));
        drop(first);
        assert!(!watch.is_gone());
        drop(second);
        assert!(watch.is_gone());
    }
}
