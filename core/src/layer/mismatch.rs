//! Error messages for unrecorded requests.

use serde_json::{Map, Value};

use super::cassette::{Interaction, RecordedCall};
use crate::error::{Error, ErrorKind};

/// Characters compared per field. The comparison takes quadratic time, for each interaction.
const COMPARED_CHARS: usize = 200;

/// Characters of a value in a message.
const EXCERPT_CHARS: usize = 160;

/// Characters of context before the first difference.
const CONTEXT_CHARS: usize = 40;

/// Returns the error for a request that was recorded `times` times, all of them used.
pub(super) fn not_recorded(
    sandbox: Option<&str>,
    call: &RecordedCall,
    times: usize,
    interactions: &[Interaction],
) -> Error {
    let request = format_call(call);
    let hint = "if the change is intended, record again (RecordMode::Missing or RecordMode::Always)";
    let message = if times > 0 {
        let plural = if times == 1 { "" } else { "s" };
        format!(
            "this request was recorded {times} time{plural} and replayed {times} time{plural}: {request}; send it less \
             often, replay it with Matching::ByRequest, or record again"
        )
    } else if let Some((index, closest)) = closest_interaction(sandbox, call, interactions) {
        let mut message = format!("unrecorded request: {request}\n");
        message += &format!("the closest recorded one: {}\n", line(index, closest));
        for difference in differences(sandbox, call, closest) {
            message += &format!("  {difference}\n");
        }
        message + hint
    } else {
        format!("unrecorded request, the cassette is empty: {request}; {hint}")
    };
    let error = Error::new(ErrorKind::NotRecorded, call.method(), message);
    match sandbox {
        Some(sandbox) => error.with_context("sandbox", sandbox),
        None => error,
    }
}

/// Formats an interaction as one line, counted from 1.
pub(super) fn line(index: usize, interaction: &Interaction) -> String {
    format!("interaction {}, {}", index.saturating_add(1), format_call(&interaction.call))
}

fn format_call(call: &RecordedCall) -> String {
    let fields = fields(call);
    let values: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", excerpt(&text(value), 0))).collect();
    format!("{}({})", call.method(), values.join(", "))
}

fn closest_interaction<'a>(
    sandbox: Option<&str>,
    call: &RecordedCall,
    interactions: &'a [Interaction],
) -> Option<(usize, &'a Interaction)> {
    let requested = fields(call);
    interactions.iter().enumerate().min_by_key(|(_, interaction)| {
        let other_method = match (call.method(), interaction.call.method()) {
            (requested, recorded) if requested == recorded => 0,
            ("execute" | "execute_streaming", "execute" | "execute_streaming") => 1,
            _ => 2,
        };
        let other_sandbox = interaction.sandbox.as_deref() != sandbox;
        (other_method, distance(&requested, &fields(&interaction.call)), other_sandbox)
    })
}

/// Returns the edit distance between the starts of the fields, plus the difference in length of the remainders.
fn distance(requested: &Map<String, Value>, recorded: &Map<String, Value>) -> usize {
    let names = requested.keys().chain(recorded.keys().filter(|name| !requested.contains_key(*name)));
    names
        .map(|name| {
            let of = |fields: &Map<String, Value>| fields.get(name).map(text).unwrap_or_default();
            let (requested, recorded) = (of(requested), of(recorded));
            if requested == recorded {
                return 0;
            }
            let start = |text: &str| text.chars().take(COMPARED_CHARS).collect::<String>();
            let excess = requested.len().abs_diff(recorded.len()).saturating_sub(COMPARED_CHARS);
            strsim::levenshtein(&start(&requested), &start(&recorded)).max(1).saturating_add(excess)
        })
        .fold(0, usize::saturating_add)
}

fn differences(sandbox: Option<&str>, call: &RecordedCall, recorded: &Interaction) -> Vec<String> {
    let mut differences = Vec::new();
    if call.method() != recorded.call.method() {
        differences.push(format!("method: requested {}, recorded {}", call.method(), recorded.call.method()));
    }
    if sandbox != recorded.sandbox.as_deref() {
        let name = |sandbox: Option<&str>| sandbox.unwrap_or("none").to_owned();
        let recorded = recorded.sandbox.as_deref();
        differences.push(format!("sandbox: requested {}, recorded {}", name(sandbox), name(recorded)));
    }
    let (requested, recorded) = (fields(call), fields(&recorded.call));
    let names = requested.keys().chain(recorded.keys().filter(|name| !requested.contains_key(*name)));
    for name in names {
        let (requested, recorded) = (requested.get(name).map(text), recorded.get(name).map(text));
        if requested != recorded {
            let start = match (&requested, &recorded) {
                (Some(requested), Some(recorded)) => same_start(requested, recorded).saturating_sub(CONTEXT_CHARS),
                _ => 0,
            };
            let of = |value: Option<String>| value.map_or("nothing".to_owned(), |value| excerpt(&value, start));
            differences.push(format!("{name}: requested {}, recorded {}", of(requested), of(recorded)));
        }
    }
    differences
}

/// Returns the arguments, without the enclosing method.
fn fields(call: &RecordedCall) -> Map<String, Value> {
    let object = serde_json::to_value(call).unwrap_or_default();
    match object.get(call.method()) {
        Some(Value::Object(fields)) => fields.clone(),
        _ => Map::new(),
    }
}

/// Formats a value for messages: a list of lines as text.
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

/// Returns `EXCERPT_CHARS` characters from `start`.
fn excerpt(text: &str, start: usize) -> String {
    let truncated = text.chars().skip(start).nth(EXCERPT_CHARS).is_some();
    let visible: String = text.chars().skip(start).take(EXCERPT_CHARS).collect();
    format!("{}{visible}{}", if start > 0 { "…" } else { "" }, if truncated { "…" } else { "" })
}
