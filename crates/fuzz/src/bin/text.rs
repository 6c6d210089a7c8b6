//! Has libFuzzer try [`evergraph_fuzz::text`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| evergraph_fuzz::text(bytes));
