//! Has libFuzzer try [`evergraph_fuzz::checkpoint`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| evergraph_fuzz::checkpoint(bytes));
