//! Which protocol revisions exist, and which are legacy and which modern?

/// Every published revision, oldest first.
pub const VERSIONS: &[&str] = &[
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

/// The newest revision with `initialize` and sessions.
pub const LATEST_LEGACY: &str = "2025-11-25";

/// The newest stateless revision.
pub const LATEST_MODERN: &str = "2026-07-28";

/// The two ways of speaking MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize`, sessions, server-to-client requests.
    Legacy,
    /// Stateless: each request contains its version and the client's capabilities.
    Modern,
}

impl Era {
    /// The protocol, legacy or modern, of a published revision.
    pub fn from_version(version: &str) -> Option<Self> {
        VERSIONS.contains(&version).then(|| {
            if version >= LATEST_MODERN {
                Self::Modern
            } else {
                Self::Legacy
            }
        })
    }

    /// Its spelling in a suite.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_belongs_to_one_era() {
        assert_eq!(Era::from_version("2025-11-25"), Some(Era::Legacy));
        assert_eq!(Era::from_version("2026-07-28"), Some(Era::Modern));
        assert_eq!(Era::from_version("2026-01-01"), None);
    }
}
