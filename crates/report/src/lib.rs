//! Reporters: a [`Report`](mcptest_core::report::Report) in, bytes out. One folder per format.
