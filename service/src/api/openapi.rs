//! Routes together with their description, so that the document and the routes cannot differ.

use axum::Router;
use axum::routing::MethodRouter;
use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::values::ErrorBody;
use crate::service::Service;

/// Routes and their description.
pub(super) struct Api {
    pub(super) router: Router<Service>,
    paths: Map<String, Value>,
    schemas: SchemaGenerator,
}

impl Default for Api {
    fn default() -> Self {
        // OpenAPI 3.1 has the JSON Schema of 2020-12.
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self { router: Router::new(), paths: Map::new(), schemas: settings.into_generator() }
    }
}

/// Description of one operation.
pub(super) struct Operation {
    method: &'static str,
    summary: &'static str,
    query: Vec<Value>,
    request: Option<Value>,
    responses: Map<String, Value>,
}

impl Operation {
    pub(super) fn new(method: &'static str, summary: &'static str) -> Self {
        Self { method, summary, query: Vec::new(), request: None, responses: Map::new() }
    }

    /// Adds a parameter of the query. `kind` is its JSON type.
    pub(super) fn query(mut self, name: &str, kind: &str, required: bool, description: &str) -> Self {
        let schema = json!({ "type": kind });
        self.query.push(json!({
            "name": name, "in": "query", "required": required, "description": description, "schema": schema,
        }));
        self
    }

    /// Sets a request body of JSON.
    pub(super) fn json<T: JsonSchema>(mut self, api: &mut Api) -> Self {
        let schema = api.schemas.subschema_for::<T>();
        self.request = Some(json!({ "required": true, "content": { "application/json": { "schema": schema } } }));
        self
    }

    /// Sets a request body of any bytes.
    pub(super) fn bytes(mut self) -> Self {
        self.request = Some(json!({ "required": true, "content": { "application/octet-stream": {} } }));
        self
    }

    /// Adds a response of JSON.
    pub(super) fn returns<T: JsonSchema>(self, api: &mut Api, status: u16, description: &str) -> Self {
        let schema = api.schemas.subschema_for::<T>();
        self.returns_media(status, description, "application/json", json!({ "schema": schema }))
    }

    /// Adds a media type to a response.
    pub(super) fn returns_media(mut self, status: u16, description: &str, media: &str, content: Value) -> Self {
        let response = self.responses.entry(status.to_string()).or_insert_with(|| json!({ "content": {} }));
        response["description"] = json!(description);
        if !media.is_empty() {
            response["content"][media] = content;
        }
        self
    }
}

impl Api {
    /// Adds a path with its methods.
    pub(super) fn route(&mut self, path: &str, operations: Vec<Operation>, methods: MethodRouter<Service>) {
        self.router = std::mem::take(&mut self.router).route(path, methods);
        let error = self.schemas.subschema_for::<ErrorBody>();
        let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let in_path: Vec<Value> = names
            .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
            .collect();
        let mut described = Map::new();
        for operation in operations {
            let mut responses = operation.responses;
            responses.insert(
                "default".to_owned(),
                json!({ "description": "An error.", "content": { "application/json": { "schema": error } } }),
            );
            let parameters = [in_path.clone(), operation.query].concat();
            let mut value = json!({
                "summary": operation.summary,
                "operationId": operation_id(operation.method, path),
                "parameters": parameters,
                "responses": responses,
            });
            if let Some(request) = operation.request {
                value["requestBody"] = request;
            }
            described.insert(operation.method.to_owned(), value);
        }
        self.paths.insert(path.to_owned(), Value::Object(described));
    }

    /// Returns the routes and their OpenAPI document.
    pub(super) fn finish(mut self) -> (Router<Service>, Value) {
        let document = json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Tidebox",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Sandboxes for code written by language models.",
            },
            "security": [{ "token": [] }],
            "paths": self.paths,
            "components": {
                "schemas": self.schemas.take_definitions(true),
                "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            },
        });
        (self.router, document)
    }
}

/// Returns a name for generated clients, such as `post_v1_sandboxes_id_execute`.
fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    [method].into_iter().chain(words).collect::<Vec<_>>().join("_")
}
