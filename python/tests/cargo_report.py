"""A plugin for pytest that closes with the counts in the words of Rust's tests, so that
``cargo xtask test`` adds them to its own. ``SUITE`` names what runs."""

import os


def pytest_sessionstart(session):
    print(f"     Running pytest ({os.environ.get('SUITE', 'python')})")


def pytest_terminal_summary(terminalreporter):
    def count(*outcomes):
        return sum(len(terminalreporter.stats.get(outcome, [])) for outcome in outcomes)

    for report in terminalreporter.stats.get("failed", []) + terminalreporter.stats.get(
        "error", []
    ):
        terminalreporter.write_line(f"test {report.nodeid} ... FAILED")
    failed, ignored = count("failed", "error"), count("skipped", "xfailed", "deselected")
    verdict = "FAILED" if failed else "ok"
    terminalreporter.write_line(
        f"test result: {verdict}. {count('passed', 'xpassed')} passed; {failed} failed; "
        f"{ignored} ignored"
    )
