//! Does any input break the reading of a JSON-RPC message?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::message(data));
