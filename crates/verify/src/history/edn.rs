//! Reads histories in EDN: one map per event, an `:invoke` and then its `:ok`, `:fail` or `:info`.
//!
//! ```text
//! {:type :invoke, :process 1, :value [[:append 9 2] [:r 8 nil]]}
//! {:type :ok,     :process 1, :value [[:append 9 2] [:r 8 [1]]]}
//! ```
//!
//! Times are the places of the events in the text: an event comes after whatever stands before it.

use hashbrown::HashMap;

use super::{History, Op, Outcome, Txn};

/// How deep collections may lie in one another.
const DEPTH_MAX: usize = 16;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct EdnError {
    line: usize,
    problem: &'static str,
}

/// A value: what histories are made of.
#[derive(Clone, Debug, PartialEq)]
enum Value<'t> {
    Nil,
    Number(i64),
    Word(&'t str),
    List(Vec<Value<'t>>),
    Map(Vec<Value<'t>>),
}

/// Reads a history.
///
/// # Errors
/// If the text is not EDN of the part used here, or its events are not those of lists.
pub fn read(text: &str) -> Result<History, EdnError> {
    let mut reader = Reader { text, at: 0 };
    let mut history = History::default();
    let mut open: HashMap<i64, usize> = HashMap::new();
    let mut time = 0;
    while reader.skip_blank() {
        let value = reader.value(0)?;
        time += 1;
        let entered = match Event::new(&value) {
            Ok(Some(event)) => event.enter(&mut history, &mut open, time),
            Ok(None) => Ok(()),
            Err(problem) => Err(problem),
        };
        entered.map_err(|problem| reader.error(problem))?;
    }
    Ok(history)
}

struct Event {
    kind: String,
    process: i64,
    ops: Vec<Op>,
}

impl Event {
    /// `None` for an event that is about no client.
    fn new(value: &Value<'_>) -> Result<Option<Self>, &'static str> {
        let Value::Map(entries) = value else {
            return Err("an event is a map");
        };
        let get = |name: &str| {
            let mut pairs = entries.chunks_exact(2);
            pairs.find(|pair| pair[0] == Value::Word(name)).map(|pair| &pair[1])
        };
        let Some(Value::Word(kind)) = get(":type") else {
            return Err("an event has a :type");
        };
        let process = match get(":process") {
            Some(Value::Number(process)) => *process,
            Some(_) => return Ok(None),
            None => 0,
        };
        let ops = match get(":value") {
            Some(Value::List(ops)) => ops.iter().map(op).collect::<Result<_, _>>()?,
            _ => return Err("an event has a list as :value"),
        };
        Ok(Some(Self { kind: (*kind).to_owned(), process, ops }))
    }

    fn enter(
        self,
        history: &mut History,
        open: &mut HashMap<i64, usize>,
        time: u64,
    ) -> Result<(), &'static str> {
        let outcome = match &*self.kind {
            ":invoke" => {
                open.insert(self.process, history.txns.len());
                history.txns.push(Txn {
                    process: u32::try_from(self.process)
                        .map_err(|_| "a process is a small number")?,
                    began: time,
                    ended: u64::MAX,
                    outcome: Outcome::Unknown,
                    ops: self.ops,
                });
                return Ok(());
            }
            ":ok" => Outcome::Committed,
            ":fail" => Outcome::Aborted,
            ":info" => return Ok(()),
            _ => return Err("the :type is :invoke, :ok, :fail or :info"),
        };
        let index = open.remove(&self.process).ok_or("nothing was invoked")?;
        let txn = &mut history.txns[index];
        (txn.ended, txn.outcome) = (time, outcome);
        if outcome == Outcome::Committed {
            txn.ops = self.ops;
        }
        Ok(())
    }
}

fn op(value: &Value<'_>) -> Result<Op, &'static str> {
    let small = |value: &Value<'_>| match value {
        Value::Number(number) => u32::try_from(*number).map_err(|_| "numbers are small"),
        _ => Err("lists hold numbers"),
    };
    let Value::List(parts) = value else {
        return Err("an operation is a list");
    };
    match parts.as_slice() {
        [Value::Word(":append"), key, element] => Ok(Op::Append(small(key)?, small(element)?)),
        [Value::Word(":r"), key, Value::Nil] => Ok(Op::Read(small(key)?, Vec::new())),
        [Value::Word(":r"), key, Value::List(list)] => {
            Ok(Op::Read(small(key)?, list.iter().map(small).collect::<Result<_, _>>()?))
        }
        _ => Err("an operation is [:append key element] or [:r key list]"),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn error(&self, problem: &'static str) -> EdnError {
        EdnError { line: self.text[..self.at].lines().count().max(1), problem }
    }

    /// Moves over blanks, commas and comments; false at the end.
    fn skip_blank(&mut self) -> bool {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with(';') {
                return !trimmed.is_empty();
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value<'t>, EdnError> {
        if !self.skip_blank() {
            return Err(self.error("the text ends inside of a value"));
        }
        if depth > DEPTH_MAX {
            return Err(self.error("the collections lie too deep in one another"));
        }
        let rest = &self.text[self.at..];
        match rest.as_bytes()[0] {
            b'{' => Ok(Value::Map(self.until('}', depth)?)),
            b'[' => Ok(Value::List(self.until(']', depth)?)),
            b'(' => Ok(Value::List(self.until(')', depth)?)),
            b'"' => self.quoted(rest),
            b'#' => {
                // A tag says what the next value means; here none matters.
                self.word(rest)?;
                self.value(depth + 1)
            }
            _ => self.word(rest),
        }
    }

    /// The values up to a closing bracket.
    fn until(&mut self, close: char, depth: usize) -> Result<Vec<Value<'t>>, EdnError> {
        self.at += 1;
        let mut values = Vec::new();
        while self.skip_blank() {
            if self.text[self.at..].starts_with(close) {
                self.at += 1;
                return Ok(values);
            }
            values.push(self.value(depth + 1)?);
        }
        Err(self.error("a bracket is not closed"))
    }

    fn quoted(&mut self, rest: &'t str) -> Result<Value<'t>, EdnError> {
        let mut is_escaped = false;
        for (place, byte) in rest.bytes().enumerate().skip(1) {
            if byte == b'"' && !is_escaped {
                self.at += place + 1;
                return Ok(Value::Word(&rest[..=place]));
            }
            is_escaped = byte == b'\\' && !is_escaped;
        }
        Err(self.error("a text is not closed"))
    }

    fn word(&mut self, rest: &'t str) -> Result<Value<'t>, EdnError> {
        let ends = |c: char| c.is_whitespace() || ",;()[]{}".contains(c);
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.error("a bracket is closed that was not opened"));
        }
        self.at += word.len();
        Ok(match (word, word.parse()) {
            (_, Ok(number)) => Value::Number(number),
            ("nil", _) => Value::Nil,
            _ => Value::Word(word),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_become_transactions() {
        let text = "; a comment\n\
            {:type :invoke, :process 1 :value [[:append 9 2] [:r 8 nil]]}\n\
            {:type :invoke :process 2, :value [[:append 9 3]]}\n\
            {:type :ok, :process 1, :value [[:append 9 2] [:r 8 [1 4]]], :time 7}\n\
            {:type :fail, :process 2, :value [[:append 9 3]], :error #a.b[\"c \\\"}\"]}\n\
            {:type :info, :process :nemesis, :value \"n1\"}";
        let history = read(text).expect("it is well formed");
        let [first, second] = history.txns.as_slice() else { panic!("{history:?}") };
        assert_eq!(first.ops, [Op::Append(9, 2), Op::Read(8, vec![1, 4])]);
        assert_eq!((first.began, first.ended, first.outcome), (1, 3, Outcome::Committed));
        assert_eq!((second.began, second.ended, second.outcome), (2, 4, Outcome::Aborted));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let problem = |text: &str| read(text).expect_err("it is wrong").to_string();
        assert_eq!(problem("\n{:type :ok"), "line 2: a bracket is not closed");
        assert_eq!(problem("{:type :ok, :value []}"), "line 1: nothing was invoked");
        assert_eq!(problem("[1]"), "line 1: an event is a map");
        assert_eq!(problem("[\"a"), "line 1: a text is not closed");
        assert_eq!(problem("]"), "line 1: a bracket is closed that was not opened");
        let deep = "[".repeat(100);
        assert!(problem(&deep).contains("too deep"), "{}", problem(&deep));
    }
}
