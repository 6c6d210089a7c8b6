//! Fuzz targets: functions that take any bytes for a file that somebody wrote, and panic if that does
//! harm.
//!
//! # How
//!   The files of a database carry checksums, which random bytes do not pass: an input is the content
//!   of a file as `docs/design/log-format.md` describes it, and `files` seals it. What comes of it must
//!   be a sound database that can be changed, or be refused as damaged. A text file must be read or
//!   refused.
//! # Where
//!   `src/bin/` hands each target to libFuzzer; `cargo xtask fuzz` runs them. `corpus/` holds inputs that
//!   reach far, and those that once did harm; the tests of this crate look at all of them.
#![forbid(unsafe_code)]

mod files;
mod text;

pub use files::{checkpoint, log};
pub use text::text;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Takes any bytes.
    type Target = fn(&[u8]);

    /// Each target by its name, which is that of its part of the corpus.
    const TARGETS: [(&str, Target); 3] =
        [("log", super::log), ("checkpoint", super::checkpoint), ("text", super::text)];

    #[test]
    fn the_corpus_does_no_harm() {
        for (name, target) in TARGETS {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
            let mut inputs = 0;
            for file in fs::read_dir(&folder).expect("a corpus") {
                let path = file.expect("an entry").path();
                println!("{}", path.display());
                target(&fs::read(&path).expect("readable"));
                inputs += 1;
            }
            assert!(inputs > 2, "{name}: {inputs} inputs");
        }
    }
}
