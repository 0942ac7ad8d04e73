//! OpenTelemetry, with a collector that keeps what it receives.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use serde_json::{Value, json};
use tidebox::service::{OtlpConfig, OtlpExporter};

use crate::client::Fixture;

type Received = Arc<Mutex<Vec<(String, HeaderMap, Value)>>>;

/// Starts a collector and returns its address.
async fn collect(received: Received) -> SocketAddr {
    let keep = |State(received): State<Received>, uri: Uri, headers: HeaderMap, body: String| async move {
        let body = serde_json::from_str(&body).expect("JSON");
        received.lock().unwrap().push((uri.path().to_owned(), headers, body));
        "{}"
    };
    let router = axum::Router::new().fallback(keep).with_state(received);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

fn attribute<'a>(value: &'a Value, name: &str) -> &'a Value {
    let attributes = value["attributes"].as_array().unwrap();
    attributes.iter().find(|attribute| attribute["key"] == name).map_or(&Value::Null, |attribute| &attribute["value"])
}

#[test]
fn a_collector_receives_spans_and_metrics() {
    let fixture = Fixture::start(&[("research", "t", "")]);
    let received = Received::default();
    let address = fixture.runtime.block_on(collect(Arc::clone(&received)));
    let config = OtlpConfig {
        endpoint: format!("http://{address}"),
        headers: vec![("x-key".to_owned(), tidebox::Secret::new("k"))],
        service_name: "boxes".to_owned(),
        metric_interval: Duration::from_millis(200),
    };
    let exporter = fixture.runtime.block_on(async { OtlpExporter::new(&fixture.service, config) }).unwrap();
    let client = fixture.client("t");
    let sandbox = client.create();
    client.execute(&sandbox, "echo planted-output");
    fixture.runtime.block_on(async {
        // Regular exports, and the last one.
        let _ = tokio::time::timeout(Duration::from_secs(1), exporter.run()).await;
        exporter.finish().await;
    });
    let received = received.lock().unwrap();
    let of =
        |path: &str| received.iter().filter(|(known, ..)| known == path).map(|(.., body)| body).collect::<Vec<_>>();
    assert!(
        received.iter().all(|(_, headers, _)| headers["x-key"] == "k" && headers["content-type"] == "application/json")
    );
    assert!(!format!("{received:?}").contains("planted"), "no command lines and output");

    let traces = of("/v1/traces");
    let resource = &traces[0]["resourceSpans"][0]["resource"];
    assert_eq!(attribute(resource, "service.name")["stringValue"], "boxes");
    let spans = traces[0]["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let find =
        |name: &str| spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("{name}: {spans:?}"));
    let (request, command) = (find("POST /v1/sandboxes/{id}/execute"), find("execute"));
    assert_eq!((&command["parentSpanId"], &command["traceId"]), (&request["spanId"], &request["traceId"]));
    assert_eq!(attribute(command, "process.exit.code")["intValue"], "0");
    assert_eq!(attribute(request, "tidebox.tenant")["stringValue"], "research");
    assert_eq!(attribute(request, "http.response.status_code")["intValue"], "200");

    let metrics = of("/v1/metrics");
    assert!(metrics.len() >= 3, "at an interval and at the end: {}", metrics.len());
    let families = metrics.last().unwrap()["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let commands = families.iter().find(|family| family["name"] == "tidebox_commands_total").unwrap();
    assert_eq!(
        (&commands["sum"]["isMonotonic"], &commands["sum"]["dataPoints"][0]["asDouble"]),
        (&json!(true), &json!(1.0))
    );
}

#[test]
fn an_unreachable_collector_does_not_delay_requests() {
    let fixture = Fixture::start(&[("research", "t", "")]);
    let config = OtlpConfig {
        endpoint: "http://127.0.0.1:9".to_owned(),
        headers: Vec::new(),
        service_name: "boxes".to_owned(),
        metric_interval: Duration::from_millis(50),
    };
    let exporter = fixture.runtime.block_on(async { OtlpExporter::new(&fixture.service, config) }).unwrap();
    let running = fixture.runtime.spawn(async move { exporter.run().await });
    let client = fixture.client("t");
    let sandbox = client.create();
    for _ in 0..10 {
        assert_eq!(client.execute(&sandbox, "echo $((1 + 1))"), "2\n");
    }
    assert!(!running.is_finished());
}
