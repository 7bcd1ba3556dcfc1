//! Does any input break the reading of rows of data?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::rows(data));
