//! Host tools in every position of a command line.

use super::*;

#[tokio::test]
async fn it_is_found_like_every_command() {
    let sandbox = sandbox();
    prints(&sandbox, "which ask", "/usr/local/bin/ask\n").await;
    prints(&sandbox, "type ask", "ask is /usr/local/bin/ask\n").await;
    prints(&sandbox, "command -v ask", "/usr/local/bin/ask\n").await;
    prints(&sandbox, "ls /usr/local/bin", "ask\ncode\ncount\ngush\nhang\nupper\n").await;
    prints(&sandbox, "ls -l /usr/local/bin/ask | cut -c1-17", "-rwxr-xr-x 1 root\n").await;
    prints(&sandbox, "[ -x /usr/local/bin/ask ] && echo yes", "yes\n").await;
}

#[tokio::test]
async fn it_receives_the_same_context_as_every_process() {
    let sandbox = sandbox();
    prints(&sandbox, "ask 'a b' \"\" c", "ask|a b||c in /workspace with A unset\n").await;
    prints(&sandbox, "cd /tmp; A=1 /usr/local/bin/ask", "/usr/local/bin/ask in /tmp with A 1\n").await;
    prints(&sandbox, "code 7; echo $?; code 255 || echo $?; if code 0; then echo yes; fi", "7\n255\nyes\n").await;
}

#[tokio::test]
async fn it_works_at_both_ends_of_a_pipe_and_repeatedly() {
    let sandbox = sandbox();
    prints(&sandbox, "printf 'b\\na\\n' | upper | sort", "A\nB\n").await;
    prints(&sandbox, "ask x | upper | tr A-Z a-z | upper", "ASK|X IN /WORKSPACE WITH A UNSET\n").await;
    prints(&sandbox, "seq 1 100000 | upper | upper | tail -1", "100000\n").await;
    prints(&sandbox, "set -o pipefail; code 3 | cat; echo $? ${PIPESTATUS[0]}", "3 3\n").await;
}

#[tokio::test]
async fn it_respects_redirections() {
    let sandbox = sandbox();
    prints(&sandbox, "ask 1 > f; ask 2 >> f; upper < f | cut -d' ' -f1", "ASK|1\nASK|2\n").await;
    prints(&sandbox, "upper <<< hello; upper << E\nhere\nE", "HELLO\nHERE\n").await;
    prints(&sandbox, "upper < /dev/null; count < /dev/null", "0\n").await;
    prints(&sandbox, "exec 3> g; echo hi | upper >&3; cat g", "HI\n").await;
    prints(&sandbox, "head -c 300000 /dev/zero | count; head -c 300000 /dev/zero > z; count < z", "300000\n300000\n")
        .await;
    prints(&sandbox, "diff <(echo A) <(echo a | upper) && echo same", "same\n").await;
    let response = run(&sandbox, "upper < /tmp; echo $?; ask >&-; echo $?").await;
    assert_eq!(
        response.stderr_text(),
        "upper: standard input: Is a directory\nask: standard output: Bad file descriptor\n"
    );
    assert_eq!(response.stdout_text(), "0\n141\n");
}

#[tokio::test]
async fn other_programs_can_start_it() {
    let sandbox = sandbox();
    prints(&sandbox, "echo \"<$(echo in | upper)>\"", "<IN>\n").await;
    prints(&sandbox, "printf '1\\n2\\n' | xargs -n1 ask | cut -d' ' -f1", "ask|1\nask|2\n").await;
    prints(&sandbox, "touch a b; find . -type f -exec ask {} + | cut -d' ' -f1", "ask|./a|./b\n").await;
    prints(
        &sandbox,
        "env A=2 ask; timeout 10 ask t; nohup ask n",
        concat!(
            "ask in /workspace with A 2\n",
            "ask|t in /workspace with A unset\n",
            "ask|n in /workspace with A unset\n"
        ),
    )
    .await;
    prints(&sandbox, "(ask s) | upper; f() { upper; }; echo f | f", "ASK|S IN /WORKSPACE WITH A UNSET\nF\n").await;
    prints(&sandbox, "echo b | upper > out & wait $!; cat out", "B\n").await;
    let script = "printf '#!/usr/local/bin/ask -x\\n' > s; chmod +x s; ./s y | cut -d' ' -f1,2";
    prints(&sandbox, script, "/usr/local/bin/ask|-x|./s|y in\n").await;
    prints(&sandbox, "exec ask last", "ask|last in /workspace with A unset\n").await;
}

