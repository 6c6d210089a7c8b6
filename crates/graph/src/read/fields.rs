//! The columns of a line, and reading numbers from bytes.

use std::borrow::Cow;

use super::error::{ReadError, WeightFault};
use super::lines::{At, is_blank};

/// What stands between the columns of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// Spaces and tabs in any number, or a comma among them.
    Any,
    /// One comma; spaces beside it do not count.
    Comma,
    /// One tab; spaces beside it do not count.
    Tab,
    /// Spaces and tabs in any number.
    Blank,
}

impl Separator {
    /// Whether a column that is not quoted ends before this byte.
    #[inline]
    fn ends(self, byte: u8) -> bool {
        match self {
            Self::Any => is_blank(byte) || byte == b',',
            Self::Comma => byte == b',',
            Self::Tab => byte == b'\t',
            Self::Blank => is_blank(byte),
        }
    }

    /// Whether the byte may stand beside a separator without meaning.
    #[inline]
    fn pads(self, byte: u8) -> bool {
        match self {
            Self::Any | Self::Comma | Self::Blank => is_blank(byte),
            Self::Tab => byte == b' ',
        }
    }

    /// The byte that parts two columns whatever stands beside it.
    #[inline]
    fn mark(self) -> Option<u8> {
        match self {
            Self::Any | Self::Comma => Some(b','),
            Self::Tab => Some(b'\t'),
            Self::Blank => None,
        }
    }
}

/// One column of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// What stands there; without the quotes around it.
    pub(crate) bytes: &'a [u8],
    /// Which column, from 1.
    pub(crate) column: usize,
    quoted: bool,
}

impl<'a> Field<'a> {
    /// The text of the column, for messages.
    pub(crate) fn shown(&self) -> String {
        shown(self.bytes)
    }

    /// The text of the column. Two double quotes within quotes stand for one.
    pub(crate) fn text(&self, at: At<'_>) -> Result<Cow<'a, str>, ReadError> {
        let text = str::from_utf8(self.bytes)
            .map_err(|_| ReadError::InvalidUtf8 { at: at.place(), column: self.column })?;
        if text.contains('\0') {
            let problem = format!("column {} holds a NUL character", self.column);
            return Err(at.malformed(problem));
        }
        if self.quoted && text.contains('"') {
            return Ok(text.replace("\"\"", "\"").into());
        }
        Ok(text.into())
    }

    /// The column as the key of a vertex.
    pub(crate) fn number(&self, at: At<'_>) -> Result<u64, ReadError> {
        match parse_u64(self.bytes) {
            Some(number) => Ok(number),
            None if is_integer(self.bytes) => Err(ReadError::KeyOutOfRange {
                at: at.place(),
                column: self.column,
                key: self.shown(),
                least: 0,
                greatest: u64::MAX,
            }),
            None => Err(ReadError::KeyNotANumber {
                at: at.place(),
                column: self.column,
                key: self.shown(),
            }),
        }
    }

    /// The column as the weight of an edge.
    pub(crate) fn weight(&self, at: At<'_>) -> Result<f64, ReadError> {
        let fault = match parse_f64(self.bytes) {
            Some(weight) if weight.is_finite() => return Ok(weight),
            Some(weight) if weight.is_nan() => WeightFault::Nan,
            Some(_) => WeightFault::Infinite,
            None => WeightFault::NotANumber,
        };
        Err(ReadError::BadWeight {
            at: at.place(),
            column: self.column,
            weight: self.shown(),
            fault,
        })
    }
}

/// The columns of a line, one after the other.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    separator: Separator,
    /// How many columns were taken.
    taken: usize,
    /// Whether a separator was passed that makes another column certain.
    expects_more: bool,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(line: &'a [u8], separator: Separator) -> Self {
        Self { rest: trim_start(line), separator, taken: 0, expects_more: false }
    }

    /// A line whose first `taken` columns were read by other means.
    pub(crate) fn after(rest: &'a [u8], separator: Separator, taken: usize) -> Self {
        let mut fields = Self { rest, separator, taken, expects_more: false };
        fields.pass_separator();
        fields
    }

