//! Has libFuzzer try [`evergraph_fuzz::log`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| evergraph_fuzz::log(bytes));
