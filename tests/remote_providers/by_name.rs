//! Providers by name, including the local backend.

use std::sync::Arc;

use tidebox::conformance::provider::{self, ProviderCapabilities};
use tidebox::remote::{NetworkAccess, Options, PROVIDERS};
use tidebox::{ErrorKind, ExecuteRequest, LOCAL, ListRequest, Selector, StopReason};

fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

#[tokio::test(flavor = "multi_thread")]
async fn remote_options_apply_to_local_sandboxes() {
    let options = options(|options| {
        options.env = vec![("A".to_owned(), "1".to_owned())];
        options.cwd = Some(tidebox::SandboxPath::parse("/tmp").expect("an absolute path"));
        options.output_bytes = 4;
        options.setup = Some("echo made > /tmp/set-up".to_owned());
        options.disk_mib = Some(1);
    });
    let sandbox = tidebox::create_sandbox(LOCAL, options).await.expect("created");
    let run = |command: &str| sandbox.execute(ExecuteRequest::new(command));
    let response = run("pwd").await.expect("the command runs");
    assert_eq!((response.stdout_text().as_ref(), response.truncated), ("/tmp", true));
    assert_eq!(run("cat set-up").await.expect("the command runs").stdout_text(), "made");
    assert_eq!(run("echo $A").await.expect("the command runs").stdout_text(), "1\n");
    assert_ne!(run("head -c 2000000 /dev/zero > big").await.expect("the command runs").exit_code, Some(0));
    // Runs alone: on a busy host its command may exceed the time limit.
    let hurried = self::options(|options| options.command_time = std::time::Duration::from_millis(300));
    let sandbox = tidebox::create_sandbox(LOCAL, hurried).await.expect("created");
    let late = sandbox.execute(ExecuteRequest::new("sleep 600")).await.expect("the command runs");
    assert_eq!(late.stopped_by, Some(StopReason::Timeout));
}

#[tokio::test(flavor = "multi_thread")]
async fn unsupported_options_of_local_sandboxes_are_named() {
    for (name, change) in [
        ("region", (|options| options.region = Some("eu".to_owned())) as fn(&mut Options)),
        ("image", |options| options.image = Some("debian".to_owned())),
        ("cpus", |options| options.cpus = Some(2)),
        ("extra", |options| drop(options.extra.insert("user".to_owned(), "root".to_owned()))),
    ] {
        let error = tidebox::create_sandbox(LOCAL, options(change)).await.expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains(name), "{error}");
    }
    let bad = options(|options| options.network = NetworkAccess::Only(vec!["no host at all".to_owned()]));
    assert!(tidebox::create_sandbox(LOCAL, bad).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_provider_lists_the_known_ones() {
    let error = tidebox::create_sandbox("e3b", Options::default()).await.expect_err("the lookup fails");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(PROVIDERS.iter().chain([&LOCAL]).all(|name| error.message().contains(name)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_local_provider_passes_the_provider_suite() {
    let provider = tidebox::provider_by_name(LOCAL, options(|options| options.setup = Some("true".to_owned())));
    let report = provider::run(&*provider.expect("the options are valid"), &ProviderCapabilities::full()).await;
    println!("{report}");
    report.assert_success();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_setup_script_runs_once_and_cleans_up_on_failure() {
    let scripted = |script: &str| {
        let provider = tidebox::provider_by_name(LOCAL, options(|options| options.setup = Some(script.to_owned())));
        provider.expect("the options are valid")
    };
    let once = scripted("echo once >> /tmp/times");
    let ask = || {
        let once = Arc::clone(&once);
        tokio::spawn(async move { once.get_or_create(Selector::labels([("thread", "1")])).await })
    };
    let requested: Vec<_> = (0..4).map(|_| ask()).collect();
    for sandbox in requested {
        let sandbox = sandbox.await.expect("no panic").expect("created");
        let times = sandbox.execute(ExecuteRequest::new("cat /tmp/times")).await.expect("the command runs");
        assert_eq!(times.stdout_text(), "once\n");
    }
    let failing = scripted("echo reason >&2; exit 3");
    let error = failing.get_or_create(Selector::any_new()).await.expect_err("the script failed");
    assert!(error.message().contains("reason"), "{error}");
    assert!(failing.list(ListRequest::default()).await.expect("a list").sandboxes.is_empty());
}
