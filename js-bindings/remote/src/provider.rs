//! A provider for the TypeScript class.

use std::sync::Arc;

use js_sys::{Array, Promise};
use tidebox_core::{Error, ListPage, ListRequest, SandboxId, SandboxPath, SandboxProvider, Selector};
use tidebox_js_values::js::{dictionary, failure, object};
use tidebox_js_values::promise;
use tidebox_js_values::value::variables;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::options;
use crate::sandbox::Sandbox;

/// Creates, finds, lists and deletes sandboxes at one provider.
#[wasm_bindgen(js_name = RemoteProvider)]
#[derive(Debug)]
pub struct Provider {
    provider: Arc<dyn SandboxProvider>,
    cwd: Option<SandboxPath>,
}

#[wasm_bindgen(js_class = RemoteProvider)]
impl Provider {
    /// Opens the provider with this name.
    ///
    /// # Errors
    /// An object of `kind` and `message` for an unknown name, for unsupported options, and without a key.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, given: &JsValue) -> Result<Self, JsValue> {
        let open = || {
            let options = options::read(given)?;
            let cwd = options.cwd.clone();
            Ok(Self { provider: tidebox_remote_adapters::provider(name, options)?, cwd })
        };
        open().map_err(|error: Error| failure(&error))
    }

    /// Creates a sandbox with the labels of the options.
    pub fn create(&self) -> Promise {
        self.find(Ok(Selector::any_new()))
    }

    /// Connects to the sandbox with this id.
    pub fn connect(&self, id: String) -> Promise {
        self.find(Selector::id(id))
    }

    /// Returns a sandbox with these labels, or creates one.
    #[wasm_bindgen(js_name = getOrCreate)]
    pub fn get_or_create(&self, labels: &JsValue) -> Promise {
        self.find(Ok(Selector::labels(variables(labels))))
    }

    /// Returns a page of sandboxes with these labels.
    pub fn list(&self, labels: &JsValue, cursor: Option<String>) -> Promise {
        let provider = Arc::clone(&self.provider);
        let request = ListRequest { cursor, labels: variables(labels).into_iter().collect() };
        promise(async move { Ok(page(provider.list(request).await?)) })
    }

    /// Deletes a sandbox; a missing one is not an error.
    pub fn delete(&self, id: String) -> Promise {
        let provider = Arc::clone(&self.provider);
        promise(async move {
            provider.delete(&SandboxId::parse(id)?).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    fn find(&self, selector: Result<Selector, Error>) -> Promise {
        let (provider, cwd) = (Arc::clone(&self.provider), self.cwd.clone());
        promise(async move { Ok(Sandbox::new(provider.get_or_create(selector?).await?, cwd).into()) })
    }
}

fn page(page: ListPage) -> JsValue {
    let sandboxes = page.sandboxes.iter().map(|info| {
        let labels = info.labels.iter().map(|(name, value)| (name.as_str(), JsValue::from_str(value)));
        object([("id", JsValue::from_str(info.id.as_str())), ("labels", dictionary(labels))])
    });
    let cursor = page.cursor.map_or(JsValue::UNDEFINED, |cursor| JsValue::from_str(&cursor));
    object([("sandboxes", sandboxes.collect::<Array>().into()), ("cursor", cursor)])
}
