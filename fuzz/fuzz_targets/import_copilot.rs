//! Does any input break the import of sessions of Copilot CLI?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_copilot(data));
