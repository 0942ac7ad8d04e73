//! SandboxFusion's `POST /run_code`.

use serde_json::json;

use crate::client::sandbox_shared;

#[test]
fn a_program_has_the_result_of_sandbox_fusion() {
    let client = sandbox_shared().client("token-a");
    assert_eq!(client.get("/v1/ping").json(), json!("pong"));
    let body = json!({
        "code": "cat; cat in.txt; echo out > out.txt; echo err >&2",
        "language": "bash",
        "stdin": "stdin\n",
        "files": { "in.txt": "aW4K", "dir/IGNORE_THIS_FILE": "eA==", "null.txt": null },
        "fetch_files": ["out.txt", "none.txt"],
    });
    let mut result = client.post("/run_code", body).json();
    assert!(result["run_result"]["execution_time"].take().as_f64().unwrap() < 10.0);
    let expected = json!({
        "status": "Success", "message": "", "compile_result": null, "executor_pod_name": null,
        "files": { "out.txt": "b3V0Cg==" },
        "run_result": {
            "status": "Finished", "execution_time": null, "return_code": 0, "stdout": "stdin\nin\n", "stderr": "err\n",
        },
    });
    assert_eq!(result, expected);
}

#[test]
fn a_failed_program_is_not_a_sandbox_error() {
    let client = sandbox_shared().client("token-a");
    let run = |body| client.post("/run_code", body);
    let failed = run(json!({ "code": "exit 3", "language": "bash" })).json();
    assert_eq!((&failed["status"], &failed["run_result"]["return_code"]), (&json!("Failed"), &json!(3)));
    let slow = run(json!({ "code": "echo part; sleep 20", "language": "bash", "run_timeout": 0.3 })).json();
    assert_eq!(slow["status"], "Failed", "{slow}");
    let slow = &slow["run_result"];
    assert_eq!(
        (&slow["status"], &slow["return_code"], &slow["stdout"]),
        (&json!("TimeLimitExceeded"), &json!(null), &json!("part\n"))
    );
    let other = run(json!({ "code": "x", "language": "cobol" }));
    assert_eq!((other.status, other.json()["status"].clone()), (200, json!("SandboxError")));
    let malformed = run(json!({ "language": "bash" }));
    assert_eq!((malformed.status, malformed.json()["detail"].is_array()), (422, true));
    let left = client.get("/v1/sandboxes").text();
    assert!(!left.contains("\"run-"), "its sandboxes are closed: {left}");
}

#[test]
fn python_runs_or_names_the_missing_pack() {
    let client = sandbox_shared().client("token-a");
    let body = json!({
        "code": "import helper\nprint(helper.value + int(input()))", "language": "python", "stdin": "2\n",
        "files": { "helper.py": "dmFsdWUgPSA0MAo=" },
    });
    let result = client.post("/run_code", body).json();
    match result["status"].as_str().unwrap() {
        "Success" => assert_eq!(result["run_result"]["stdout"], "42\n", "{result}"),
        status => {
            assert_eq!(status, "SandboxError", "{result}");
            assert!(result["message"].as_str().unwrap().contains("tidebox pack add"), "{result}");
            eprintln!("skipped: the pack python is not installed");
        }
    }
}
