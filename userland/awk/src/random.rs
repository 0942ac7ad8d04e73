//! The numbers of `rand()`: the additive generator of BSD, shuffled, so that a seed gives the same numbers as GNU awk.

/// Lag of the generator.
const DEGREE: usize = 63;

/// Distance of the two values that are added.
const APART: usize = 1;

const SHUFFLED: usize = 512;

#[derive(Debug)]
pub(crate) struct Random {
    state: [u32; DEGREE],
    front: usize,
    rear: usize,
    shuffled: Vec<u32>,
    last: usize,
    pub(crate) seed: f64,
}

impl Random {
    /// The initial state, before the first `srand`.
    pub(crate) fn new() -> Self {
        let mut random = Self { state: [0; DEGREE], front: 0, rear: 0, shuffled: Vec::new(), last: 0, seed: 1.0 };
        random.start(1);
        random
    }

    pub(crate) fn start(&mut self, seed: u32) {
        let mut value = seed;
        for place in &mut self.state {
            *place = value;
            value = successor(value);
        }
        (self.front, self.rear) = (APART, 0);
        self.shuffled.clear();
        for _ in 0..10 * DEGREE {
            self.next();
        }
    }

    fn plain(&mut self) -> u32 {
        let rear = self.state[self.rear];
        let front = &mut self.state[self.front];
        *front = front.wrapping_add(rear);
        let value = *front >> 1;
        self.front = (self.front + 1) % DEGREE;
        self.rear = (self.rear + 1) % DEGREE;
        value
    }

    fn next(&mut self) -> u32 {
        if self.shuffled.is_empty() {
            self.shuffled = (0..SHUFFLED).map(|_| self.plain()).collect();
            self.last = self.plain() as usize;
        }
        let new = self.plain();
        let value = std::mem::replace(&mut self.shuffled[self.last % SHUFFLED], new);
        self.last = value as usize;
        value
    }

    /// A number in `[0, 1)`.
    pub(crate) fn fraction(&mut self) -> f64 {
        const DIVISOR: f64 = 2_147_483_648.0;
        loop {
            let (first, second) = (f64::from(self.next()), f64::from(self.next()));
            let value = 0.5 + (first / DIVISOR + second) / DIVISOR - 0.5;
            if value != 1.0 {
                return value;
            }
        }
    }
}

/// The generator of Park and Miller.
fn successor(value: u32) -> u32 {
    let value = if value == 0 { 123_459_876 } else { value as i32 };
    let (high, low) = (value / 127_773, value % 127_773);
    let next = 16_807 * low - 2_836 * high;
    if next < 0 { next.wrapping_add(i32::MAX) as u32 } else { next as u32 }
}
