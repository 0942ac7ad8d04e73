//! Text differences in the unified format.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// Lines of context around a change, as `diff -u` and git show them.
const CONTEXT: usize = 3;

/// Returns the hunks from `before` to `after`, without the two lines of a file header. Empty for equal inputs,
/// `None` if the comparison could take more than `work`, from which the effort is subtracted.
///
/// The effort is the number of line comparisons: many lines with few distinct ones take quadratic time. A megabyte of
/// zeros and ones on separate lines was measured at 44 s, about 0.7 ns for each.
pub(super) fn hunks(before: &[u8], after: &[u8], work: &mut u64) -> Option<Vec<u8>> {
    let old: Vec<&[u8]> = before.split_inclusive(|&byte| byte == b'\n').collect();
    let new: Vec<&[u8]> = after.split_inclusive(|&byte| byte == b'\n').collect();
    let mut input: InternedInput<&[u8]> = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let lines = (old.len() + new.len()) as u64;
    let effort = lines.saturating_mul(lines) / u64::from(input.interner.num_tokens()).max(1);
    *work = work.checked_sub(effort)?;
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let changes: Vec<Change> =
        diff.hunks().map(|hunk| Change { old: wide(hunk.before), new: wide(hunk.after) }).collect();
    let mut text = Vec::new();
    for group in changes.chunk_by(|one, next| next.old.start - one.old.end <= 2 * CONTEXT) {
        write_hunk(&mut text, &old, &new, group);
    }
    Some(text)
}

/// Ranges of lines that replace each other, counted from 0.
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

fn wide(range: Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn write_hunk(text: &mut Vec<u8>, old: &[&[u8]], new: &[&[u8]], group: &[Change]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let before = first.old.start.min(CONTEXT);
    let after = (old.len() - last.old.end).min(CONTEXT);
    let olds = first.old.start - before..last.old.end + after;
    let news = first.new.start - before..last.new.end + after;
    text.extend_from_slice(format!("@@ -{} +{} @@\n", span(&olds), span(&news)).as_bytes());
    let mut at = olds.start;
    for change in group {
        lines(text, b' ', old, at..change.old.start);
        lines(text, b'-', old, change.old.clone());
        lines(text, b'+', new, change.new.clone());
        at = change.old.end;
    }
    lines(text, b' ', old, at..olds.end);
}

/// Formats a range for a hunk header: counted from 1, the line before if it is empty, and the count unless it is 1.
fn span(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        count => format!("{},{count}", range.start + 1),
    }
}

fn lines(text: &mut Vec<u8>, sign: u8, lines: &[&[u8]], range: Range<usize>) {
    for line in lines.get(range).unwrap_or_default() {
        text.push(sign);
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hunks;

    fn text(before: &str, after: &str) -> String {
        String::from_utf8(hunks(before.as_bytes(), after.as_bytes(), &mut 1_000_000).unwrap()).unwrap()
    }

    #[test]
    fn many_lines_with_few_distinct_ones_exceed_the_work_limit() {
        let (before, after) = ("0\n1\n".repeat(100_000), "1\n0\n0\n".repeat(70_000));
        let mut work = 1_000_000_000;
        assert_eq!(hunks(before.as_bytes(), after.as_bytes(), &mut work), None);
        assert_eq!(work, 1_000_000_000);
    }

    #[test]
    fn only_nearby_changes_share_a_hunk() {
        let before: String = (1..=30).map(|line| format!("{line}\n")).collect();
        let after = before.replace("\n5\n", "\nfive\n").replace("\n11\n", "\n").replace("\n28\n", "\n28\nmore\n");
        let expected = "@@ -2,13 +2,12 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n 10\n-11\n 12\n 13\n 14\n\
                        @@ -26,5 +25,6 @@\n 26\n 27\n 28\n+more\n 29\n 30\n";
        assert_eq!(text(&before, &after), expected);
    }

    #[test]
    fn added_and_removed_files_are_counted_from_line_0() {
        assert_eq!(text("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
        assert_eq!(text("a\nb\n", ""), "@@ -1,2 +0,0 @@\n-a\n-b\n");
        assert_eq!(text("same\n", "same\n"), "");
    }

    #[test]
    fn a_missing_final_newline_is_marked() {
        assert_eq!(text("a\n", "a"), "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
        assert_eq!(text("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    }
}
