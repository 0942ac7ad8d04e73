//! Bytes of files that the host installs.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock, Weak};

/// Bytes of a file that the host installs, shared and never copied: either a part of the host executable, so that the userland
/// costs each process only the pages it touches, or heap memory.
#[derive(Clone)]
pub struct FileBytes(Storage);

#[derive(Clone)]
enum Storage {
    Program(&'static [u8]),
    Heap(Arc<[u8]>),
    LazyBytes(Arc<LazyBytes>),
}

/// Bytes that are loaded on first read.
struct LazyBytes {
    len: usize,
    start: &'static [u8],
    sha256: Option<[u8; 32]>,
    load: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
    loaded: OnceLock<Vec<u8>>,
}

impl LazyBytes {
    fn bytes(&self) -> &[u8] {
        self.loaded.get_or_init(|| self.load())
    }

    fn load(&self) -> Vec<u8> {
        let mut bytes = (self.load)();
        bytes.resize(self.len, 0);
        bytes
    }
}

impl FileBytes {
    /// `len` bytes that begin with `start`; the rest is loaded by `load` on the first read beyond `start`. For an embedder that
    /// stores most programs of an image outside memory or compressed. The kernel reads only the first four bytes to start a
    /// program; the engine reads the rest. If `load` returns fewer bytes, the missing ones read as zeros.
    #[must_use]
    pub fn lazy(len: usize, start: &'static [u8], load: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::lazy_with_digest(len, start, None, load)
    }

    /// Like [`lazy`](Self::lazy), with the SHA-256 of all bytes if it is known. An engine can then find compiled code of these
    /// bytes without loading them.
    #[must_use]
    pub fn lazy_with_digest(
        len: usize,
        start: &'static [u8],
        sha256: impl Into<Option<[u8; 32]>>,
        load: impl Fn() -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let (sha256, load) = (sha256.into(), Box::new(load));
        Self(Storage::LazyBytes(Arc::new(LazyBytes { len, start, sha256, load, loaded: OnceLock::new() })))
    }

    /// Returns the SHA-256 of the bytes if the embedder gave one, without loading them.
    #[must_use]
    pub fn sha256(&self) -> Option<[u8; 32]> {
        match &self.0 {
            Storage::LazyBytes(bytes) => bytes.sha256,
            Storage::Program(_) | Storage::Heap(_) => None,
        }
    }

    /// Returns the first `count` bytes, or all of a shorter file; does not load the bytes if the known start suffices.
    #[must_use]
    pub fn prefix(&self, count: usize) -> &[u8] {
        let bytes = self.slice_from(0, count);
        bytes.get(..count).unwrap_or(bytes)
    }

    /// Returns all bytes. Lazy bytes that are not loaded yet are loaded for this call only and not kept, for a caller that needs
    /// them once.
    #[must_use]
    pub fn load_once(&self) -> Cow<'_, [u8]> {
        match &self.0 {
            Storage::LazyBytes(bytes) if bytes.loaded.get().is_none() => Cow::Owned(bytes.load()),
            _ => Cow::Borrowed(self),
        }
    }

    /// Returns all bytes starting at `offset`, and at least `count` of them if the file has as many; does not load the bytes if
    /// the known start suffices.
    pub(super) fn slice_from(&self, offset: usize, count: usize) -> &[u8] {
        let known = match &self.0 {
            Storage::LazyBytes(bytes) => bytes.start.get(offset..).filter(|known| known.len() >= count),
            Storage::Program(_) | Storage::Heap(_) => None,
        };
        known.unwrap_or_else(|| self.get(offset..).unwrap_or_default())
    }

    /// Returns the number of bytes, without loading them.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "identified by the bytes")]
    pub fn len(&self) -> usize {
        match &self.0 {
            Storage::Program(bytes) => bytes.len(),
            Storage::Heap(bytes) => bytes.len(),
            Storage::LazyBytes(bytes) => bytes.len,
        }
    }

