//! URL globs: `{a,b}`, `[1-9]`, `[001-100:5]`, `[a-z]`.

/// Maximum number of URLs.
const MAX_COUNT: usize = 100_000;

/// A URL and the matches of its globs.
pub(super) type Match = (String, Vec<String>);

/// All URLs of a glob, in order. The error is a message.
pub(super) fn expand(pattern: &str) -> Result<Vec<Match>, String> {
    let mut urls: Vec<Match> = vec![(String::new(), Vec::new())];
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '[', '\\', '}', ']']) {
        let (plain, special) = rest.split_at(at);
        urls.iter_mut().for_each(|(url, _)| url.push_str(plain));
        let mut chars = special.chars();
        match chars.next() {
            Some('\\') => {
                let literal = chars.next().unwrap_or('\\');
                urls.iter_mut().for_each(|(url, _)| url.push(literal));
                rest = chars.as_str();
            }
            Some('{') => {
                let end = special.find('}').ok_or("unmatched brace in URL")?;
                let inside = special.get(1..end).unwrap_or_default();
                multiply(&mut urls, inside.split(',').map(str::to_owned).collect())?;
                rest = special.get(end + 1..).unwrap_or_default();
            }
            Some('[') => match address_end(special) {
                // An IPv6 address, not a glob.
                Some(end) => {
                    let address = special.get(..end).unwrap_or_default();
                    urls.iter_mut().for_each(|(url, _)| url.push_str(address));
                    rest = special.get(end..).unwrap_or_default();
                }
                None => {
                    let end = special.find(']').ok_or("bad range in URL")?;
                    multiply(&mut urls, range(special.get(1..end).unwrap_or_default())?)?;
                    rest = special.get(end + 1..).unwrap_or_default();
                }
            },
            _ => return Err("unmatched close brace/bracket in URL".to_owned()),
        }
    }
    urls.iter_mut().for_each(|(url, _)| url.push_str(rest));
    Ok(urls)
}

fn address_end(text: &str) -> Option<usize> {
    let end = text.find(']')?;
    let inside = text.get(1..end)?;
    (inside.matches(':').count() >= 2).then_some(end + 1)
}

fn multiply(urls: &mut Vec<Match>, choices: Vec<String>) -> Result<(), String> {
    if urls.len().saturating_mul(choices.len()) > MAX_COUNT {
        return Err("range overflow in URL".to_owned());
    }
    let before = std::mem::take(urls);
    for (url, matched) in before {
        for choice in &choices {
            let mut matched = matched.clone();
            matched.push(choice.clone());
            urls.push((format!("{url}{choice}"), matched));
        }
    }
    Ok(())
}

fn range(text: &str) -> Result<Vec<String>, String> {
    let bad = || "bad range in URL".to_owned();
    let (bounds, step) = match text.split_once(':') {
        Some((bounds, step)) => (bounds, step.parse::<usize>().ok().filter(|step| *step > 0).ok_or_else(bad)?),
        None => (text, 1),
    };
    let (from, to) = bounds.split_once('-').ok_or_else(bad)?;
    let letters = |text: &str| match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(*letter),
        _ => None,
    };
    if let (Some(from), Some(to)) = (letters(from), letters(to)) {
        let all: Vec<String> = (from..=to).step_by(step).map(|letter| char::from(letter).to_string()).collect();
        return if all.is_empty() { Err(bad()) } else { Ok(all) };
    }
    let width = if from.starts_with('0') { from.len() } else { 0 };
    let (from, to): (u64, u64) = (from.parse().map_err(|_| bad())?, to.parse().map_err(|_| bad())?);
    if from > to {
        return Err(bad());
    }
    if (to - from) / step as u64 >= MAX_COUNT as u64 {
        return Err("range overflow in URL".to_owned());
    }
    Ok((from..=to).step_by(step).map(|number| format!("{number:0width$}")).collect())
}

/// A file name with `#1` and so on replaced by the glob matches.
pub(super) fn fill(name: &[u8], matched: &[String]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), name);
    while let [first, after @ ..] = rest {
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = after.get(..digits).and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<usize>().ok());
        let found = number.and_then(|number| matched.get(number.checked_sub(1)?));
        match (first, found) {
            (b'#', Some(found)) => {
                out.extend_from_slice(found.as_bytes());
                rest = after.get(digits..).unwrap_or_default();
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{expand, fill};

    fn urls(pattern: &str) -> Vec<String> {
        expand(pattern).expect("it can be read").into_iter().map(|(url, _)| url).collect()
    }

    #[test]
    fn patterns_stand_for_lists_and_ranges() {
        assert_eq!(urls("h/{a,b}/[1-2]"), ["h/a/1", "h/a/2", "h/b/1", "h/b/2"]);
        assert_eq!(urls("h/[08-10]"), ["h/08", "h/09", "h/10"]);
        assert_eq!(urls("h/[a-e:2]"), ["h/a", "h/c", "h/e"]);
        assert_eq!(urls("http://[::1]:80/x"), ["http://[::1]:80/x"]);
        assert_eq!(urls("h/\\{a\\}"), ["h/{a}"]);
    }

    #[test]
    fn patterns_that_make_no_sense_are_refused() {
        for pattern in ["{a", "[1-", "[2-1]", "[1-9999999999]", "}", "[x]", "[1-2:0]", "[a-b][1-99999]"] {
            assert!(expand(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn names_take_over_what_patterns_stood_for() {
        let matched = ["a".to_owned(), "7".to_owned()];
        assert_eq!(fill(b"x_#1_#2.#3#", &matched), b"x_a_7.#3#");
    }
}
