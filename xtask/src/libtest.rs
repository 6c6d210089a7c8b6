//! Reads what `cargo test` prints, line by line, and adds up what happened.
//!
//! # What is read
//! ```text
//!      Running unittests src/lib.rs (target/debug/deps/name-0123)   a suite begins
//!    Doc-tests evergraph                                            a suite begins
//! test path::of::test ... FAILED                                    a failure, by name
//! skipped: no folder EVERGRAPH_DATA/road                            a test had no data
//! test result: ok. 5 passed; 0 failed; 1 ignored; ...               counts of the suite
//! ```
//! Doc-tests may print several results under one heading; they are added up.

use std::collections::BTreeMap;
use std::fmt;

/// Tests by what became of them. A test that found no data and said so has passed for `cargo test`;
/// here it counts as skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
    skipped: u64,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.skipped += other.skipped;
    }

    fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, ignored, skipped } = self;
        write!(f, "passed {passed}, failed {failed}, ignored {ignored}, skipped(no data) {skipped}")
    }
}

#[derive(Debug, Default)]
struct Suite {
    name: String,
    counts: Counts,
    /// Tests that have said since the last result that they had no data.
    without_data: u64,
    /// Whether a result was printed; a suite that crashed printed none.
    ended: bool,
}

impl Suite {
    /// A crash is a failure of whatever ran.
    fn counts(&self) -> Counts {
        let crashes = u64::from(!self.ended);
        Counts { failed: self.counts.failed + crashes, ..self.counts }
    }
}

/// What one or more runs of `cargo test` have printed so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    suites: Vec<Suite>,
    failures: Vec<String>,
    /// Suite names by the file name of the program that holds the tests.
    names: BTreeMap<String, String>,
    section: Section,
}

/// What the next lines are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    /// Anything else.
    #[default]
    Running,
    /// What one test that passed has printed, and whether it has said that it had no data.
    Printed { without_data: bool },
    /// Names of tests that passed.
    Passed,
    /// What tests that failed have printed.
    Failed,
}

/// Whether a line tells a person anything: lists of what passed do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    Yes,
    No,
}

impl Report {
    /// Says what the suite in the program of this file name is called from here on.
    pub(crate) fn name_program(&mut self, file: String, name: String) {
        self.names.insert(file, name);
    }

    /// Takes the next line of the output.
    pub(crate) fn line(&mut self, line: &str) -> Show {
        if let Some(rest) = line.strip_prefix("     Running ") {
            self.begin_program(rest);
        } else if let Some(name) = line.strip_prefix("   Doc-tests ") {
            self.begin(format!("{name} (doc)"));
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.end(result);
        } else if line.starts_with("skipped:") || line.contains(" ... skipped:") {
            self.skip();
        } else if let Some(test) = failed_test(line) {
            let suite = self.current().name.clone();
            self.failures.push(format!("{suite}: {test}"));
        }
        self.section = self.section.after(line);
        if self.section == Section::Passed { Show::No } else { Show::Yes }
    }

    /// Whether there is anything that did not go well.
    pub(crate) fn has_failures(&self) -> bool {
        self.total().failed > 0 || !self.failures.is_empty()
    }

    /// Whether nothing ran at all: a name that no test has, most likely.
    pub(crate) fn is_empty(&self) -> bool {
        self.total().is_empty()
    }

    /// The sum over all suites.
    fn total(&self) -> Counts {
        self.suites.iter().fold(Counts::default(), |mut sum, suite| {
            sum.add(suite.counts());
            sum
        })
    }

    /// The total in the words that most test runners close with; what was left out for any reason
    /// is one number.
    pub(crate) fn closing_line(&self) -> String {
        let Counts { passed, failed, ignored, skipped } = self.total();
        format!("tests: {passed} passed, {failed} failed, {} skipped", ignored + skipped)
    }

    fn begin_program(&mut self, rest: &str) {
        // The path is relative or not, as the build folder is: the file name, with its hash, is
        // enough to tell programs apart.
        let file = rest.rsplit(['/', '\\']).next().and_then(|file| file.strip_suffix(')'));
        let name = file.and_then(|file| self.names.get(file)).cloned();
        self.begin(name.unwrap_or_else(|| rest.to_owned()));
    }

    fn begin(&mut self, name: String) {
        let suite = Suite { name, ..Suite::default() };
        self.suites.push(suite);
    }

    fn skip(&mut self) {
        match &mut self.section {
            // One test may miss several files, and a failure stays one.
            Section::Printed { without_data: true } | Section::Failed => return,
            Section::Printed { without_data } => *without_data = true,
            Section::Running | Section::Passed => {}
        }
        self.current().without_data += 1;
    }

