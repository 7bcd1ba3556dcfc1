//! Does any input break the reading of a mock server's manifest?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::manifest(data));
