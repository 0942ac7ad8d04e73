//! The web page in Chromium, driven by its DevTools protocol.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Fixture, sandbox_shared};

/// A browser with one page.
struct Browser {
    child: Child,
    _profile: tempfile::TempDir,
    socket: tokio_tungstenite::WebSocketStream<tokio::net::TcpStream>,
    session: Option<String>,
    number: u64,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts Chromium. Prints the reason and returns `None` if it is missing.
fn start() -> Option<(Child, tempfile::TempDir, String)> {
    let program = std::env::var_os("TIDEBOX_CHROMIUM").unwrap_or_else(|| "chromium".into());
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--remote-debugging-port=0",
        ])
        .args(["--window-size=1200,1100", "--no-first-run"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg("about:blank")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("skipped: Chromium cannot be started ({error}); install it, or set TIDEBOX_CHROMIUM to its path");
            return None;
        }
    };
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    for line in lines {
        let line = line.unwrap();
        if let Some(url) = line.strip_prefix("DevTools listening on ") {
            return Some((child, profile, url.to_owned()));
        }
    }
    panic!("Chromium ended before it listened");
}

impl Browser {
    async fn open() -> Option<Self> {
        let (child, profile, url) = start()?;
        let host = url.trim_start_matches("ws://").split('/').next().unwrap().to_owned();
        let stream = tokio::net::TcpStream::connect(&host).await.unwrap();
        let (socket, _) = tokio_tungstenite::client_async(&url, stream).await.unwrap();
        let mut browser = Self { child, _profile: profile, socket, session: None, number: 0 };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" })).await["targetId"].clone();
        let attach = json!({ "targetId": target, "flatten": true });
        let session = browser.call("Target.attachToTarget", attach).await["sessionId"].clone();
        browser.session = Some(session.as_str().unwrap().to_owned());
        browser.call("Page.enable", json!({})).await;
        browser.call("Log.enable", json!({})).await;
        Some(browser)
    }

    async fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(message.to_string())).await.unwrap();
        loop {
            let Message::Text(text) = self.socket.next().await.unwrap().unwrap() else { continue };
            let reply: Value = serde_json::from_str(&text).unwrap();
            if reply["method"] == "Log.entryAdded" {
                let entry = &reply["params"]["entry"];
                assert!(entry["source"] != "security", "the page violates its policy: {entry}");
            }
            if reply["id"] == self.number {
                assert!(reply["error"].is_null(), "{method}: {reply}");
                return reply["result"].clone();
            }
        }
    }

    async fn evaluate(&mut self, script: &str) -> Value {
        let parameters = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let reply = self.call("Runtime.evaluate", parameters).await;
        assert!(reply["exceptionDetails"].is_null(), "{script}: {reply}");
        reply["result"]["value"].clone()
    }

    /// Waits until a condition of the page is true.
    async fn wait_for(&mut self, condition: &str) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.evaluate(&format!("!!({condition})")).await != json!(true) {
            let page = self.evaluate("document.body.innerText").await;
            assert!(Instant::now() < deadline, "{condition}: {page}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            let (key, sent) = if letter == '\r' {
                ("Enter".to_owned(), "\r".to_owned())
            } else {
                (letter.to_string(), letter.to_string())
            };
            let event = json!({ "type": "keyDown", "key": key, "text": sent });
            self.call("Input.dispatchKeyEvent", event).await;
            self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key })).await;
        }
    }
}

