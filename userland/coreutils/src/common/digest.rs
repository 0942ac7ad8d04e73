//! Digest algorithms.

use digest::DynDigest;
use tidebox_gnu::stream::Input;
use tidebox_rt::Errno;

/// Digest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA-512/224.
    Sha512_224,
    /// SHA-512/256.
    Sha512_256,
    /// BLAKE2b with that many bits.
    Blake2b(usize),
    /// SM3.
    Sm3,
}

impl Algorithm {
    /// Algorithms of tagged lines.
    pub(crate) const NAMED: &[Self] =
        &[Self::Md5, Self::Sha1, Self::Sha224, Self::Sha256, Self::Sha384, Self::Sha512, Self::Blake2b(512), Self::Sm3];

    /// Algorithms of `shasum` with different digest lengths.
    pub(crate) const SHA: &[Self] = &[Self::Sha1, Self::Sha224, Self::Sha256, Self::Sha384, Self::Sha512];

    /// Returns the algorithm of a tool.
    pub(crate) fn of_tool(tool: &str) -> Self {
        match tool {
            "md5sum" => Self::Md5,
            "sha1sum" => Self::Sha1,
            "sha224sum" => Self::Sha224,
            "sha256sum" => Self::Sha256,
            "sha384sum" => Self::Sha384,
            "sha512sum" => Self::Sha512,
            _ => Self::Blake2b(512),
        }
    }

    /// Name of the algorithm.
    pub fn name(self) -> &'static str {
        match self {
            Self::Md5 => "MD5",
            Self::Sha1 => "SHA1",
            Self::Sha224 => "SHA224",
            Self::Sha256 => "SHA256",
            Self::Sha384 => "SHA384",
            Self::Sha512 => "SHA512",
            Self::Sha512_224 => "SHA512/224",
            Self::Sha512_256 => "SHA512/256",
            Self::Blake2b(_) => "BLAKE2b",
            Self::Sm3 => "SM3",
        }
    }

    pub(crate) fn bits(self) -> usize {
        match self {
            Self::Md5 => 128,
            Self::Sha1 => 160,
            Self::Sha224 | Self::Sha512_224 => 224,
            Self::Sha256 | Self::Sha512_256 | Self::Sm3 => 256,
            Self::Sha384 => 384,
            Self::Sha512 => 512,
            Self::Blake2b(bits) => bits,
        }
    }

    fn hasher(self) -> Hasher {
        Hasher::Any(match self {
            Self::Md5 => Box::new(md5::Md5::default()),
            Self::Sha1 => Box::new(sha1::Sha1::default()),
            Self::Sha224 => Box::new(sha2::Sha224::default()),
            Self::Sha256 => Box::new(sha2::Sha256::default()),
            Self::Sm3 => Box::new(sm3::Sm3::default()),
            Self::Sha384 => Box::new(sha2::Sha384::default()),
            Self::Sha512 => Box::new(sha2::Sha512::default()),
            Self::Sha512_224 => Box::new(sha2::Sha512_224::default()),
            Self::Sha512_256 => Box::new(sha2::Sha512_256::default()),
            Self::Blake2b(bits) => {
                let state = blake2b_simd::Params::new().hash_length((bits / 8).clamp(1, 64)).to_state();
                return Hasher::Blake2b(Box::new(state));
            }
        })
    }

    /// Returns the digest of the rest of a file, in hexadecimal digits.
    pub fn sum(self, input: &mut Input) -> Result<String, Errno> {
        let mut hasher = self.hasher();
        loop {
            let chunk = input.chunk()?;
            if chunk.is_empty() {
                return Ok(hasher.finish());
            }
            hasher.update(chunk);
            let count = chunk.len();
            input.consume(count);
        }
    }
}

/// Incremental digest.
enum Hasher {
    Any(Box<dyn DynDigest>),
    Blake2b(Box<blake2b_simd::State>),
}

impl Hasher {
    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Any(digest) => digest.update(bytes),
            Self::Blake2b(state) => {
                state.update(bytes);
            }
        }
    }

    fn finish(self) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match self {
            Self::Any(digest) => hex(&digest.finalize()),
            Self::Blake2b(state) => hex(state.finalize().as_bytes()),
        }
    }
}
