//! Does any input break the reading of an event stream?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::events(data));
