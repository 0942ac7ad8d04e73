//! `npm` and `npx`: scripts of a project and installed programs.

use crate::{is_ready, run, sandbox};

/// A project with scripts and an installed program.
const PROJECT: &str = r#"
mkdir -p demo/node_modules/.bin demo/node_modules/hello demo/src && cd demo
cat > package.json <<'END'
{ "name": "demo", "version": "1.2.3", "scripts": { "pretest": "echo before", "test": "hello", "fail": "exit 3",
  "show": "node -p 'process.env.npm_lifecycle_event + process.argv.slice(1)'" } }
END
echo '{ "name": "hello", "bin": "hello.js" }' > node_modules/hello/package.json
printf '#!/usr/bin/env node\nconsole.log("hello", ...process.argv.slice(2));\n' > node_modules/hello/hello.js
chmod +x node_modules/hello/hello.js; ln -s ../hello/hello.js node_modules/.bin/hello
"#;

#[tokio::test]
async fn scripts_run_as_with_npm() {
    if !is_ready() {
        return;
    }
    // Compared with npm 11.19.1 on Linux.
    let commands = "cd src; npm test; npm run fail; echo $?; npm run -s show -- 'a b'; npm run none; echo $?; npm run none --if-present; echo $?; npm root";
    let response = run(&sandbox(), &format!("{PROJECT}{commands}")).await;
    let expected = "\n> demo@1.2.3 pretest\n> echo before\n\nbefore\n\n> demo@1.2.3 test\n> hello\n\nhello\n\n> demo@1.2.3 fail\n> exit 3\n\n3\n\
                    showa b\n1\n0\n/workspace/demo/node_modules\n";
    assert_eq!(response.stdout_text(), expected, "{}", response.stderr_text());
    let expected = "npm error Missing script: \"none\"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\n";
    assert_eq!(response.stderr_text(), expected);
}

#[tokio::test]
async fn installed_programs_run_by_npx() {
    if !is_ready() {
        return;
    }
    let response =
        run(&sandbox(), &format!("{PROJECT}npx hello -x 1; npm exec -- hello 2; npx -c 'hello 3'; npx --version"))
            .await;
    assert_eq!(response.stdout_text(), "hello -x 1\nhello 2\nhello 3\n10.9.9\n", "{}", response.stderr_text());
}

#[tokio::test]
async fn installing_without_a_network_says_what_is_missing() {
    if !is_ready() {
        return;
    }
    let response = run(&sandbox(), "npm install lodash; echo $?").await;
    assert_eq!(response.stdout_text(), "1\n");
    let stderr = response.stderr_text();
    assert!(
        stderr.contains("the network is disabled in this sandbox") && stderr.contains("--allow registry"),
        "{stderr}"
    );
}
