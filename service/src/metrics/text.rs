//! Prometheus' text format, version 0.0.4.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{FAMILIES, Family, Kind, Labels, Value};

/// Formats all series, or only those of a tenant.
pub(super) fn format(families: &BTreeMap<&'static str, BTreeMap<Labels, Value>>, tenant: Option<&str>) -> String {
    let mut text = String::new();
    for family in FAMILIES {
        let Some(series) = families.get(family.name) else { continue };
        let is_visible = |labels: &Labels| {
            tenant.is_none_or(|tenant| labels.iter().any(|(name, value)| *name == "tenant" && value == tenant))
        };
        let mut visible = series.iter().filter(|(labels, _)| is_visible(labels)).peekable();
        if visible.peek().is_none() {
            continue;
        }
        let kind = match family.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram(_) => "histogram",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {} {}\n# TYPE {} {kind}", family.name, family.help, family.name);
        for (labels, value) in visible {
            write_series(&mut text, family, labels, value);
        }
    }
    text
}

fn write_series(text: &mut String, family: &Family, labels: &Labels, value: &Value) {
    let name = family.name;
    match (value, family.kind) {
        (Value::Histogram { counts, sum, count }, Kind::Histogram(bounds)) => {
            for (bound, below) in bounds.iter().zip(counts) {
                let _ = writeln!(text, "{name}_bucket{} {below}", braces(labels, Some(&bound.to_string())));
            }
            let _ = writeln!(text, "{name}_bucket{} {count}", braces(labels, Some("+Inf")));
            let _ = writeln!(
                text,
                "{name}_sum{} {sum}\n{name}_count{} {count}",
                braces(labels, None),
                braces(labels, None)
            );
        }
        (Value::Number(number), _) => {
            let _ = writeln!(text, "{name}{} {number}", braces(labels, None));
        }
        (Value::Histogram { .. }, _) => {}
    }
}

fn braces(labels: &Labels, bound: Option<&str>) -> String {
    let own = labels.iter().map(|(name, value)| (*name, value.as_str()));
    let pairs: Vec<String> = own
        .chain(bound.map(|bound| ("le", bound)))
        .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
        .collect();
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_values_are_escaped() {
        let labels = vec![("route", "a\"b\\c\nd".to_owned())];
        assert_eq!(braces(&labels, None), r#"{route="a\"b\\c\nd"}"#);
        assert_eq!(braces(&Vec::new(), None), "");
    }
}