    /// Returns whether both share the same memory.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.address() == other.address() && self.len() == other.len()
    }

    /// Returns the address in host memory, which identifies these bytes (or the lazy value that loads them). The address is not
    /// reused while any clone exists.
    #[must_use]
    pub fn address(&self) -> usize {
        match &self.0 {
            Storage::Program(bytes) => bytes.as_ptr().addr(),
            Storage::Heap(bytes) => bytes.as_ptr().addr(),
            Storage::LazyBytes(bytes) => Arc::as_ptr(bytes).addr(),
        }
    }

    /// Returns a weak reference that reports whether these bytes are still in use.
    #[must_use]
    pub fn downgrade(&self) -> WeakFileBytes {
        match &self.0 {
            Storage::Program(_) => WeakFileBytes(Watched::Always),
            Storage::Heap(bytes) => WeakFileBytes(Watched::Heap(Arc::downgrade(bytes))),
            Storage::LazyBytes(bytes) => WeakFileBytes(Watched::LazyBytes(Arc::downgrade(bytes))),
        }
    }
}

/// A weak reference to file bytes. The allocation stays reserved, so the address is not reused.
#[derive(Clone, Debug)]
pub struct WeakFileBytes(Watched);

#[derive(Clone)]
enum Watched {
    Always,
    Heap(Weak<[u8]>),
    LazyBytes(Weak<LazyBytes>),
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Always => "Always",
            Self::Heap(_) => "Heap",
            Self::LazyBytes(_) => "Elsewhere",
        })
    }
}

impl WeakFileBytes {
    /// Returns whether all strong references were dropped. Bytes of the host executable are never dropped.
    #[must_use]
    pub fn is_dropped(&self) -> bool {
        match &self.0 {
            Watched::Always => false,
            Watched::Heap(bytes) => bytes.strong_count() == 0,
            Watched::LazyBytes(bytes) => bytes.strong_count() == 0,
        }
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Storage::Program(bytes) => bytes,
            Storage::Heap(bytes) => bytes,
            Storage::LazyBytes(bytes) => bytes.bytes(),
        }
    }
}

impl From<&'static [u8]> for FileBytes {
    fn from(bytes: &'static [u8]) -> Self {
        Self(Storage::Program(bytes))
    }
}

impl<const N: usize> From<&'static [u8; N]> for FileBytes {
    fn from(bytes: &'static [u8; N]) -> Self {
        Self(Storage::Program(bytes))
    }
}

impl From<Arc<[u8]>> for FileBytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self(Storage::Heap(bytes))
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Storage::Heap(bytes.into()))
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
    fn static_bytes_are_not_copied() {
        static BYTES: [u8; 3] = [1, 2, 3];
        let placed = FileBytes::from(&BYTES);
        assert_eq!(placed.address(), BYTES.as_ptr().addr());
        assert!(placed.is_same(&placed.clone()));
        let watch = placed.downgrade();
        drop(placed);
        assert!(!watch.is_dropped());
    }

    #[test]
    fn heap_bytes_are_shared_and_freed_with_the_last_clone() {
        let first = FileBytes::from(vec![1, 2, 3]);
        let (second, watch) = (first.clone(), first.downgrade());
        assert!(first.is_same(&second) && !first.is_same(&FileBytes::from(vec![1, 2, 3])));
        drop(first);
        assert!(!watch.is_dropped());
        drop(second);
        assert!(watch.is_dropped());
    }

    #[test]
    fn lazy_bytes_are_loaded_once_on_first_read() {
        let brought = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counter = Arc::clone(&brought);
        let bytes = FileBytes::lazy(4, &[7, 7], move || {
            counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            vec![7; 3]
        });
        let (copy, watch) = (bytes.clone(), bytes.downgrade());
        assert!(bytes.len() == 4 && bytes.is_same(&copy));
        assert_eq!((bytes.slice_from(0, 2), bytes.slice_from(1, 1)), (&[7, 7][..], &[7][..]));
        assert_eq!(brought.load(std::sync::atomic::Ordering::Relaxed), 0);
        assert_eq!((bytes.slice_from(1, 2), bytes.slice_from(9, 1)), (&[7, 7, 0][..], &[][..]));
        assert_eq!((&bytes[..], &copy[..]), (&[7, 7, 7, 0][..], &[7, 7, 7, 0][..]));
        assert_eq!(brought.load(std::sync::atomic::Ordering::Relaxed), 1);
        drop((bytes, copy));
        assert!(watch.is_dropped());
    }
}
