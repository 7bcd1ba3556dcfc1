//! Which of mcptest's environment variables does a server get?
//!
//! A server under test is a foreign program: it gets the variables that programs need to run, and
//! only the keys that the suite passes by name.

use std::ffi::OsString;

/// The variables that the official SDKs pass to a server, as `sudo` does.
const SAFE: &[&str] = if cfg!(windows) {
    &[
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "USERNAME",
        "USERPROFILE",
    ]
} else {
    &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]
};

/// The variables that `npx`, `uvx` and the programs that they fetch also need on some machines: the language,
/// folders, proxies and certificates. No name here is that of a secret.
const SURROUNDINGS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NPM_CONFIG_CACHE",
    "UV_CACHE_DIR",
];

/// Returns true if a server gets this variable by default. A shell's function is code, not a value.
fn is_inherited(name: &str, value: &str) -> bool {
    let is_named = |known: &&str| {
        if cfg!(windows) {
            name.eq_ignore_ascii_case(known)
        } else {
            name == *known
        }
    };
    // The tools that read these take them in either case.
    let is_around = |known: &&str| name.eq_ignore_ascii_case(known);
    let is_known =
        SAFE.iter().any(is_named) || SURROUNDINGS.iter().any(is_around) || name.starts_with("LC_");
    is_known && !value.starts_with("()")
}

/// mcptest's environment, divided into the variables that a server gets and the others.
pub(crate) struct ServerEnvironment {
    /// The variables that a server gets.
    pub(crate) inherited: Vec<(OsString, OsString)>,
    /// The names of the variables that it does not get.
    pub(crate) withheld: Vec<String>,
}

impl ServerEnvironment {
    /// Divides the variables of this process.
    pub(crate) fn of_this_process() -> Self {
        let (inherited, withheld): (Vec<_>, Vec<_>) =
            std::env::vars_os().partition(|(name, value)| {
                is_inherited(&name.to_string_lossy(), &value.to_string_lossy())
            });
        let withheld = withheld
            .into_iter()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        Self {
            inherited,
            withheld,
        }
    }
}

/// The names that appear in the text as whole words.
pub(crate) fn named_in(text: &str, names: &[String]) -> Vec<String> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    // A short name is also a common word.
    let is_named = |name: &&String| name.contains('_') && words.contains(&name.as_str());
    names.iter().filter(is_named).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_gets_what_programs_need_and_nothing_that_is_secret() {
        for name in [
            "PATH",
            "LC_ALL",
            "https_proxy",
            "HTTPS_PROXY",
            "SSL_CERT_FILE",
            "npm_config_cache",
        ] {
            assert!(is_inherited(name, "x"), "{name}");
        }
        for name in [
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "AWS_PROFILE",
            "npm_config__authToken",
            "SSH_AUTH_SOCK",
        ] {
            assert!(!is_inherited(name, "x"), "{name}");
        }
        assert!(!is_inherited("PATH", "() { :; }; echo"));
    }

    #[test]
    fn a_withheld_name_is_found_as_a_word() {
        let names = ["API_TOKEN", "TOKEN", "KEY_X"].map(str::to_owned);
        assert_eq!(
            named_in(
                "error: $API_TOKEN (TOKEN) is not set, MY_KEY_X neither",
                &names
            ),
            ["API_TOKEN"]
        );
    }
}
