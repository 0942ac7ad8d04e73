//! Bytes of files that the host places.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock, Weak};

/// The bytes of a file that the host places, shared and never copied: part of the host program itself, so that the
/// userland costs no process more than the pages it touches, or on the heap.
#[derive(Clone)]
pub struct FileBytes(Place);

#[derive(Clone)]
enum Place {
    Program(&'static [u8]),
    Heap(Arc<[u8]>),
    Elsewhere(Arc<Elsewhere>),
}

/// Bytes that are brought when somebody reads them.
struct Elsewhere {
    len: usize,
    start: &'static [u8],
    bring: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
    here: OnceLock<Vec<u8>>,
}

impl Elsewhere {
    fn bytes(&self) -> &[u8] {
        self.here.get_or_init(|| {
            let mut bytes = (self.bring)();
            bytes.resize(self.len, 0);
            bytes
        })
    }
}

impl FileBytes {
    /// `len` bytes that begin with `start`, and that `bring` brings when more of them is read than that, for an embedder that
    /// keeps most programs of an image where they cost no memory. Starting a program looks at its first four bytes and no
    /// further here; the rest is the engine's business. What `bring` does not bring of them reads as zeros.
    #[must_use]
    pub fn elsewhere(len: usize, start: &'static [u8], bring: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Self {
        let bring = Box::new(bring);
        Self(Place::Elsewhere(Arc::new(Elsewhere { len, start, bring, here: OnceLock::new() })))
    }

    /// All from `offset` on, and at least `count` of them where there are as many; without bringing them when the known
    /// start suffices.
    pub(super) fn onwards(&self, offset: usize, count: usize) -> &[u8] {
        let known = match &self.0 {
            Place::Elsewhere(bytes) => bytes.start.get(offset..).filter(|known| known.len() >= count),
            Place::Program(_) | Place::Heap(_) => None,
        };
        known.unwrap_or_else(|| self.get(offset..).unwrap_or_default())
    }

    /// How many there are, known without bringing them.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks; the bytes themselves tell")]
    pub fn len(&self) -> usize {
        match &self.0 {
            Place::Program(bytes) => bytes.len(),
            Place::Heap(bytes) => bytes.len(),
            Place::Elsewhere(bytes) => bytes.len,
        }
    }

    /// Whether both are the same bytes in the same place.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.address() == other.address() && self.len() == other.len()
    }

    /// What tells these bytes from all others: where they, or the note of what they are, lie in the host's memory. As long
    /// as one of two clones is kept, no other bytes take this place.
    #[must_use]
    pub fn address(&self) -> usize {
        match &self.0 {
            Place::Program(bytes) => bytes.as_ptr().addr(),
            Place::Heap(bytes) => bytes.as_ptr().addr(),
            Place::Elsewhere(bytes) => Arc::as_ptr(bytes).addr(),
        }
    }

    /// Tells later whether these bytes are still shared by anybody, without keeping them.
    #[must_use]
    pub fn watch(&self) -> Watch {
        match &self.0 {
            Place::Program(_) => Watch(Watched::Always),
            Place::Heap(bytes) => Watch(Watched::Heap(Arc::downgrade(bytes))),
            Place::Elsewhere(bytes) => Watch(Watched::Elsewhere(Arc::downgrade(bytes))),
        }
    }
}

/// Watches bytes without keeping them alive. Their memory stays taken, so that their address stays theirs.
#[derive(Clone, Debug)]
pub struct Watch(Watched);

#[derive(Clone)]
enum Watched {
    Always,
    Heap(Weak<[u8]>),
    Elsewhere(Weak<Elsewhere>),
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Always => "Always",
            Self::Heap(_) => "Heap",
            Self::Elsewhere(_) => "Elsewhere",
        })
    }
}

impl Watch {
    /// Whether nobody has the bytes any more. What is part of the program never goes.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        match &self.0 {
            Watched::Always => false,
            Watched::Heap(bytes) => bytes.strong_count() == 0,
            Watched::Elsewhere(bytes) => bytes.strong_count() == 0,
        }
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Place::Program(bytes) => bytes,
            Place::Heap(bytes) => bytes,
            Place::Elsewhere(bytes) => bytes.bytes(),
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

    #[test]
    fn bytes_elsewhere_are_brought_once_and_only_when_read() {
        let brought = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counter = Arc::clone(&brought);
        let bytes = FileBytes::elsewhere(4, &[7, 7], move || {
            counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            vec![7; 3]
        });
        let (copy, watch) = (bytes.clone(), bytes.watch());
        assert!(bytes.len() == 4 && bytes.is_same(&copy));
        assert_eq!((bytes.onwards(0, 2), bytes.onwards(1, 1)), (&[7, 7][..], &[7][..]));
        assert_eq!(brought.load(std::sync::atomic::Ordering::Relaxed), 0);
        assert_eq!((bytes.onwards(1, 2), bytes.onwards(9, 1)), (&[7, 7, 0][..], &[][..]));
        assert_eq!((&bytes[..], &copy[..]), (&[7, 7, 7, 0][..], &[7, 7, 7, 0][..]));
        assert_eq!(brought.load(std::sync::atomic::Ordering::Relaxed), 1);
        drop((bytes, copy));
        assert!(watch.is_gone());
    }
}
