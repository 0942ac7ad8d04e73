//! Optimal line breaks of a paragraph.
//!
//! The cost of a line grows with its distance from the goal width and from the length of the next line. A break costs
//! less after a sentence, after punctuation and before a parenthesis. It costs more if it isolates one word.

/// Maximum and goal width in columns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measure {
    pub(crate) max: usize,
    pub(crate) goal: usize,
}

/// Text of one word, with the blanks after it.
#[derive(Clone, Debug)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a [u8],
    /// Number of blanks that follow.
    pub(crate) space: usize,
    opens: bool,
    period: bool,
    punctuation: bool,
    /// A sentence ends here.
    pub(crate) ends: bool,
}

impl<'a> Word<'a> {
    /// Creates one word. `last` is true at the end of a line, `uniform` if `--uniform-spacing` replaces the blanks.
    pub(crate) fn new(text: &'a [u8], space: usize, last: bool, uniform: bool) -> Self {
        let closes = |byte: &u8| b")]'\"".contains(byte);
        let core = text.iter().rposition(|byte| !closes(byte)).map_or(0, |at| at + 1);
        let period = text.get(..core).and_then(<[u8]>::last).is_some_and(|byte| b".?!".contains(byte));
        let ends = period && (last || space > 1);
        Self {
            text,
            space: if last || uniform { if ends { 2 } else { 1 } } else { space },
            opens: text.first().is_some_and(|byte| b"(['`\"".contains(byte)),
            period,
            punctuation: text.last().is_some_and(u8::is_ascii_punctuation),
            ends,
        }
    }
}

const fn squared(n: i64) -> i64 {
    n * n
}

const LINE: i64 = squared(70);
const WIDOW: i64 = squared(200);
const ORPHAN: i64 = squared(150);
const SENTENCE: i64 = squared(50);
const NO_BREAK: i64 = squared(600);
const OPENING: i64 = squared(40);
const PUNCTUATION: i64 = squared(40);

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX >> 16).min(1 << 20)
}

/// Cost of a line that differs from the goal by `n` columns.
fn short(n: i64) -> i64 {
    squared(n * 10)
}

/// Cost of adjacent lines whose lengths differ by `n` columns.
fn ragged(n: i64) -> i64 {
    short(n) / 2
}

/// Cheapest layout that starts at one word.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    cost: i64,
    next: usize,
    length: usize,
}

/// Returns the end of each line, as an index into `words`. `first` and `other` are the indents of the first and the other lines.
pub(crate) fn lines(words: &[Word<'_>], measure: Measure, first: usize, other: usize) -> Vec<usize> {
    let count = words.len();
    let mut best = vec![Best::default(); count + 1];
    for start in (0..count).rev() {
        let mut length = if start == 0 { first } else { other };
        let mut chosen = Best { cost: i64::MAX, next: start + 1, length };
        let mut at = start;
        while let Some(word) = words.get(at) {
            length += word.text.len();
            at += 1;
            let next = best.get(at).copied().unwrap_or_default();
            let cost = line_cost(at, length, &next, count, measure) + next.cost;
            if cost < chosen.cost {
                chosen = Best { cost, next: at, length };
            }
            length += word.space;
            let follows = words.get(at).map_or(0, |next| next.text.len());
            if at == count || length + follows >= measure.max {
                break;
            }
        }
        chosen.cost = chosen.cost.saturating_add(base_cost(words, start));
        if let Some(slot) = best.get_mut(start) {
            *slot = chosen;
        }
    }
    let mut ends = Vec::new();
    let mut at = 0;
    while at < count {
        at = best.get(at).map_or(count, |best| best.next).max(at + 1);
        ends.push(at);
    }
    ends
}

fn line_cost(next: usize, length: usize, after: &Best, count: usize, measure: Measure) -> i64 {
    if next == count {
        return 0;
    }
    let mut cost = short(signed(measure.goal) - signed(length));
    if after.next != count {
        cost += ragged(signed(length) - signed(after.length));
    }
    cost
}

/// Cost of a break before `start`, which depends on the neighbours.
fn base_cost(words: &[Word<'_>], start: usize) -> i64 {
    let mut cost = LINE;
    let before = |back: usize| start.checked_sub(back).and_then(|at| words.get(at));
    if let Some(last) = before(1) {
        if last.period {
            cost += if last.ends { -SENTENCE } else { NO_BREAK };
        } else if last.punctuation {
            cost -= PUNCTUATION;
        } else if before(2).is_some_and(|word| word.ends) {
            cost += WIDOW / (signed(last.text.len()) + 2);
        }
    }
    match words.get(start) {
        Some(word) if word.opens => cost - OPENING,
        Some(word) if word.ends => cost + ORPHAN / (signed(word.text.len()) + 2),
        _ => cost,
    }
}
