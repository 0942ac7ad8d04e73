//! Elliptic curves: P-256, P-384, P-521 and secp256k1 (SEC 2), Ed25519 (RFC 8032) and X25519 (RFC 7748). Keys are bytes: JavaScript has
//! the forms around them.

use ed25519_dalek::{Signer as _, SigningKey, Verifier as _, VerifyingKey};
use rand_core::OsRng;
use rquickjs::{Ctx, Object, Result};
use signature::hazmat::{PrehashSigner as _, PrehashVerifier as _};

use crate::values::{Region, array_of_bytes, define, optional_array};

/// Length of a key of the curves of Edwards and Montgomery in bytes.
const EDWARDS_LEN: usize = 32;

/// Verifies with a public key, a hash and a signature.
type Verify = fn(&[u8], &[u8], &[u8]) -> Option<bool>;

/// The operations of a curve. Each returns nothing if a key or a point is not valid.
struct Curve {
    /// Makes a private key.
    generate: fn() -> Vec<u8>,
    /// Returns the public key of a private one.
    public: fn(&[u8]) -> Option<Vec<u8>>,
    /// Returns a point of any form in the compressed or the long form.
    point: fn(&[u8], bool) -> Option<Vec<u8>>,
    /// Signs a hash with a private key. The signature has two numbers of equal length.
    sign: fn(&[u8], &[u8]) -> Option<Vec<u8>>,
    /// Verifies the signature of a hash with a public key.
    verify: Verify,
    /// Returns the shared secret of a private and a public key.
    shared: fn(&[u8], &[u8]) -> Option<Vec<u8>>,
}

/// Writes the operations by a library of RustCrypto, whose coordinates have `$len` bytes.
macro_rules! curve {
    ($library:ident, $len:literal) => {{
        use $library::ecdsa::{Signature, SigningKey, VerifyingKey};
        use $library::elliptic_curve::sec1::ToEncodedPoint as _;
        use $library::{PublicKey, SecretKey};
        Curve {
            generate: || SecretKey::random(&mut OsRng).to_bytes().to_vec(),
            public: |secret| {
                let key = SecretKey::from_slice(secret).ok()?;
                Some(key.public_key().to_encoded_point(false).as_bytes().to_vec())
            },
            point: |point, compressed| {
                let key = PublicKey::from_sec1_bytes(point).ok()?;
                Some(key.to_encoded_point(compressed).as_bytes().to_vec())
            },
            sign: |secret, hash| {
                let key = SigningKey::from_slice(secret).ok()?;
                let made: Signature = key.sign_prehash(&long_enough(hash, $len)).ok()?;
                Some(made.to_bytes().to_vec())
            },
            verify: |point, hash, given| {
                let key = VerifyingKey::from_sec1_bytes(point).ok()?;
                let Ok(given) = Signature::from_slice(given) else { return Some(false) };
                // Some libraries accept only the smaller of the two numbers that are valid.
                let given = given.normalize_s().unwrap_or(given);
                Some(key.verify_prehash(&long_enough(hash, $len), &given).is_ok())
            },
            shared: |secret, point| {
                let secret = SecretKey::from_slice(secret).ok()?;
                let point = PublicKey::from_sec1_bytes(point).ok()?;
                let made = $library::ecdh::diffie_hellman(secret.to_nonzero_scalar(), point.as_affine());
                Some(made.raw_secret_bytes().to_vec())
            },
        }
    }};
}

static P256: Curve = curve!(p256, 32);
static P384: Curve = curve!(p384, 48);
static P521: Curve = curve!(p521, 66);
static K256: Curve = curve!(k256, 32);

static ED25519: Curve = Curve {
    generate: Vec::new,
    public: |secret| Some(SigningKey::from_bytes(&fixed(secret)?).verifying_key().to_bytes().to_vec()),
    point: |point, _| Some(fixed(point)?.to_vec()),
    sign: |secret, data| Some(SigningKey::from_bytes(&fixed(secret)?).sign(data).to_bytes().to_vec()),
    verify: |point, data, given| {
        let Ok(key) = VerifyingKey::from_bytes(&fixed(point)?) else { return Some(false) };
        let given = ed25519_dalek::Signature::from_slice(given);
        Some(given.is_ok_and(|given| key.verify(data, &given).is_ok()))
    },
    shared: |_, _| None,
};

static X25519: Curve = Curve {
    generate: Vec::new,
    public: |secret| Some(x25519_dalek::x25519(fixed(secret)?, x25519_dalek::X25519_BASEPOINT_BYTES).to_vec()),
    point: |point, _| Some(fixed(point)?.to_vec()),
    sign: |_, _| None,
    verify: |_, _, _| None,
    // A point of small order would make a secret of zeros, which RFC 7748 rejects.
    shared: |secret, point| {
        let made = x25519_dalek::x25519(fixed(secret)?, fixed(point)?);
        made.iter().any(|byte| *byte != 0).then(|| made.to_vec())
    },
};

fn fixed(bytes: &[u8]) -> Option<[u8; EDWARDS_LEN]> {
    bytes.try_into().ok()
}

/// Puts zeros in front of a hash that is shorter than a coordinate: the libraries reject hashes of less than a half.
fn long_enough(hash: &[u8], len: usize) -> Vec<u8> {
    let mut out = vec![0; len.saturating_sub(hash.len())];
    out.extend_from_slice(hash);
    out
}

/// Finds a curve by the name that OpenSSL has for it.
fn curve(name: &str) -> Option<&'static Curve> {
    Some(match name {
        "prime256v1" => &P256,
        "secp384r1" => &P384,
        "secp521r1" => &P521,
        "secp256k1" => &K256,
        "ed25519" => &ED25519,
        "x25519" => &X25519,
        _ => return None,
    })
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "curveNew" => |ctx: Ctx<'js>, name: String| {
            array_of_bytes(&ctx, &curve(&name).map(|curve| (curve.generate)()).unwrap_or_default())
        },
        "curvePublic" => |ctx: Ctx<'js>, name: String, secret: Region<'js>| {
            optional_array(&ctx, curve(&name).and_then(|curve| (curve.public)(secret.bytes())))
        },
        "curvePoint" => |ctx: Ctx<'js>, name: String, point: Region<'js>, compressed: bool| {
            optional_array(&ctx, curve(&name).and_then(|curve| (curve.point)(point.bytes(), compressed)))
        },
        "curveSign" => |ctx: Ctx<'js>, name: String, secret: Region<'js>, data: Region<'js>| {
            optional_array(&ctx, curve(&name).and_then(|curve| (curve.sign)(secret.bytes(), data.bytes())))
        },
        "curveVerify" => |name: String, point: Region<'js>, data: Region<'js>, given: Region<'js>| {
            curve(&name).and_then(|curve| (curve.verify)(point.bytes(), data.bytes(), given.bytes()))
        },
        "curveShared" => |ctx: Ctx<'js>, name: String, secret: Region<'js>, point: Region<'js>| {
            optional_array(&ctx, curve(&name).and_then(|curve| (curve.shared)(secret.bytes(), point.bytes())))
        },
    );
    Ok(())
}
