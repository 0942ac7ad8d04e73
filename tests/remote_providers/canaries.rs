//! Leak tests with canaries: keys and other secrets are set wherever a caller may pass one, and must not appear in the
//! `Debug` output of any value, in any error that a service can cause, or in the logs of libraries.

use std::fmt::{Debug, Display, Write as _};
use std::sync::Arc;
use std::thread::ThreadId;
use std::time::Duration;

use tidebox_core::lock::Mutex;

use tidebox::{
    Error, ErrorKind, ExecuteRequest, ListRequest, Result, SandboxBackend, SandboxProvider, Selector, Upload,
};
use tidebox_emulators::{FaultKind, Serving};
use tidebox_remote_adapters::{Options, PROVIDERS, daytona, deno, e2b, langsmith, modal, runloop};

use crate::{KEY, emulator, fault, http_error};

/// Contained in every secret below, including the emulators' key.
const PLANTED: &str = "planted";

fn planted(options: Options) -> Options {
    let mut options = options.with_api_key(KEY);
    options.env = vec![("SECRET".to_owned(), "planted-variable".to_owned())];
    options.setup = Some("PASSWORD=planted-script; true".to_owned());
    options
}

/// Collected output with its source.
#[derive(Clone, Debug, Default)]
struct Printed(Arc<Mutex<Vec<String>>>);

impl Printed {
    fn add(&self, what: String) {
        self.0.lock().push(what);
    }

    fn value(&self, value: &dyn Debug) {
        self.add(format!("{value:?} {value:#?}"));
    }

    fn error(&self, error: &Error) {
        let mut text = format!("{error} {error:?} {error:#?}");
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            let _ = write!(text, " {cause} {cause:?}");
            source = cause.source();
        }
        self.add(text);
    }

    /// Returns the number of outputs; panics if one contains a secret.
    fn assert_no_canary(&self) -> usize {
        self.assert_no_canary_except(|_| false)
    }

    /// Like [`assert_no_canary`](Self::assert_no_canary), with exceptions for known leaks.
    fn assert_no_canary_except(&self, known: impl Fn(&str) -> bool) -> usize {
        let printed = std::mem::take(&mut *self.0.lock());
        for text in &printed {
            assert!(!text.contains(PLANTED) || known(text), "{text}");
        }
        printed.len()
    }
}

/// Provider-specific values that can be created from options.
fn provider_values(name: &str, options: &Options) -> Vec<Box<dyn Debug>> {
    let taken = "the options are good";
    match name {
        "daytona" => vec![
            Box::new(daytona::DaytonaConfig::new(options).expect(taken)),
            Box::new(daytona::DaytonaControl::new(options.clone()).expect(taken)),
        ],
        "deno" => vec![
            Box::new(deno::DenoConfig::new(options).expect(taken)),
            Box::new(deno::DenoControl::new(options.clone()).expect(taken)),
        ],
        "e2b" => vec![
            Box::new(e2b::E2bConfig::new(options).expect(taken)),
            Box::new(e2b::E2bControl::new(options.clone()).expect(taken)),
        ],
        "langsmith" => vec![
            Box::new(langsmith::LangSmithConfig::new(options).expect(taken)),
            Box::new(langsmith::LangSmithControl::new(options.clone()).expect(taken)),
        ],
        "modal" => vec![
            Box::new(modal::ModalConfig::new(options).expect(taken)),
            Box::new(modal::ModalControl::new(options.clone()).expect(taken)),
        ],
        "runloop" => vec![
            Box::new(runloop::RunloopConfig::new(options).expect(taken)),
            Box::new(runloop::RunloopControl::new(options.clone()).expect(taken)),
        ],
        other => panic!("say here what can be made of the options of {other}"),
    }
}

/// Faults that a service may cause. Its messages may echo the request.
fn faults(name: &str) -> Vec<FaultKind> {
    let error_fault = |status| FaultKind::HttpStatus {
        status,
        retry_after: None,
        body: r#"{"code":"x","message":"no","detail":"no"}"#.to_owned(),
    };
    let mut kinds: Vec<FaultKind> = [400, 401, 403, 404, 409, 418, 422, 429, 500].map(error_fault).into();
    kinds.extend([http_error(503, None), FaultKind::BreakAfter { bytes: 0 }, FaultKind::BreakAfter { bytes: 20 }]);
    if name == "modal" {
        let status = |code| FaultKind::GrpcStatus { code, message: "no".to_owned(), retry_after_secs: None };
        kinds.extend([2, 3, 5, 7, 8, 9, 12, 16].map(status));
    }
    kinds
}

