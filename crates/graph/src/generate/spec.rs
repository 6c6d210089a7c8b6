//! Names of generated graphs: `graph500-20`, `uniform-20`, `graph500-20-s7`.

use std::fmt;
use std::str::FromStr;

/// The seed of a name without one.
pub const DEFAULT_SEED: u64 = 1;

/// How the ends of an edge are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Model {
    /// Kronecker as in Graph500: few hubs, many vertices of small degree.
    Graph500,
    /// Every vertex alike.
    Uniform,
}

impl Model {
    fn name(self) -> &'static str {
        match self {
            Self::Graph500 => "graph500",
            Self::Uniform => "uniform",
        }
    }
}

/// A graph that can be made: `MODEL-SCALE`, or `MODEL-SCALE-sSEED` where the seed is not
/// [`DEFAULT_SEED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphSpec {
    /// How the ends of an edge are drawn.
    pub model: Model,
    /// There are `2^scale` vertices.
    pub scale: u32,
    /// What the random numbers follow from.
    pub seed: u64,
}

/// A name that names no graph that can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a generated graph; write graph500-SCALE or uniform-SCALE, \
     with -sSEED after it for another seed, as in graph500-20-s7"
)]
pub struct SpecError(pub String);

impl GraphSpec {
    /// Whether a name is meant for a generated graph: it begins with a model and a digit. Such a
    /// name never means a file; a file of that name can be called `./graph500-20`.
    pub fn is_meant_by(name: &str) -> bool {
        split_model(name).is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()))
    }
}

fn split_model(name: &str) -> Option<(Model, &str)> {
    [Model::Graph500, Model::Uniform].into_iter().find_map(|model| {
        let rest = name.strip_prefix(model.name())?.strip_prefix('-')?;
        Some((model, rest))
    })
}

impl FromStr for GraphSpec {
    type Err = SpecError;

    fn from_str(name: &str) -> Result<Self, SpecError> {
        let parse = || {
            let (model, rest) = split_model(name)?;
            let (scale, seed) = match rest.split_once("-s") {
                Some((scale, seed)) => (scale, digits(seed)?),
                None => (rest, DEFAULT_SEED),
            };
            let scale = u32::try_from(digits(scale)?).ok()?;
            Some(Self { model, scale, seed })
        };
        parse().ok_or_else(|| SpecError(name.to_owned()))
    }
}

/// A number written in digits alone, without a sign.
fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl fmt::Display for GraphSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.model.name(), self.scale)?;
        if self.seed == DEFAULT_SEED {
            return Ok(());
        }
        write!(f, "-s{}", self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        for name in
            ["graph500-20", "uniform-1", "graph500-20-s7", "uniform-4-s18446744073709551615"]
        {
            let spec: GraphSpec = name.parse().expect(name);
            assert_eq!(spec.to_string(), name);
            assert!(GraphSpec::is_meant_by(name));
        }
        let spec: GraphSpec = "uniform-18-s3".parse().expect("good");
        assert_eq!((spec.model, spec.scale, spec.seed), (Model::Uniform, 18, 3));
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "",
            "graph500",
            "graph500-",
            "graph500-x",
            "graph500-20-7",
            "graph500-20-s",
            "graph500-20@7",
            "graph500--1",
            "graph500-+1",
            "Graph500-20",
            "uniform-99999999999",
            "uniform-2-s18446744073709551616",
            "uniform-2-s3x",
        ] {
            let error = name.parse::<GraphSpec>().expect_err(name);
            assert!(error.to_string().starts_with(&format!("`{name}` is not")), "{error}");
        }
        for file in ["graph500.txt", "./graph500-20", "uniform-graph.el", "data/uniform-3"] {
            assert!(!GraphSpec::is_meant_by(file), "{file}");
        }
    }
}
