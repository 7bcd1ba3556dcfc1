//! Does any input break the import of events of AG-UI?
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| mcptest_fuzz::import_ag_ui(data));
