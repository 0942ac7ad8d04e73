//! Random mutation of seeds.

/// A reproducible random number generator.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Creates a generator; the same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03)
    }

    /// Returns the next number of SplitMix64.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`, or 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.roll() >> 11).unwrap_or(0).checked_rem(limit).unwrap_or(0)
    }
}

/// Maximum length of an input in bytes.
const MAX_INPUT_BYTES: usize = 64 << 10;

/// Bytes with a meaning in some format.
const ODD: [u8; 16] = [0, 1, 0x7f, 0x80, 0xff, b'\n', b' ', b'/', b'.', b'"', b'\\', b'{', b'}', b'(', b')', b'$'];

/// Returns a new input: a mutated seed, or random bytes.
pub fn mutate(examples: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = examples.get(dice.below(examples.len())).cloned().unwrap_or_default();
    if dice.below(20) == 0 {
        bytes = (0..dice.below(400)).map(|_| dice.roll() as u8).collect();
    }
    for _ in 0..=dice.below(8) {
        change(&mut bytes, examples, dice);
    }
    bytes.truncate(MAX_INPUT_BYTES);
    bytes
}

fn change(bytes: &mut Vec<u8>, examples: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    let end = at + dice.below((bytes.len() - at).min(64) + 1);
    match dice.below(9) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = ODD[dice.below(ODD.len())];
            }
        }
        2 => bytes.insert(at, ODD[dice.below(ODD.len())]),
        3 => drop(bytes.drain(at..end)),
        4 => bytes.truncate(at),
        // Repeat a part, sometimes many times: nesting and counters grow this way.
        5 => {
            let part = bytes[at..end].to_vec();
            let times = if dice.below(16) == 0 { 1000 } else { dice.below(8) };
            let available = MAX_INPUT_BYTES.saturating_sub(bytes.len()) / part.len().max(1);
            drop(bytes.splice(at..at, part.repeat(times.min(available))));
        }
        // Overwrite a number.
        6 => {
            let number =
                [0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u64::MAX][dice.below(10)];
            let width = 1 << dice.below(4);
            for (slot, byte) in bytes.iter_mut().skip(at).zip(&number.to_le_bytes()[..width]) {
                *slot = *byte;
            }
        }
        7 => {
            let number = ["-1", "0", "9223372036854775807", "-9223372036854775808", "1e999", "99999999999999999999"];
            drop(bytes.splice(at..end, number[dice.below(number.len())].bytes()));
        }
        // Insert a part of another seed.
        _ => {
            let Some(other) = examples.get(dice.below(examples.len())) else { return };
            let from = dice.below(other.len() + 1);
            let to = from + dice.below((other.len() - from).min(256) + 1);
            drop(bytes.splice(at..end, other[from..to].iter().copied()));
        }
    }
}
