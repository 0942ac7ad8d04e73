//! Functions of this program as commands in the sandbox: one that keeps a secret, one in a pipeline, one that streams.

use std::time::Duration;

use tidebox::{BrokenPipe, ExecuteRequest, HostCall, Sandbox, SandboxBackend};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidebox::Error> {
    let token = "sk-swordfish".to_owned();
    let sandbox = tidebox::sandbox()?
        .host_tool("price", move |call| price(call, token.clone()))
        .host_tool("rot13", rot13)
        .host_tool("ticker", ticker)
        .build()?;

    // The command knows the token; its callers do not.
    assert_eq!(run(&sandbox, "price pear").await?, "pear: 3\n");
    assert_eq!(
        run(&sandbox, "cat $(which price); env; cat /proc/self/environ | grep swordfish").await?.find("sk-"),
        None
    );

    // It takes a path and reads it with the rights of the sandbox.
    assert_eq!(run(&sandbox, "printf 'fig\\npear\\n' > list; price -f list | sort -r").await?, "pear: 3\nfig: 9\n");

    // It works like any other command.
    assert_eq!(run(&sandbox, "echo Uryyb | rot13 | tee greeting | wc -l; cat greeting").await?, "1\nHello\n");

    // It writes continuously, and ends when its reader closes the pipe.
    assert_eq!(run(&sandbox, "ticker | head -3 | tr '\\n' ' '").await?, "1 2 3 ");
    Ok(())
}

async fn run(sandbox: &Sandbox, command: &str) -> Result<String, tidebox::Error> {
    Ok(sandbox.execute(ExecuteRequest::new(command)).await?.output_text().into_owned())
}

/// The service, which requires a token.
fn lookup(token: &str, name: &str) -> Option<u32> {
    let prices = [("pear", 3), ("fig", 9)];
    prices.iter().find(|(known, _)| *known == name && token == "sk-swordfish").map(|(_, price)| *price)
}

/// Prints the price of its argument, or of every line of the file after `-f`.
async fn price(mut call: HostCall, token: String) -> u8 {
    let fruit = match call.argument(1).as_deref() {
        Some("-f") => match call.files.read(call.arguments.get(2).cloned().unwrap_or_default(), 64 << 10).await {
            Ok(list) => String::from_utf8_lossy(&list).into_owned(),
            Err(error) => {
                let _ = call.stderr.write(format!("price: {error}\n")).await;
                return 1;
            }
        },
        Some(name) => name.to_owned(),
        None => return 2,
    };
    for name in fruit.lines() {
        let line = match lookup(&token, name) {
            Some(price) => format!("{name}: {price}\n"),
            None => format!("{name}: unknown\n"),
        };
        if call.stdout.write(line).await.is_err() {
            return BrokenPipe::EXIT_CODE;
        }
    }
    0
}

/// Copies its input with every letter replaced.
async fn rot13(mut call: HostCall) -> u8 {
    loop {
        let mut bytes = call.stdin.read(64 << 10).await;
        if bytes.is_empty() {
            return 0;
        }
        for byte in &mut bytes {
            let first = if byte.is_ascii_lowercase() { b'a' } else { b'A' };
            if byte.is_ascii_alphabetic() {
                *byte = first + (*byte - first + 13) % 26;
            }
        }
        if call.stdout.write(bytes).await.is_err() {
            return BrokenPipe::EXIT_CODE;
        }
    }
}

/// Writes a number periodically, without end.
async fn ticker(mut call: HostCall) -> u8 {
    for number in 1u64.. {
        if call.stdout.write(format!("{number}\n")).await.is_err() {
            return BrokenPipe::EXIT_CODE;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    0
}
