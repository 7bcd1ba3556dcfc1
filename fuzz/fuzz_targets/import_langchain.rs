//! Does any input break the import of LangChain messages and LangSmith runs?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_langchain(data));
