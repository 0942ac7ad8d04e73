//! What to tell of a request that is not on the cassette.

use serde_json::{Map, Value};

use super::cassette::{Asked, Interaction};
use crate::error::{Error, ErrorKind};

/// Characters of a field that are compared. The distance costs their square, for each interaction.
const COMPARED: usize = 200;

/// Characters of a value that are shown.
const SHOWN: usize = 160;

/// Characters shown before the first that differs.
const BEFORE_DIFFERENCE: usize = 40;

/// The error for a request that was recorded `times` times, all of them used, or never.
pub(super) fn not_recorded(sandbox: Option<&str>, asked: &Asked, times: usize, interactions: &[Interaction]) -> Error {
    let request = shown(asked);
    let again = "if the change is meant, record again (RecordMode::Missing or RecordMode::Always)";
    let message = if times > 0 {
        let plural = if times == 1 { "" } else { "s" };
        format!(
            "this request was recorded {times} time{plural} and has been replayed as often: {request}; ask for it less \
             often, replay it with Matching::ByRequest, or record again"
        )
    } else if let Some((place, nearest)) = nearest(sandbox, asked, interactions) {
        let mut message = format!("this request is not on the cassette: {request}\n");
        message += &format!("the nearest that is: {}\n", line(place, nearest));
        for difference in differences(sandbox, asked, nearest) {
            message += &format!("  {difference}\n");
        }
        message + again
    } else {
        format!("this request is not on the cassette, which is empty: {request}; {again}")
    };
    let error = Error::new(ErrorKind::NotRecorded, asked.method(), message);
    match sandbox {
        Some(sandbox) => error.with_context("sandbox", sandbox),
        None => error,
    }
}

/// An interaction in one line, counted from 1.
pub(super) fn line(place: usize, interaction: &Interaction) -> String {
    format!("interaction {}, {}", place.saturating_add(1), shown(&interaction.call))
}

fn shown(asked: &Asked) -> String {
    let fields = fields(asked);
    let values: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", clipped(&text(value), 0))).collect();
    format!("{}({})", asked.method(), values.join(", "))
}

fn nearest<'a>(
    sandbox: Option<&str>,
    asked: &Asked,
    interactions: &'a [Interaction],
) -> Option<(usize, &'a Interaction)> {
    let wanted = fields(asked);
    interactions.iter().enumerate().min_by_key(|(_, interaction)| {
        let other_method = match (asked.method(), interaction.call.method()) {
            (wanted, recorded) if wanted == recorded => 0,
            ("execute" | "execute_streaming", "execute" | "execute_streaming") => 1,
            _ => 2,
        };
        let other_sandbox = interaction.sandbox.as_deref() != sandbox;
        (other_method, distance(&wanted, &fields(&interaction.call)), other_sandbox)
    })
}

/// How many characters of the fields' beginnings are to be changed, and of what is behind how many are too many or missing.
fn distance(wanted: &Map<String, Value>, recorded: &Map<String, Value>) -> usize {
    let names = wanted.keys().chain(recorded.keys().filter(|name| !wanted.contains_key(*name)));
    names
        .map(|name| {
            let of = |fields: &Map<String, Value>| fields.get(name).map(text).unwrap_or_default();
            let (wanted, recorded) = (of(wanted), of(recorded));
            if wanted == recorded {
                return 0;
            }
            let start = |text: &str| text.chars().take(COMPARED).collect::<String>();
            let behind = wanted.len().abs_diff(recorded.len()).saturating_sub(COMPARED);
            strsim::levenshtein(&start(&wanted), &start(&recorded)).max(1).saturating_add(behind)
        })
        .fold(0, usize::saturating_add)
}

fn differences(sandbox: Option<&str>, asked: &Asked, recorded: &Interaction) -> Vec<String> {
    let mut differences = Vec::new();
    if asked.method() != recorded.call.method() {
        differences.push(format!("method: asked {}, recorded {}", asked.method(), recorded.call.method()));
    }
    if sandbox != recorded.sandbox.as_deref() {
        let name = |sandbox: Option<&str>| sandbox.unwrap_or("none").to_owned();
        let recorded = recorded.sandbox.as_deref();
        differences.push(format!("sandbox: asked {}, recorded {}", name(sandbox), name(recorded)));
    }
    let (wanted, recorded) = (fields(asked), fields(&recorded.call));
    let names = wanted.keys().chain(recorded.keys().filter(|name| !wanted.contains_key(*name)));
    for name in names {
        let (wanted, recorded) = (wanted.get(name).map(text), recorded.get(name).map(text));
        if wanted != recorded {
            let start = match (&wanted, &recorded) {
                (Some(wanted), Some(recorded)) => same_start(wanted, recorded).saturating_sub(BEFORE_DIFFERENCE),
                _ => 0,
            };
            let of = |value: Option<String>| value.map_or("nothing".to_owned(), |value| clipped(&value, start));
            differences.push(format!("{name}: asked {}, recorded {}", of(wanted), of(recorded)));
        }
    }
    differences
}

/// The arguments, without the method that encloses them.
fn fields(asked: &Asked) -> Map<String, Value> {
    let whole = serde_json::to_value(asked).unwrap_or_default();
    match whole.get(asked.method()) {
        Some(Value::Object(fields)) => fields.clone(),
        _ => Map::new(),
    }
}

/// A value as one reads it: a list of lines as the text that it is.
fn text(value: &Value) -> String {
    match value {
        Value::Array(lines) if lines.iter().all(Value::is_string) => {
            let joined: String = lines.iter().filter_map(Value::as_str).collect();
            Value::String(joined).to_string()
        }
        other => other.to_string(),
    }
}

fn same_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// `SHOWN` characters from `start`.
fn clipped(text: &str, start: usize) -> String {
    let behind = text.chars().skip(start).nth(SHOWN).is_some();
    let shown: String = text.chars().skip(start).take(SHOWN).collect();
    format!("{}{shown}{}", if start > 0 { "…" } else { "" }, if behind { "…" } else { "" })
}