    /// The next column, or `None` at the end of the line.
    pub(crate) fn next(&mut self, at: At<'_>) -> Result<Option<Field<'a>>, ReadError> {
        if self.rest.is_empty() && !self.expects_more {
            return Ok(None);
        }
        self.taken += 1;
        let field = match self.rest {
            [b'"', inner @ ..] => self.quoted(inner, at)?,
            _ => self.plain(at)?,
        };
        self.pass_separator();
        Ok(Some(field))
    }

    /// The next column of a line that must have `needed` columns.
    pub(crate) fn need(&mut self, needed: usize, at: At<'_>) -> Result<Field<'a>, ReadError> {
        let found = self.taken;
        self.next(at)?.ok_or_else(|| ReadError::TooFewColumns { at: at.place(), found, needed })
    }

    /// The next column as a number, or `None` at the end of the line.
    #[inline]
    pub(crate) fn next_number(&mut self, at: At<'_>) -> Result<Option<u64>, ReadError> {
        if let Some((number, rest)) = leading_number(self.rest)
            && rest.first().is_none_or(|&byte| self.separator.ends(byte))
        {
            self.rest = rest;
            self.taken += 1;
            self.pass_separator();
            return Ok(Some(number));
        }
        self.next(at)?.map(|field| field.number(at)).transpose()
    }

    /// How many columns were taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    /// Fails unless the line ends here.
    pub(crate) fn end(&mut self, at: At<'_>) -> Result<(), ReadError> {
        let most = self.taken;
        match self.next(at)? {
            None => Ok(()),
            Some(_) => Err(ReadError::TooManyColumns { at: at.place(), most }),
        }
    }

    fn plain(&mut self, at: At<'_>) -> Result<Field<'a>, ReadError> {
        let separator = self.separator;
        let length = self.rest.iter().position(|&byte| separator.ends(byte));
        let (bytes, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        let bytes = trim_end(bytes);
        self.rest = rest;
        if bytes.is_empty() {
            return Err(at.malformed(format!("column {} is empty", self.taken)));
        }
        Ok(Field { bytes, column: self.taken, quoted: false })
    }

    fn quoted(&mut self, inner: &'a [u8], at: At<'_>) -> Result<Field<'a>, ReadError> {
        let mut end = 0;
        loop {
            match &inner[end..] {
                [] => {
                    let column = self.taken;
                    return Err(at.malformed(format!(
                        "column {column} opens a double quote that is not closed on this line"
                    )));
                }
                [b'"', b'"', ..] => end += 2,
                [b'"', ..] => break,
                _ => end += 1,
            }
        }
        self.rest = &inner[end + 1..];
        Ok(Field { bytes: &inner[..end], column: self.taken, quoted: true })
    }

    /// Passes what stands between two columns. A quote that is closed in the middle of a column
    /// simply begins the next one.
    #[inline]
    fn pass_separator(&mut self) {
        let separator = self.separator;
        let pads = self.rest.iter().take_while(|&&byte| separator.pads(byte));
        self.rest = &self.rest[pads.count()..];
        self.expects_more = false;
        if let [first, rest @ ..] = self.rest
            && separator.mark() == Some(*first)
        {
            self.rest = trim_start(rest);
            // A tab at the end of a line is as good as a space; a comma announces a column.
            self.expects_more = *first == b',';
        }
    }
}

fn trim_start(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().take_while(|byte| is_blank(**byte)).count();
    &bytes[blanks..]
}

fn trim_end(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().rev().take_while(|byte| is_blank(**byte));
    &bytes[..bytes.len() - blanks.count()]
}

/// The bytes as text for a message: at most 40 characters, the invalid ones replaced.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const SHOWN_CHARACTERS: usize = 40;
    // A character takes at most four bytes.
    let start = &bytes[..bytes.len().min(4 * SHOWN_CHARACTERS)];
    let text = String::from_utf8_lossy(start);
    let mut shown: String =
        text.chars().take(SHOWN_CHARACTERS).flat_map(char::escape_debug).collect();
    if start.len() < bytes.len() || text.chars().nth(SHOWN_CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}

/// The number that the bytes begin with, and the bytes after it. `None` if they begin with none,
/// or with one of more than 19 digits.
#[inline]
pub(crate) fn leading_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    /// Numbers of so many digits fit 64 bits.
    const DIGITS_MAX: usize = 19;
    let mut value = 0u64;
    let mut digits = 0;
    while let Some(digit) = bytes.get(digits).map(|byte| byte.wrapping_sub(b'0')) {
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        digits += 1;
    }
    (1..=DIGITS_MAX).contains(&digits).then(|| (value, &bytes[digits..]))
}

/// The two numbers that a line begins with, and what follows them: the common case, without
/// looking for the ends of the columns first. `None` for every line that is not plainly so.
#[inline]
pub(crate) fn two_numbers(line: &[u8], separator: Separator) -> Option<(u64, u64, &[u8])> {
    let (first, rest) = leading_number(line)?;
    let rest = match rest {
        [byte, rest @ ..] if separator.ends(*byte) => rest,
        _ => return None,
    };
    let (second, rest) = leading_number(rest)?;
    let ends = rest.first().is_none_or(|&byte| separator.ends(byte));
    ends.then_some((first, second, rest))
}

/// The bytes as a number of 64 bits; a plus sign is allowed.
pub(crate) fn parse_u64(bytes: &[u8]) -> Option<u64> {
    match leading_number(bytes) {
        Some((value, [])) => Some(value),
        _ => str::from_utf8(bytes).ok()?.parse().ok(),
    }
}

/// Whether the bytes are digits, perhaps after a sign.
pub(crate) fn is_integer(bytes: &[u8]) -> bool {
    let digits = match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        _ => bytes,
    };
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// The bytes as a floating-point number, correctly rounded.
///
/// Up to 15 digits are exact in binary, and so is a power of ten up to 10^22: their quotient is
/// rounded once. Everything else goes to the standard library.
pub(crate) fn parse_f64(bytes: &[u8]) -> Option<f64> {
    short_decimal(bytes).or_else(|| str::from_utf8(bytes).ok()?.parse().ok())
}

fn short_decimal(bytes: &[u8]) -> Option<f64> {
    const POWERS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    if bytes.len() > POWERS.len() {
        return None;
    }
    let (whole, rest) = leading_number(bytes)?;
    match rest {
        [] => Some(whole as f64),
        [b'.', decimals @ ..] => {
            let (fraction, []) = leading_number(decimals)? else {
                return None;
            };
            let value = whole * 10u64.pow(decimals.len() as u32) + fraction;
            Some(value as f64 / POWERS[decimals.len()])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;

    fn columns(line: &str, separator: Separator) -> Result<Vec<String>, String> {
        let path: Arc<Path> = Path::new("f").into();
        let at = At { path: &path, line: 7 };
        let mut fields = Fields::new(line.as_bytes(), separator);
        let mut all = Vec::new();
        while let Some(field) = fields.next(at).map_err(|error| error.to_string())? {
            assert_eq!(field.column, all.len() + 1);
            let text = field.text(at).map_err(|error| error.to_string())?;
            all.push(text.into_owned());
        }
        Ok(all)
    }

    #[test]
    fn columns_are_cut_by_their_separator() {
        use Separator::{Any, Comma, Tab};
        for (line, separator, expected) in [
            ("1 2", Any, &["1", "2"][..]),
            ("  1 \t 2\t3  ", Any, &["1", "2", "3"]),
            ("1 , 2,3", Any, &["1", "2", "3"]),
            ("a b,c", Comma, &["a b", "c"]),
            (" a b , c ", Comma, &["a b", "c"]),
            ("a b\tc,d", Tab, &["a b", "c,d"]),
            ("a\tb\t", Tab, &["a", "b"]),
            (r#""a ""b"", c" d"#, Any, &[r#"a "b", c"#, "d"]),
            (r#""a","b""#, Comma, &["a", "b"]),
            (r#""" x"#, Any, &["", "x"]),
            ("", Any, &[]),
        ] {
            let expected = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(columns(line, separator), Ok(expected), "{line:?}");
        }
    }

    #[test]
    fn broken_columns_are_named() {
        for (line, expected) in [
            ("1,,2", "f:7: column 2 is empty"),
            (",2", "f:7: column 1 is empty"),
            ("1,2,", "f:7: column 3 is empty"),
            (r#"1 "2"#, "f:7: column 2 opens a double quote that is not closed on this line"),
            ("1 a\0b", "f:7: column 2 holds a NUL character"),
        ] {
            let error = columns(line, Separator::Any).expect_err(line);
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn two_numbers_agree_with_the_columns() {
        for line in ["1 2", "1,2", "1\t2 x", "18446744073709551615 1", "1 2x", "1 ,2", " 1 2"] {
            for separator in [Separator::Any, Separator::Comma, Separator::Tab] {
                if let Some((u, v, rest)) = two_numbers(line.as_bytes(), separator) {
                    let cut = columns(line, separator).expect("good line");
                    assert_eq!((u.to_string(), v.to_string()), (cut[0].clone(), cut[1].clone()));
                    assert_eq!(rest.is_empty(), cut.len() == 2);
                }
            }
        }
        assert_eq!(two_numbers(b"12,34", Separator::Comma), Some((12, 34, &b""[..])));
        assert_eq!(two_numbers(b"1 2,3", Separator::Comma), None);
    }

    #[test]
    fn numbers_of_every_size_are_read() {
        assert_eq!(parse_u64(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse_u64(b"18446744073709551616"), None);
        assert_eq!(parse_u64(b"00000000000000000000000007"), Some(7));
        assert_eq!(parse_u64(b"+7"), Some(7));
        for none in ["", "-1", "1.0", "1_0", "x"] {
            assert_eq!(parse_u64(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn weights_are_rounded_as_the_standard_library_does() {
        for text in [
            "0",
            "1",
            "0.1",
            "3.14159",
            "123456789012345",
            "999999999999999",
            "1234567890.12345",
            "9007199254740993",
            "0.000000000000001",
            "1e5",
            "-2.5",
            ".5",
            "5.",
            "+1",
            "1.",
            "00.10",
            "99999999999999.9",
            "9999999999999.99",
            "inf",
            "1e400",
            "",
            ".",
            "1..2",
            "0x1",
            "1.2.3",
        ] {
            let ours = parse_f64(text.as_bytes());
            assert_eq!(ours, text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn long_and_invalid_bytes_are_shown_short() {
        assert_eq!(shown(b"a\tb\xff"), "a\\tb\u{fffd}");
        assert_eq!(shown(&[b'x'; 200]).chars().count(), 41);
    }
}