async fn use_page(browser: &mut Browser, fixture: &Fixture) {
    let client = fixture.client("token-a");
    let sandbox = client.post("/v1/sandboxes", json!({ "labels": { "shown": "<b>here</b>" } })).json();
    let id = sandbox["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/sandboxes/{id}");
    client.execute(&path, "mkdir dir; echo text > dir/file.txt; seq 1000 > numbers.txt");
    client.post(&format!("{path}/processes"), json!({ "command": "sleep 300" }));
    browser.call("Page.navigate", json!({ "url": format!("{}/", fixture.server.url()) })).await;
    browser.wait_for("document.querySelector('#status')?.textContent.includes('token')").await;
    let login = "document.querySelector('#token').value = 'token-a'; document.querySelector('#login button').click()";
    browser.evaluate(login).await;
    browser.wait_for(&format!("document.querySelector('#sandboxes').innerText.includes('{id}')")).await;
    assert_eq!(browser.evaluate("sessionStorage.getItem('token')").await, "token-a");
    assert_eq!(browser.evaluate("document.cookie + localStorage.length + location.search").await, "0");
    let shown = browser.evaluate("document.querySelector('#sandboxes').innerText").await;
    assert!(shown.as_str().unwrap().contains("shown=<b>here</b>"), "labels are text: {shown}");
    let select =
        format!("[...document.querySelectorAll('#sandboxes .link')].find((b) => b.textContent === '{id}').click()");
    browser.evaluate(&select).await;
    browser.wait_for("document.querySelector('#processes').innerText.includes('sleep 300')").await;
    browser.wait_for("document.querySelector('#files').innerText.includes('numbers.txt')").await;
    browser
        .evaluate("[...document.querySelectorAll('#files .link')].find((b) => b.textContent === 'dir').click()")
        .await;
    browser.wait_for("document.querySelector('#files').innerText.includes('file.txt')").await;
    browser.evaluate("document.querySelector('#connect').click()").await;
    browser.wait_for("document.querySelector('#terminal').innerText.includes('$')").await;
    browser.evaluate("document.querySelector('#terminal').focus()").await;
    browser.type_text("printf '\\033[32mgreen %s\\033[0m\\n' $((6*7)); ls --color=always /\r").await;
    browser.wait_for("[...document.querySelectorAll('#terminal .c2')].some((s) => s.textContent === 'green 42')").await;
    browser.wait_for("document.querySelectorAll('#figures svg polyline').length === 5").await;
    let figure = "[...document.querySelectorAll('#figures figure')].find((f) => f.innerText.includes('Sandboxes')).querySelector('strong').textContent";
    assert!(browser.evaluate(figure).await.as_str().unwrap().parse::<u32>().unwrap() >= 1);
    // Two more refreshes, so that the figures have lines.
    tokio::time::sleep(Duration::from_secs(5)).await;
    if let Some(file) = std::env::var_os("TIDEBOX_SCREENSHOT") {
        let image = browser.call("Page.captureScreenshot", json!({ "captureBeyondViewport": true })).await;
        let image = base64::engine::general_purpose::STANDARD.decode(image["data"].as_str().unwrap()).unwrap();
        std::fs::write(file, image).unwrap();
    }
    let delete = "[...document.querySelector('tr.selected').querySelectorAll('button')].find((b) => b.textContent === 'Delete').click()";
    browser.evaluate(delete).await;
    browser.wait_for(&format!("!document.querySelector('#sandboxes').innerText.includes('{id}')")).await;
    browser.wait_for("document.querySelector('#sandbox').hidden").await;
    assert_eq!(client.get(&path).status, 404);
}

#[test]
fn the_page_shows_a_sandbox_and_its_terminal() {
    let fixture = sandbox_shared();
    fixture.runtime.block_on(async {
        let Some(mut browser) = Browser::open().await else { return };
        use_page(&mut browser, &fixture).await;
    });
}

#[test]
fn the_page_loads_only_its_own_files() {
    let fixture = sandbox_shared();
    let page = fixture.client("").get("/");
    let head = page.head.to_lowercase();
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{head}");
    let text = page.text();
    assert!(!text.contains("style=") && !text.contains("onclick") && !text.contains("//cdn"), "{text}");
    let mut files = 0;
    for part in text.split('"').filter(|part| part.starts_with("/page/")) {
        assert_eq!(fixture.client("").get(part).status, 200, "{part}");
        files += 1;
    }
    assert_eq!(files, 2);
}
