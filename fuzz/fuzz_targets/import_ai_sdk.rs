//! Does any input break the import of messages of the Vercel AI SDK?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_ai_sdk(data));
