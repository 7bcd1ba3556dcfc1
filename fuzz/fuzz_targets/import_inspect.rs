//! Does any input break the import of logs of Inspect?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_inspect(data));
