//! Data analysis.

use super::{prints, run, sandbox};
use tidebox::SandboxBackend;

#[tokio::test]
async fn a_hundred_thousand_rows_are_grouped_and_drawn() {
    let Some(sandbox) = sandbox() else { return };
    let script = r#"
awk 'BEGIN { print "group,value"; for (i = 0; i < 100000; i++) print "g" i % 5 "," i }' > data.csv
cat > plot.py <<'P'
import pandas as pd
import matplotlib.pyplot as plt

frame = pd.read_csv("data.csv")
means = frame.groupby("group")["value"].mean()
print(len(frame), means.to_dict())
means.plot(kind="bar")
plt.savefig("means.png")
P
python3 plot.py
"#;
    let response = run(&sandbox, script).await;
    let err = String::from_utf8_lossy(&response.stderr).into_owned();
    let expected = "100000 {'g0': 49997.5, 'g1': 49998.5, 'g2': 49999.5, 'g3': 50000.5, 'g4': 50001.5}\n";
    assert_eq!((String::from_utf8_lossy(&response.stdout).as_ref(), err.as_str()), (expected, ""));
    let found = sandbox.download_files(vec![b"/workspace/means.png".to_vec()]).await.expect("the sandbox exists");
    let png = found.into_iter().next().expect("a response").result.expect("the picture exists");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "it is a picture");
    let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((size(16), size(20)), (640, 480));
}

#[tokio::test]
async fn numpy_computes_and_scikit_learn_learns() {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, "python3 -c 'import numpy as np; a = np.arange(6).reshape(2, 3); print((a @ a.T).tolist(), np.linalg.det(np.eye(3)))'", "[[5, 14], [14, 50]] 1.0\n").await;
    prints(&sandbox, "python3 -c 'from sklearn.linear_model import LinearRegression as L; print(round(L().fit([[0], [1], [2]], [1, 3, 5]).predict([[10]])[0], 6))'", "21.0\n").await;
    prints(
        &sandbox,
        "python3 -c 'import sqlite3; print(sqlite3.connect(\":memory:\").execute(\"select 1 + 1\").fetchone())'",
        "(2,)\n",
    )
    .await;
}
