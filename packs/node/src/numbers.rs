//! Large numbers: powers, and prime numbers. Numbers are big-endian bytes.

use num_bigint_dig::prime::probably_prime;
use num_bigint_dig::{BigUint, RandBigInt as _};
use num_traits::{One as _, ToPrimitive as _, Zero as _};
use rand_core::OsRng;
use rquickjs::{Ctx, Object, Result};

use crate::values::{Region, array_of_bytes, define, optional_array};

/// Rounds of the test of Miller and Rabin. The chance of an error is below 4^-20.
const ROUNDS: usize = 20;

/// Candidates above this are tested by division first.
const SMALL_BITS: usize = 24;

/// Divisors of that test are below this.
const MAX_DIVISOR: u32 = 4096;

/// Candidates after which another number is drawn.
const STEPS: u32 = 1 << 20;

/// The prime numbers that are made.
struct Search {
    bits: usize,
    /// True if half of the number must be prime too.
    safe: bool,
    /// Differences of the candidates.
    step: BigUint,
    /// Rest of a candidate after division by `step`.
    rest: BigUint,
    /// True if the caller chose `step`.
    is_given: bool,
}

impl Search {
    fn accepts(&self, candidate: &BigUint) -> bool {
        candidate.bits() == self.bits
            && probably_prime(candidate, ROUNDS)
            && (!self.safe || probably_prime(&(candidate >> 1), ROUNDS))
    }

    /// Tests the candidates that follow a random number.
    fn run(&self, divisors: &[u32]) -> Option<BigUint> {
        // Two bits are set, so that a product of two such numbers has all its bits. A rest that the caller chose may not have both.
        let leading = if self.bits > 2 && !self.is_given { 2 } else { 1 };
        let top = BigUint::from((1_u32 << leading) - 1) << (self.bits - leading);
        let mut first = OsRng.gen_biguint(self.bits) | top;
        first = &first - (&first % &self.step) + &self.rest;
        let small = |number: &BigUint, divisor: u32| (number % divisor).to_u32().unwrap_or(0);
        let rests: Vec<(u32, u32, u32)> =
            divisors.iter().map(|&divisor| (divisor, small(&first, divisor), small(&self.step, divisor))).collect();
        let sieve = self.bits > SMALL_BITS;
        for at in 0..STEPS {
            let divides = |&(divisor, rest, step): &(u32, u32, u32)| {
                let rest = (u64::from(rest) + u64::from(step) * u64::from(at)) % u64::from(divisor);
                rest == 0 || (self.safe && rest == 1 && divisor > 2)
            };
            if sieve && rests.iter().any(divides) {
                continue;
            }
            let candidate = &first + &self.step * at;
            if candidate.bits() > self.bits {
                return None;
            }
            if self.accepts(&candidate) {
                return Some(candidate);
            }
        }
        None
    }
}

fn small_primes() -> Vec<u32> {
    (2..MAX_DIVISOR)
        .filter(|number| (2..).take_while(|divisor| divisor * divisor <= *number).all(|divisor| number % divisor != 0))
        .collect()
}

/// Makes a prime number. Without such numbers it searches until the process is ended.
fn generate(bits: usize, safe: bool, step: &[u8], rest: &[u8]) -> Option<BigUint> {
    let given = BigUint::from_bytes_be(step);
    // Without these, no safe number has two leading bits.
    let has_safe = bits == 3 || bits > 5;
    if bits < 2 || (safe && !has_safe && given.is_zero()) {
        return None;
    }
    let is_given = !given.is_zero();
    let (step, rest) = if is_given {
        let rest = if rest.is_empty() { BigUint::one() } else { BigUint::from_bytes_be(rest) };
        (given, rest)
    } else if bits <= SMALL_BITS {
        (BigUint::one(), BigUint::zero())
    } else if safe {
        (BigUint::from(4_u32), BigUint::from(3_u32))
    } else {
        (BigUint::from(2_u32), BigUint::one())
    };
    let search = Search { bits, safe, step, rest, is_given };
    let divisors = small_primes();
    loop {
        if let Some(found) = search.run(&divisors) {
            return Some(found);
        }
    }
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "modPow" => |ctx: Ctx<'js>, base: Region<'js>, exponent: Region<'js>, modulus: Region<'js>| {
            let modulus = BigUint::from_bytes_be(modulus.bytes());
            // The power modulo nothing is not defined.
            let power = if modulus.is_zero() {
                BigUint::zero()
            } else {
                BigUint::from_bytes_be(base.bytes()).modpow(&BigUint::from_bytes_be(exponent.bytes()), &modulus)
            };
            array_of_bytes(&ctx, &power.to_bytes_be())
        },
        "primeCheck" => |candidate: Region<'js>| {
            let candidate = BigUint::from_bytes_be(candidate.bytes());
            candidate > BigUint::one() && probably_prime(&candidate, ROUNDS)
        },
        "primeNew" => |ctx: Ctx<'js>, bits: usize, safe: bool, step: Region<'js>, rest: Region<'js>| {
            let made = generate(bits, safe, step.bytes(), rest.bytes());
            optional_array(&ctx, made.map(|number| number.to_bytes_be()))
        },
    );
    Ok(())
}
