//! Does any input break the reading of a server tape?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::tape(data));
