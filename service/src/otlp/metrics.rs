//! Metrics in OTLP's JSON.

use serde_json::{Value as Json, json};

use super::span::nanoseconds;
use crate::metrics::{FAMILIES, Family, Kind, Labels, Metrics, Value};

/// Sums since the start of the service.
const CUMULATIVE: u8 = 2;

/// Returns the families of all tenants.
pub(super) fn families(metrics: &Metrics, start: u128) -> Vec<Json> {
    let series = metrics.snapshot();
    let now = nanoseconds();
    let point = |labels: &Labels| {
        let attributes: Vec<Json> =
            labels.iter().map(|(name, value)| json!({ "key": name, "value": { "stringValue": value } })).collect();
        json!({
            "attributes": attributes,
            "startTimeUnixNano": start.to_string(),
            "timeUnixNano": now.to_string(),
        })
    };
    let family = |family: &Family| {
        let points =
            series.get(family.name)?.iter().map(|(labels, value)| with_value(point(labels), family.kind, value));
        Some(describe(family, points.collect()))
    };
    FAMILIES.iter().filter_map(family).collect()
}

fn with_value(mut point: Json, kind: Kind, value: &Value) -> Json {
    match (value, kind) {
        (Value::Histogram { counts, sum, count }, Kind::Histogram(bounds)) => {
            // OTLP counts each bucket alone, Prometheus together with those below.
            let below = std::iter::once(&0).chain(counts);
            let each =
                counts.iter().chain([count]).zip(below).map(|(upto, below)| upto.saturating_sub(*below).to_string());
            point["bucketCounts"] = each.collect();
            point["explicitBounds"] = json!(bounds);
            point["sum"] = json!(sum);
            point["count"] = json!(count.to_string());
        }
        (Value::Number(number), _) => point["asDouble"] = json!(number),
        (Value::Histogram { .. }, _) => {}
    }
    point
}

fn describe(family: &Family, points: Vec<Json>) -> Json {
    let (kind, data) = match family.kind {
        Kind::Counter => {
            ("sum", json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points }))
        }
        Kind::Gauge => ("gauge", json!({ "dataPoints": points })),
        Kind::Histogram(_) => ("histogram", json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": points })),
    };
    json!({ "name": family.name, "description": family.help, kind: data })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn buckets_are_counted_alone() {
        let metrics = Metrics::default();
        for milliseconds in [2, 2, 7, 500_000] {
            metrics.count_request("rest", "GET", "/", 200, Duration::from_millis(milliseconds));
        }
        let families = families(&metrics, 1);
        let histogram = families.iter().find(|family| family["name"] == "tidebox_http_request_duration_seconds");
        let point = &histogram.unwrap()["histogram"]["dataPoints"][0];
        let counts: Vec<u64> = point["bucketCounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| count.as_str().unwrap().parse().unwrap())
            .collect();
        assert_eq!(counts.len(), point["explicitBounds"].as_array().unwrap().len() + 1);
        assert_eq!(
            (counts.iter().sum::<u64>(), counts[1], counts[3], counts.last()),
            (4, 2, 1, Some(&1)),
            "{counts:?}"
        );
    }
}
