//! Keys and other secrets that are planted wherever a caller may give one, and looked for wherever none may be: in what is printed of
//! every value, in every error that a service can bring about, and in what the libraries below log.

use std::fmt::{Debug, Display, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use tidebox::{
    Error, ErrorKind, ExecuteRequest, ListRequest, Result, SandboxBackend, SandboxProvider, Selector, Upload,
};
use tidebox_emulators::{FaultKind, Serving};
use tidebox_remote_adapters::{Options, PROVIDERS, daytona, deno, e2b, langsmith, modal, runloop};

use crate::{KEY, emulator, fault, refuse};

/// Every secret below has this in it, the key of the emulators too.
const PLANTED: &str = "planted";

fn planted(options: Options) -> Options {
    let mut options = options.with_api_key(KEY);
    options.env = vec![("SECRET".to_owned(), "planted-variable".to_owned())];
    options.setup = Some("PASSWORD=planted-script; true".to_owned());
    options
}

/// What was printed, and who printed it.
#[derive(Clone, Debug, Default)]
struct Printed(Arc<Mutex<Vec<String>>>);

impl Printed {
    fn add(&self, what: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what);
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

    /// How many there are; fails where one of them shows a secret.
    fn hold(&self) -> usize {
        self.hold_but(|_| false)
    }

    /// The same, but for what is known to show some.
    fn hold_but(&self, known: impl Fn(&str) -> bool) -> usize {
        let printed = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for text in &printed {
            assert!(!text.contains(PLANTED) || known(text), "{text}");
        }
        printed.len()
    }
}

/// What can be made of options by the name of a provider, beside what there is of all.
fn own(name: &str, options: &Options) -> Vec<Box<dyn Debug>> {
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

/// What a service may do to a request. Its words may name what it was sent.
fn faults(name: &str) -> Vec<FaultKind> {
    let told = |status| FaultKind::Refuse {
        status,
        retry_after: None,
        body: r#"{"code":"x","message":"no","detail":"no"}"#.to_owned(),
    };
    let mut kinds: Vec<FaultKind> = [400, 401, 403, 404, 409, 418, 422, 429, 500].map(told).into();
    kinds.extend([refuse(503, None), FaultKind::BreakAfter { bytes: 0 }, FaultKind::BreakAfter { bytes: 20 }]);
    if name == "modal" {
        let status = |code| FaultKind::GrpcStatus { code, message: "no".to_owned(), retry_after_secs: None };
        kinds.extend([2, 3, 5, 7, 8, 9, 12, 16].map(status));
    }
    kinds
}

/// Each thing that can be asked for, by its number; `None` when there is none of this number.
async fn ask(number: usize, provider: &dyn SandboxProvider, sandbox: &dyn SandboxBackend) -> Option<Result<()>> {
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

/// Brings about what a service can, and returns how many errors that were.
async fn all_that_can_happen(serving: &Serving, printed: &Printed) -> usize {
    let name = serving.provider();
    let options = planted(serving.options());
    printed.value(&options);
    own(name, &options).iter().for_each(|value| printed.value(value));
    let provider = tidebox_remote_adapters::provider(name, options.clone()).expect("the options are good");
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("it is made");
    printed.value(&provider);
    // What is refused again and again does not become ready; that it is waited for is nothing that is looked for here.
    let mut hurried = options;
    hurried.ready_time = Duration::from_secs(2);
    let provider = tidebox_remote_adapters::provider(name, hurried).expect("the options are good");
    printed.value(&sandbox);
    let mut errors = 0;
    for kind in faults(name) {
        for number in 0.. {
            fault(serving, "/", 3, kind.clone());
            let Some(done) = ask(number, &*provider, &*sandbox).await else { break };
            if let Err(error) = done {
                errors += 1;
                printed.error(&error);
            }
            serving.faults().clear();
        }
        serving.faults().clear();
    }
    // A key that the service refuses, and a service that is not there, behind a proxy with a password.
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
        let error = listed.expect_err("nobody lists them");
        assert!(key == KEY || error.kind() == ErrorKind::Unauthenticated, "{name}: {error}");
        errors += 1;
        printed.error(&error);
    }
    errors
}

/// Takes what the libraries below say on one thread: those of the emulators, on others, may say what they heard.
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

/// The fields of an event or a span as text.
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
fn what_is_planted_is_shown_by_no_value_no_error_and_no_log_of_any_provider() {
    let servers = tokio::runtime::Runtime::new().expect("a runtime");
    let serving: Vec<Serving> = PROVIDERS.iter().map(|name| servers.block_on(emulator(name))).collect();
    let (printed, logged) = (Printed::default(), Printed::default());
    let logs = || Logs { printed: logged.clone(), thread: std::thread::current().id() };
    log::set_logger(Box::leak(Box::new(logs()))).expect("there is no other");
    log::set_max_level(log::LevelFilter::Trace);
    let here = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let errors = tracing::subscriber::with_default(logs(), || {
        let all = serving.iter().map(|serving| all_that_can_happen(serving, &printed));
        here.block_on(futures_util::future::join_all(all))
    });
    for (name, errors) in PROVIDERS.iter().zip(&errors) {
        assert!(*errors >= 20, "{name}: {errors} errors were seen");
    }
    assert!(printed.hold() > errors.iter().sum());
    // At its most talkative the library for WebSockets prints every message, and variables are a message. Headers are none.
    let of_messages = |text: &str| text.starts_with("tungstenite::") && !text.contains(KEY);
    assert!(logged.hold_but(of_messages) > 0, "the libraries below say something");
}
