//! Does any answer of a provider break the reading of a message?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::reply(data));
