//! An emulator at an address.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt as _;
use tidebox_remote_adapters::Options;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::fault::Faults;
use crate::house::House;

/// The providers that can be emulated.
pub const EMULATORS: &[&str] = &["daytona", "deno", "e2b", "langsmith", "modal", "runloop"];

/// Which provider is emulated, with which key.
#[derive(Clone, Debug)]
pub struct Emulator {
    /// One of [`EMULATORS`].
    pub provider: String,
    /// The key that clients have to show. What is not a secret of a service is no secret: it is printed.
    pub key: String,
}

/// An emulator that runs until this value is dropped.
#[derive(Debug)]
pub struct Serving {
    provider: String,
    key: String,
    address: SocketAddr,
    url: String,
    variables: Vec<(String, String)>,
    house: House,
    faults: Faults,
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

/// How long requests in progress are waited for at the end.
const LAST_REQUESTS: Duration = Duration::from_secs(2);

/// Bytes of a request that is read before it is answered.
const SMALL_REQUEST: usize = 64 << 10;

impl Emulator {
    /// Serves at `listen`; port 0 takes any that is free. Faults can be asked for by `POST /_tidebox/faults` too.
    ///
    /// # Errors
    /// That the provider is not one of [`EMULATORS`], or that the address cannot be had.
    pub async fn serve(self, listen: SocketAddr, house: House) -> std::io::Result<Serving> {
        let listener = TcpListener::bind(listen).await?;
        let url = format!("http://{}", listener.local_addr()?);
        self.serve_over(listener, house, url)
    }

    /// Serves at `listen` behind a proxy: clients are told `url` and come by it. It has no slash at its end.
    ///
    /// # Errors
    /// Those of [`serve`](Self::serve).
    pub async fn serve_behind(self, listen: SocketAddr, house: House, url: &str) -> std::io::Result<Serving> {
        let listener = TcpListener::bind(listen).await?;
        self.serve_over(listener, house, url.to_owned())
    }

    fn serve_over(self, listener: TcpListener, house: House, url: String) -> std::io::Result<Serving> {
        let address = listener.local_addr()?;
        let (router, variables) = match self.provider.as_str() {
            "daytona" => {
                let router = crate::daytona::router(house.clone(), &url, &self.key);
                (router, crate::daytona::variables(&url, &self.key))
            }
            "deno" => (crate::deno::router(house.clone(), &self.key), crate::deno::variables(&url, &self.key)),
            "e2b" => (crate::e2b::router(house.clone(), &self.key), crate::e2b::variables(&url, &self.key)),
            "langsmith" => {
                (crate::langsmith::router(house.clone(), &self.key), crate::langsmith::variables(&url, &self.key))
            }
            "modal" => (crate::modal::router(house.clone(), &self.key, &url), crate::modal::variables(&url, &self.key)),
            "runloop" => (crate::runloop::router(house.clone(), &self.key), crate::runloop::variables(&url, &self.key)),
            unknown => {
                let message = format!("there is no emulator of `{unknown}`; there are: {}", EMULATORS.join(", "));
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
            }
        };
        let faults = Faults::default();
        let router = with_faults(router, &faults).layer(axum::middleware::from_fn(whole));
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            // Messages are small and follow one another: none waits until the client has confirmed the one before.
            let listener = listener.tap_io(|connection| {
                // A connection that is gone is noticed when it is used.
                let _ = connection.set_nodelay(true);
            });
            let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
                // Dropping the sender ends it as well.
                let _ = stopped.await;
            });
            // A listener ends only with its program or when it is told to.
            let _ = serving.await;
        });
        Ok(Serving { provider: self.provider, key: self.key, address, url, variables, house, faults, stop, task })
    }
}

/// Reads what a small request carries before it is answered. A connection whose request was answered while its end was still on its way
/// is closed, and a client that has kept it for its next request finds that out with that.
async fn whole(request: Request, next: Next) -> Response {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_none_or(|length| length > SMALL_REQUEST) {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    match axum::body::to_bytes(body, SMALL_REQUEST).await {
        Ok(body) => next.run(Request::from_parts(head, body.into())).await,
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

fn with_faults(router: Router, faults: &Faults) -> Router {
    use axum::extract::{Json, State};
    use axum::routing::post;
    let add = |State(faults): State<Faults>, Json(fault): Json<crate::fault::Fault>| async move {
        faults.add(fault);
        StatusCode::NO_CONTENT
    };
    let befallen = router.layer(axum::middleware::from_fn_with_state(faults.clone(), crate::fault::befall));
    befallen.merge(Router::new().route("/_tidebox/faults", post(add)).with_state(faults.clone()))
}

impl Serving {
    /// Takes no more requests, ends every sandbox, and with them what runs in them, and returns when that is done.
    pub async fn end(self) {
        // The server may have ended already, with its runtime.
        let _ = self.stop.send(());
        self.house.close_all().await;
        // A client that keeps a connection open keeps nobody here.
        let _ = tokio::time::timeout(LAST_REQUESTS, self.task).await;
    }

    /// The provider that it stands in for.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Where it serves.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL by which clients come.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The variables of the environment that point the provider's own clients to it. Our adapter reads the same ones.
    pub fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// What points our adapter to it.
    pub fn options(&self) -> Options {
        let options = Options::default().with_api_url(self.url()).with_api_key(self.key.as_str());
        match self.provider.as_str() {
            "daytona" => options.with_api_url(format!("{}/api", self.url())),
            "deno" => options.with_extra("sandbox_url", self.url()).with_extra("org", crate::deno::ORG),
            "e2b" => options.with_extra("sandbox_url", self.url()),
            "modal" => options.with_extra("token_id", crate::modal::token_id()),
            _ => options,
        }
    }

    /// The sandboxes behind it.
    pub fn house(&self) -> &House {
        &self.house
    }

    /// The faults that are to come.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }
}