    fn end(&mut self, result: &str) {
        let suite = self.current();
        suite.ended = true;
        let skipped = std::mem::take(&mut suite.without_data);
        suite.counts.add(Counts {
            passed: number_before(result, " passed").saturating_sub(skipped),
            failed: number_before(result, " failed"),
            ignored: number_before(result, " ignored"),
            skipped,
        });
    }

    fn current(&mut self) -> &mut Suite {
        if self.suites.is_empty() {
            self.begin("tests".to_owned());
        }
        self.suites.last_mut().expect("one was added when there was none")
    }
}

impl Section {
    fn after(self, line: &str) -> Self {
        match line {
            "successes:" => Self::Passed,
            "failures:" => Self::Failed,
            _ if line.starts_with("test result: ") => Self::Running,
            _ if self == Self::Failed => self,
            _ if line.starts_with("---- ") => Self::Printed { without_data: false },
            _ if self == Self::Passed && !line.is_empty() && !line.starts_with("    ") => {
                Self::Running
            }
            _ => self,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = || self.suites.iter().filter(|suite| !suite.counts().is_empty());
        let width = shown().map(|suite| suite.name.len()).max().unwrap_or(0);
        for suite in shown() {
            let note = if suite.ended { "" } else { "  DID NOT FINISH" };
            writeln!(f, "{:width$}  {}{note}", suite.name, suite.counts())?;
        }
        for failure in &self.failures {
            writeln!(f, "failed: {failure}")?;
        }
        write!(f, "{:width$}  {}", "total", self.total())
    }
}

fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// The number that stands before `word`, or zero.
fn number_before(text: &str, word: &str) -> u64 {
    let end = text.find(word).unwrap_or(0);
    let digits = text[..end].rsplit(' ').next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(lines: &str) -> Report {
        let mut report = Report::default();
        report.name_program("a-1".to_owned(), "a (unit)".to_owned());
        for line in lines.lines() {
            report.line(line);
        }
        report
    }

    #[test]
    fn counts_are_added_up_by_suite() {
        let report = report(
            "     Running unittests src/lib.rs (target/debug/deps/a-1)\n\
             test x::y ... ok\n\
             test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
             \x20  Doc-tests a\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\
             test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        );
        assert!(!report.has_failures());
        let text = report.to_string();
        assert!(text.contains("a (unit)  passed 5, failed 0, ignored 1"), "{text}");
        assert!(text.contains("a (doc)   passed 5, failed 0, ignored 0"), "{text}");
        assert!(text.ends_with("passed 10, failed 0, ignored 1, skipped(no data) 0"), "{text}");
        assert_eq!(report.closing_line(), "tests: 10 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn a_failure_is_counted_and_named() {
        let report = report(
            "     Running unittests src/lib.rs (target/debug/deps/a-1)\n\
             test x::y ... FAILED\n\
             test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
        );
        assert!(report.has_failures());
        assert!(report.to_string().contains("failed: a (unit): x::y"), "{report}");
    }

    #[test]
    fn a_test_without_data_is_skipped_once_whether_it_was_captured_or_not() {
        let report = report(
            "     Running unittests src/lib.rs (target/debug/deps/a-1)\n\
             skipped: written past the capture\n\
             test x ... skipped: behind the name of the test\n\
             this skipped: is not at the start of a line\n\
             successes:\n\n---- y stdout ----\nskipped: one file\nskipped: another\n\n\
             ---- z stdout ----\nskipped: one file\n\nsuccesses:\n    x\n    y\n    z\n\n\
             failures:\n\n---- f stdout ----\nskipped: and then it failed\n\n\
             test result: FAILED. 9 passed; 1 failed; 0 ignored",
        );
        let expected = Counts { passed: 5, failed: 1, skipped: 4, ..Counts::default() };
        assert_eq!(report.total(), expected);
    }

    #[test]
    fn lists_of_what_passed_are_not_shown() {
        let mut report = Report::default();
        let lines = "test a ... ok\n\nsuccesses:\n\n---- a stdout ----\nskipped: no data\n    x\n\n\n\
                     successes:\n    a\n    b::c\n\ntest result: ok. 2 passed";
        let shown: Vec<&str> =
            lines.lines().filter(|line| report.line(line) == Show::Yes).collect();
        let expected = "test a ... ok\n\n---- a stdout ----\nskipped: no data\n    x\n\n\n\
                        test result: ok. 2 passed";
        assert_eq!(shown.join("\n"), expected);
    }

    #[test]
    fn a_suite_that_crashed_is_a_failure() {
        let report = report(
            "     Running unittests src/lib.rs (target/debug/deps/a-1)\n\
             \x20    Running tests/b.rs (target/debug/deps/b-2)\n\
             test result: ok. 1 passed; 0 failed; 0 ignored",
        );
        assert!(report.has_failures());
        assert!(report.to_string().contains("DID NOT FINISH"), "{report}");
        assert_eq!(report.closing_line(), "tests: 1 passed, 1 failed, 0 skipped");
    }
}
