//! Does a frame belong to a library, or to the program of the user?

/// Parts of the path of a file that belongs to a library or to the runtime of a language.
const MARKS: &[&str] = &[
    "/site-packages/",
    "/dist-packages/",
    "/lib/python2",
    "/lib/python3",
    "/lib64/python3",
    "<frozen ",
    "/node_modules/",
    "node:",
    "/rustc/",
    "/.cargo/registry/",
    "/.cargo/git/",
    "/pkg/mod/",
    "/go/src/",
    "/golang/src/",
    "/vendor/",
];

/// Returns true if the file at this path belongs to a library.
pub(super) fn is_library(path: &str) -> bool {
    let path = path.replace('\\', "/");
    MARKS.iter().any(|mark| path.contains(mark)) || is_python_of_windows(&path)
}

/// `C:/Python312/Lib/asyncio/runners.py`.
fn is_python_of_windows(path: &str) -> bool {
    path.split_once("/Lib/").is_some_and(|(home, _)| {
        home.rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with("Python"))
    })
}