/// Runs the operation with this number; `None` if it does not exist.
async fn run_operation(
    number: usize,
    provider: &dyn SandboxProvider,
    sandbox: &dyn SandboxBackend,
) -> Option<Result<()>> {
    let file = || vec![Upload::new("/tmp/file", "content")];
    Some(match number {
        0 => provider.get_or_create(Selector::any_new()).await.map(drop),
        1 => provider.get_or_create(Selector::Id(sandbox.id().clone())).await.map(drop),
        2 => provider.list(ListRequest::default()).await.map(drop),
        3 => sandbox.execute(ExecuteRequest::new("true").with_timeout(Duration::from_secs(20))).await.map(drop),
        4 => sandbox.upload_files(file()).await.map(drop),
        5 => sandbox.download_files(vec![b"/tmp/file".to_vec()]).await.map(drop),
        _ => return None,
    })
}

/// Runs all operations with all faults, and returns the number of errors.
async fn all_that_can_happen(serving: &Serving, printed: &Printed) -> usize {
    let name = serving.provider();
    let options = planted(serving.options());
    printed.value(&options);
    provider_values(name, &options).iter().for_each(|value| printed.value(value));
    let provider = tidebox_remote_adapters::provider(name, options.clone()).expect("the options are valid");
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("created");
    printed.value(&provider);
    // A permanently rejected sandbox does not become ready; the wait is not under test.
    let mut hurried = options;
    hurried.ready_time = Duration::from_secs(2);
    let provider = tidebox_remote_adapters::provider(name, hurried).expect("the options are valid");
    printed.value(&sandbox);
    let mut errors = 0;
    for kind in faults(name) {
        for number in 0.. {
            fault(serving, "/", 3, kind.clone());
            let Some(done) = run_operation(number, &*provider, &*sandbox).await else { break };
            if let Err(error) = done {
                errors += 1;
                printed.error(&error);
            }
            serving.faults().clear();
        }
        serving.faults().clear();
    }
    // A rejected key, and an unreachable service behind a proxy with a password.
    for (key, proxy) in [("planted-wrong-key", None), (KEY, Some("http://name:planted-password@127.0.0.1:1"))] {
        let mut options = planted(serving.options()).with_api_key(key);
        options.proxy = proxy.map(str::to_owned);
        printed.value(&options);
        let listed = match tidebox_remote_adapters::provider(name, options) {
            Ok(provider) => {
                printed.value(&provider);
                provider.list(ListRequest::default()).await.map(drop)
            }
            Err(error) => Err(error),
        };
        let error = listed.expect_err("listing fails");
        assert!(key == KEY || error.kind() == ErrorKind::Unauthenticated, "{name}: {error}");
        errors += 1;
        printed.error(&error);
    }
    errors
}

/// Collects the logs of one thread: the emulators run on others and may log what they receive.
struct Logs {
    printed: Printed,
    thread: ThreadId,
}

impl Logs {
    fn take(&self, source: &str, what: impl Display) {
        if std::thread::current().id() == self.thread {
            self.printed.add(format!("{source}: {what}"));
        }
    }
}

impl log::Log for Logs {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.take(record.target(), record.args());
    }

    fn flush(&self) {}
}

/// Fields of an event or a span as text.
struct Fields(String);

impl tracing::field::Visit for Fields {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

impl tracing::Subscriber for Logs {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        let mut fields = Fields(String::new());
        span.record(&mut fields);
        self.take(span.metadata().target(), fields.0);
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        let mut fields = Fields(String::new());
        values.record(&mut fields);
        self.take("span", fields.0);
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.take(event.metadata().target(), fields.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn no_value_error_or_log_shows_a_canary() {
    let servers = tokio::runtime::Runtime::new().expect("a runtime");
    let serving: Vec<Serving> = PROVIDERS.iter().map(|name| servers.block_on(emulator(name))).collect();
    let (printed, logged) = (Printed::default(), Printed::default());
    let logs = || Logs { printed: logged.clone(), thread: std::thread::current().id() };
    log::set_logger(Box::leak(Box::new(logs()))).expect("the first logger");
    log::set_max_level(log::LevelFilter::Trace);
    let here = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let errors = tracing::subscriber::with_default(logs(), || {
        let all = serving.iter().map(|serving| all_that_can_happen(serving, &printed));
        here.block_on(futures_util::future::join_all(all))
    });
    for (name, errors) in PROVIDERS.iter().zip(&errors) {
        assert!(*errors >= 20, "{name}: {errors} errors were seen");
    }
    assert!(printed.assert_no_canary() > errors.iter().sum());
    // At trace level the WebSocket library prints every message, including variables, but no headers.
    let of_messages = |text: &str| text.starts_with("tungstenite::") && !text.contains(KEY);
    assert!(logged.assert_no_canary_except(of_messages) > 0, "the libraries below say something");
}
