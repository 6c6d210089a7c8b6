//! Results for programs: graphalytics, csv, json.
//!
//! Floating-point numbers are written in the shortest form that is read back as the same number.

use std::borrow::Cow;
use std::io::{Result, Write};
use std::time::Duration;

use evergraph::graph::Key;

use super::Report;
use super::compute::Answer;
use super::prepare::{Loaded, Steps};
use super::values::{Value, value, vertices};

/// A line `key value` per vertex, in id order.
pub(super) fn graphalytics(report: &Report<'_>, out: &mut dyn Write) -> Result<()> {
    for (v, key) in vertices(&report.keys) {
        write!(out, "{} ", word(key))?;
        match value(&report.answer, v, &report.keys) {
            Some(Value::Whole(number)) => writeln!(out, "{number}")?,
            Some(Value::Real(number)) => writeln!(out, "{number:?}")?,
            Some(Value::Key(key)) => writeln!(out, "{}", word(key))?,
            Some(Value::Unreached(word)) => writeln!(out, "{word}")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// A key as one word: in double quotes, doubled inside, if it has blanks. Our readers take it so.
fn word(key: &Key) -> Cow<'_, str> {
    let blank = |c: char| c.is_ascii_whitespace();
    quoted(key, |text| text.is_empty() || text.contains(blank) || text.contains('"'))
}

/// A header and a line per vertex, or the one number there is.
pub(super) fn csv(report: &Report<'_>, out: &mut dyn Write) -> Result<()> {
    if let Answer::Triangles(output) = &report.answer {
        return write!(out, "triangles\n{}\n", output.triangles);
    }
    writeln!(out, "vertex,value")?;
    for (v, key) in vertices(&report.keys) {
        write!(out, "{},", field(key))?;
        match value(&report.answer, v, &report.keys) {
            Some(Value::Whole(number)) => writeln!(out, "{number}")?,
            Some(Value::Real(number)) => writeln!(out, "{number:?}")?,
            Some(Value::Key(key)) => writeln!(out, "{}", field(key))?,
            Some(Value::Unreached(_)) | None => writeln!(out)?,
        }
    }
    Ok(())
}

/// A key as a field of RFC 4180.
fn field(key: &Key) -> Cow<'_, str> {
    quoted(key, |text| text.contains([',', '"', '\n', '\r']))
}

fn quoted(key: &Key, needs_quotes: impl Fn(&str) -> bool) -> Cow<'_, str> {
    match key {
        Key::Text(text) if needs_quotes(text) => {
            format!("\"{}\"", text.replace('"', "\"\"")).into()
        }
        Key::Text(text) => Cow::Borrowed(text),
        Key::Number(number) => number.to_string().into(),
    }
}

/// One object: what was computed on which graph, how long it took, and a value per vertex.
pub(super) fn json(report: &Report<'_>, out: &mut dyn Write) -> Result<()> {
    let Report { plan, graph, .. } = report;
    writeln!(out, "{{")?;
    writeln!(out, "  \"algorithm\": {},", text(plan.algorithm.name()))?;
    writeln!(out, "  \"graph\": {},", text(&plan.input.name()))?;
    writeln!(out, "  \"directed\": {},", graph.directed)?;
    writeln!(out, "  \"weighted\": {},", graph.weighted)?;
    writeln!(out, "  \"version\": {},", graph.version)?;
    writeln!(out, "  \"vertices\": {},", graph.vertices)?;
    writeln!(out, "  \"edges\": {},", graph.edges)?;
    times(report, out)?;
    if let Answer::Triangles(output) = &report.answer {
        return write!(out, "  \"triangles\": {}\n}}\n", output.triangles);
    }
    write!(out, "  \"values\": [")?;
    let mut separator = "";
    for (v, key) in vertices(&report.keys) {
        write!(out, "{separator}\n    {{\"vertex\": {}, \"value\": ", json_key(key))?;
        separator = ",";
        match value(&report.answer, v, &report.keys) {
            Some(Value::Whole(number)) => write!(out, "{number}}}")?,
            Some(Value::Real(number)) => write!(out, "{number:?}}}")?,
            Some(Value::Key(key)) => write!(out, "{}}}", json_key(key))?,
            Some(Value::Unreached(_)) | None => write!(out, "null}}")?,
        }
    }
    write!(out, "\n  ]\n}}\n")
}

/// The time of the algorithm, and those of the other steps.
fn times(report: &Report<'_>, out: &mut dyn Write) -> Result<()> {
    let mut time =
        |name: &str, time: Duration| writeln!(out, "  \"{name}\": {:?},", time.as_secs_f64());
    time("seconds", report.times.compute)?;
    match &report.steps {
        Steps::Opened(opened) => time("open_seconds", *opened)?,
        Steps::Loaded { loaded, replayed } => {
            let Loaded { read, load, .. } = loaded.unwrap_or_default();
            time("read_seconds", read)?;
            time("load_seconds", load)?;
            replayed.iter().try_for_each(|&(_, replay)| time("update_seconds", replay))?;
        }
    }
    report.times.verify.map_or(Ok(()), |verify| time("verify_seconds", verify))
}

fn json_key(key: &Key) -> Cow<'_, str> {
    match key {
        Key::Number(number) => number.to_string().into(),
        Key::Text(key) => text(key).into(),
    }
}

fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_quoted_where_they_must_be() {
        let key = |text: &str| Key::Text(text.into());
        assert_eq!(word(&key("a")), "a");
        assert_eq!(word(&key("a b")), "\"a b\"");
        assert_eq!(word(&key("")), "\"\"");
        assert_eq!(word(&key("a,b")), "a,b");
        assert_eq!(field(&key("a b")), "a b");
        assert_eq!(field(&key("a,\"b\"")), "\"a,\"\"b\"\"\"");
        assert_eq!(json_key(&key("a\"\n")), "\"a\\\"\\n\"");
        assert_eq!(json_key(&Key::Number(u64::MAX)), "18446744073709551615");
    }
}
