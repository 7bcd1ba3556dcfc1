//! Does any input break the reading of a cassette?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::cassette(data));
