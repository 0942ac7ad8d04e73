//! Tenants at the emulators: clients of each provider see only the sandboxes of their tenant.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tidebox::emulators::{EMULATORS, Emulator, Serving};
use tidebox::remote::provider;
use tidebox::{Error, ErrorKind, ExecuteRequest, ListRequest, SandboxProvider, Selector};

use crate::client::Fixture;

async fn serve(fixture: &Fixture, name: &str) -> Serving {
    let emulator = Emulator { provider: name.to_owned(), key: "TOKEN".to_owned() };
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    emulator.serve_tenants(listen, Arc::new(fixture.service.clone()), None).await.expect("the emulator serves")
}

fn adapter(serving: &Serving, token: &str) -> Arc<dyn SandboxProvider> {
    provider(serving.provider(), serving.options().with_api_key(token)).expect("the options are valid")
}

async fn check(fixture: &Fixture, name: &str) {
    let serving = serve(fixture, name).await;
    let (a, b) = (adapter(&serving, "token-a"), adapter(&serving, "token-b"));
    let sandbox = a.get_or_create(Selector::any_new()).await.expect(name);
    let ran = sandbox.execute(ExecuteRequest::new("echo $((6 * 7)) > f; cat f")).await.expect(name);
    assert_eq!(ran.stdout_text(), "42\n", "{name}");

    let listed = a.list(ListRequest::default()).await.expect(name);
    assert!(listed.sandboxes.iter().any(|info| info.id == *sandbox.id()), "{name}: {listed:?}");
    let listed = b.list(ListRequest::default()).await.expect(name);
    assert!(listed.sandboxes.is_empty(), "{name}: {listed:?}");
    let other = b.get_or_create(Selector::Id(sandbox.id().clone())).await;
    let denied = match other {
        Err(error) => error,
        // Some providers do not check an id before its first use.
        Ok(other) => other.execute(ExecuteRequest::new("cat f")).await.expect_err(name),
    };
    assert!(matches!(denied.kind(), ErrorKind::SandboxNotFound | ErrorKind::Closed), "{name}: {denied}");
    // Deleting a missing sandbox is not an error.
    let _ = b.delete(sandbox.id()).await;
    assert!(sandbox.execute(ExecuteRequest::new("cat f")).await.is_ok(), "{name}: it still exists");

    let unknown = adapter(&serving, "token-c").get_or_create(Selector::any_new()).await.expect_err(name);
    assert_eq!(unknown.kind(), ErrorKind::Unauthenticated, "{name}: {unknown}");
    let second = a.get_or_create(Selector::any_new()).await.expect_err(name);
    assert!(is_quota(&second), "{name}: {second:?}");
    a.delete(sandbox.id()).await.expect(name);
    a.get_or_create(Selector::any_new()).await.expect("the quota is free again");
    fixture.runtime.spawn(serving.end());
}

fn is_quota(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::QuotaExceeded | ErrorKind::RateLimited)
}

#[test]
fn clients_of_each_provider_see_only_their_tenant() {
    for name in EMULATORS {
        let fixture = Fixture::start(&[("a", "token-a", "sandboxes = 1"), ("b", "token-b", "")]);
        fixture.runtime.block_on(check(&fixture, name));
        let metrics = fixture.service.metrics().to_text();
        assert!(metrics.contains("tidebox_sandboxes{tenant=\"a\"} 1\n"), "{name}: {metrics}");
        let requests = format!("tidebox_http_requests_total{{api=\"{name}\"");
        assert!(metrics.contains(&requests), "{name}: {metrics}");
    }
}
