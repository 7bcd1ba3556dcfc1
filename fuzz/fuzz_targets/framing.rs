//! Does any input break the reading of a byte stream of lines?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::framing(data));
