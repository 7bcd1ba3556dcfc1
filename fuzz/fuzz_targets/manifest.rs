#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::manifest(data));
