//! Does any input break the import of rollouts of Codex?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_codex(data));