#[tokio::test]
async fn a_tool_overrides_a_userland_command() {
    let sandbox = tidebox::sandbox().expect("the engine starts").host_tool("seq", ask).build().expect("it is built");
    prints(&sandbox, "seq 3", "seq|3 in /workspace with A unset\n").await;
    prints(&sandbox, "/bin/seq 2", "1\n2\n").await;
}

#[tokio::test]
async fn many_calls_run_concurrently() {
    let sandbox = tidebox::sandbox()
        .expect("the engine starts")
        .host_tool("nap", |_| async {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            0
        })
        .build()
        .expect("it is built");
    let response = run(&sandbox, "for i in {1..50}; do nap & done; wait; echo done").await;
    assert_eq!(response.output_text(), "done\n");
    assert!(response.duration.as_secs() < 10, "one after the other would take 15 s, not {:?}", response.duration);
}

#[tokio::test]
async fn a_copied_or_forged_file_does_not_run_the_tool() {
    let sandbox = sandbox();
    let copied = run(&sandbox, "cp /usr/local/bin/ask mine; ./mine x; echo $?").await;
    assert_eq!(copied.stdout_text(), "126\n");
    assert!(
        copied.stderr_text().starts_with("mine: cannot run this file: it is a stub of a host tool"),
        "{}",
        copied.stderr_text()
    );
    let forged = run(&sandbox, "cat /usr/local/bin/ask > ask; chmod 755 ask; PATH=.:$PATH; ask; echo $?").await;
    assert_eq!(forged.stdout_text(), "126\n");
    let spoiled = "echo x > /usr/local/bin/ask; mv mine /usr/local/bin/ask; rm -f /usr/local/bin/ask; ask | cut -c1-3";
    assert_eq!(run(&sandbox, spoiled).await.stdout_text(), "ask\n");
    prints(&sandbox, "ln -s /usr/local/bin/ask link; ./link x", "./link|x in /workspace with A unset\n").await;
}

#[tokio::test]
async fn host_data_is_invisible_in_the_sandbox() {
    let secret = "swordfish".to_owned();
    let sandbox = tidebox::sandbox()
        .expect("the engine starts")
        .host_tool("login", move |mut call| {
            let secret = secret.clone();
            async move {
                let _ = call.stdout.write("ready\n").await;
                call.stdin.read(1).await;
                u8::from(secret.is_empty())
            }
        })
        .build()
        .expect("it is built");
    let look = "sleep 5 | login > out & until [ -s out ]; do :; done
        for p in /proc/[0-9]*; do cat $p/cmdline $p/environ $p/status $p/stat $p/comm; ls -l $p/fd $p/exe $p/cwd; done
        cat /usr/local/bin/login; env; kill %1 $! 2>/dev/null; cat out";
    let seen = run(&sandbox, look).await;
    assert!(seen.stdout_text().contains("login") && seen.stdout_text().ends_with("ready\n"), "{}", seen.output_text());
    let snapshot = sandbox.snapshot().expect("it is open");
    assert!(!seen.output_text().contains("swordfish"));
    assert!(!format!("{snapshot:?}{sandbox:?}").contains("swordfish"));
    let mut tar = Vec::new();
    snapshot.to_tar(&mut tar).expect("it can be written");
    assert!(!tar.windows(9).any(|window| window == b"swordfish"));
}
