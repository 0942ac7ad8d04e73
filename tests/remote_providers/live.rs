//! Tests with the real services, for users with an account. They have not been run yet.
//!
//! `TIDEBOX_LIVE=1` and a provider's own variables (`E2B_API_KEY`, `MODAL_TOKEN_ID`, ...) enable them: sandboxes cost
//! money.

use std::collections::BTreeMap;
use std::time::Duration;

use tidebox::{ErrorKind, ExecuteRequest, ListRequest, Result, SandboxBackend, Selector, StopReason, Upload};
use tidebox_remote_adapters::{Options, PROVIDERS, provider};

/// Label of every created sandbox, so that leftovers of a failed run can be found.
const LABEL: (&str, &str) = ("tidebox-test", "live");

#[tokio::test(flavor = "multi_thread")]
async fn live_services_with_a_key_run_a_session() {
    for name in PROVIDERS {
        if std::env::var_os("TIDEBOX_LIVE").is_none_or(|value| value != "1") {
            println!("skipped: {name}: TIDEBOX_LIVE=1 is not set, and sandboxes of services cost money");
            continue;
        }
        let mut options = Options::default();
        options.labels = BTreeMap::from([(LABEL.0.to_owned(), LABEL.1.to_owned())]);
        options.time_to_live = Duration::from_secs(10 * 60);
        match provider(name, options) {
            Err(error) if error.kind() == ErrorKind::Unauthenticated => println!("skipped: {name}: {error}"),
            Err(error) => panic!("{name}: {error}"),
            Ok(provider) => {
                let run = format!("{:016x}", std::process::id());
                let labels = Selector::labels([("tidebox-run", run.as_str())]);
                let sandbox = provider.get_or_create(labels.clone()).await.expect(name);
                let worked = session(&*sandbox).await;
                let again = provider.get_or_create(labels).await.map(|again| again.id().clone());
                let deleted = provider.delete(sandbox.id()).await;
                worked.expect(name);
                assert_eq!(again.expect(name), *sandbox.id(), "{name}: the same labels are the same sandbox");
                deleted.expect("the sandbox is deleted, whatever happened before");
                let request = ListRequest { labels: BTreeMap::from([("tidebox-run".to_owned(), run)]), cursor: None };
                assert!(provider.list(request).await.expect(name).sandboxes.is_empty(), "{name}: nothing is left");
            }
        }
    }
}

async fn session(sandbox: &dyn SandboxBackend) -> Result<()> {
    let request = ExecuteRequest::new("echo out; echo err >&2; exit 3");
    let response = sandbox.execute(request).await?;
    assert_eq!((response.stdout_text().as_ref(), response.exit_code), ("out\n", Some(3)));
    let late = ExecuteRequest::new("echo before; sleep 60").with_timeout(Duration::from_secs(2));
    let late = sandbox.execute(late).await?;
    assert_eq!((late.exit_code, late.stopped_by), (Some(124), Some(StopReason::Timeout)));
    let every_byte: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    for file in sandbox.upload_files(vec![Upload::new("/tmp/tidebox/bytes", every_byte.clone())]).await? {
        file.result?;
    }
    let files = sandbox.download_files(vec![b"/tmp/tidebox/bytes".to_vec(), b"/tmp/none".to_vec()]).await?;
    assert!(files[0].result.as_ref().is_ok_and(|content| *content == every_byte));
    assert_eq!(files[1].result.as_ref().err().map(|error| error.code.as_str()), Some("file_not_found"));
    Ok(())
}
