"""Analyses a table in the cells of a Python session, as in a notebook, and returns a plot to the host."""

import pathlib
import tempfile

from tidebox import Sandbox

SALES = "month,shop,amount\n1,north,120\n1,south,80\n2,north,150\n2,south,95\n3,north,130\n3,south,140\n"

CELLS = [
    "import pandas as pd\nsales = pd.read_csv('sales.csv')\nsales.groupby('shop').amount.sum().to_dict()",
    "by_month = sales.pivot(index='month', columns='shop', values='amount')\nround(by_month.south.corr(by_month.north), 2)",
    "by_month.plot.bar(title='Sales');",
    "by_month.loc[4]",
]


def main() -> None:
    sandbox = Sandbox(files={"sales.csv": SALES})
    session = sandbox.python_session()
    figures: list[str] = []
    for number, cell in enumerate(CELLS, 1):
        # Variables stay; an exception is a result, which a model can read.
        result = session.run(cell, timeout=60)
        print(f"[{number}]", result.value or result.error_message or "")
        figures += result.figures
    target = pathlib.Path(tempfile.mkdtemp()) / "sales.png"
    target.write_bytes(sandbox.download_files(figures)[0].content or b"")
    print(f"{len(figures)} figure, starts with {target.read_bytes()[1:4].decode()}")


if __name__ == "__main__":
    main()
