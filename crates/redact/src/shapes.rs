//! Which texts have the shape of a token that some service gives out?

use super::base64;
use super::decode::percent_byte;
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

/// A known kind of token.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The name in the placeholder.
    pub(crate) name: &'static str,
    /// The service of the token.
    pub(crate) of: &'static str,
    /// The pattern of the token. If it has a group, only the group is the secret.
    pub(crate) pattern: &'static str,
    /// The beginnings of the token: the pattern is tried only there.
    starts: &'static [&'static str],
    /// True if the placeholder carries a hash: only if the token is drawn from at least 2^80 values.
    pub(crate) is_hashed: bool,
    /// True if a letter or digit before it rules the token out.
    begins_a_word: bool,
    /// A check that no pattern can express.
    holds: fn(&[u8]) -> bool,
}

const fn token(
    name: &'static str,
    of: &'static str,
    starts: &'static [&'static str],
    pattern: &'static str,
) -> Shape {
    Shape {
        name,
        of,
        pattern,
        starts,
        is_hashed: true,
        begins_a_word: false,
        holds: |_| true,
    }
}

impl Shape {
    /// A shape whose first characters also occur in words.
    const fn word(self) -> Self {
        Self {
            begins_a_word: true,
            holds: is_no_slug,
            ..self
        }
    }

    /// Replaces its check.
    const fn holding(self, holds: fn(&[u8]) -> bool) -> Self {
        Self { holds, ..self }
    }

    /// A shape that a person may have chosen.
    const fn chosen(self, holds: fn(&[u8]) -> bool) -> Self {
        Self {
            is_hashed: false,
            holds,
            ..self
        }
    }
}

pub(crate) const SHAPES: &[Shape] = &[
    token("anthropic-key", "Anthropic", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{20,}"),
    token("openai-key", "OpenAI, and others with keys alike", &["sk-"], r"sk-[A-Za-z0-9_-]{20,}").word().holding(|key| is_no_slug(key) && !key.starts_with(b"sk-ant-")),
    token("google-key", "Google", &["AIza"], r"AIza[A-Za-z0-9_-]{30,}"),
    token("google-auth-key", "Google", &["AQ."], r"AQ\.[A-Za-z0-9_-]{30,}").word(),
    token("google-oauth-token", "Google", &["ya29."], r"ya29\.[A-Za-z0-9_-]{20,}").word(),
    token("google-client-secret", "Google", &["GOCSPX-"], r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    token("groq-key", "Groq", &["gsk_"], r"gsk_[A-Za-z0-9]{30,}").word(),
    token("xai-key", "xAI", &["xai-"], r"xai-[A-Za-z0-9]{40,}").word(),
    token("perplexity-key", "Perplexity", &["pplx-"], r"pplx-[A-Za-z0-9]{40,}").word(),
    token("nvidia-key", "NVIDIA", &["nvapi-"], r"nvapi-[A-Za-z0-9_-]{40,}").word(),
    token("tavily-key", "Tavily", &["tvly-"], r"tvly-[A-Za-z0-9_-]{20,}").word(),
    token("langsmith-key", "LangSmith", &["lsv2_"], r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{30,}"),
    token("huggingface-token", "Hugging Face", &["hf_"], r"hf_[A-Za-z0-9]{30,}").word(),
    token("replicate-token", "Replicate", &["r8_"], r"r8_[A-Za-z0-9]{30,}").word(),
    token("github-token", "GitHub", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9_-]{30,}(?:\.[A-Za-z0-9_-]+)*"),
    token("github-token", "GitHub, fine-grained", &["github_pat_"], r"github_pat_[A-Za-z0-9_]{30,}"),
    token("gitlab-token", "GitLab", &["glpat-", "glptt-", "gldt-", "glrt-", "glrtr-", "glcbt-", "gloas-", "glsoat-", "glagent-", "glft-", "glimt-", "glffct-"], r"gl(?:pat|ptt|dt|rt|rtr|cbt|oas|soat|agent|ft|imt|ffct)-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]+)*"),
    token("slack-token", "Slack", &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], r"(?:xox[abcdeoprs]|xapp)-(?:[A-Za-z0-9-]|%2[BFbf]){16,}"),
    token("slack-webhook", "Slack", &["hooks.slack.com/"], r"hooks\.slack\.com/((?:services|workflows|triggers)/[A-Za-z0-9_/-]{20,})"),
    token("discord-webhook", "Discord", &["/api/webhooks/"], r"/api/webhooks/([0-9]{15,}/[A-Za-z0-9_-]{40,})"),
    token("aws-access-key", "AWS", &["AKIA", "ASIA", "ABIA", "ACCA"], r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    token("stripe-key", "Stripe", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"], r"(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9+/=]{16,}"),
    token("npm-token", "npm", &["npm_"], r"npm_[A-Za-z0-9]{36,}").word(),
    token("pypi-token", "PyPI", &["pypi-"], r"pypi-[A-Za-z0-9_-]{50,}").word(),
    token("docker-token", "Docker", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    token("digitalocean-token", "DigitalOcean", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[por]_v1_[a-f0-9]{40,}"),
    token("shopify-token", "Shopify", &["shpat_", "shpca_", "shppa_", "shpss_"], r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32,}"),
    token("sendgrid-key", "SendGrid", &["SG."], r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}").word(),
    token("vault-token", "HashiCorp Vault", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,}").word(),
    token("databricks-token", "Databricks", &["dapi"], r"dapi[a-f0-9]{32,}").word(),
    token("linear-key", "Linear", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}").word(),
    token("notion-token", "Notion", &["ntn_"], r"ntn_[A-Za-z0-9]{40,}").word(),
    token("grafana-token", "Grafana", &["glsa_", "glc_"], r"(?:glsa|glc)_[A-Za-z0-9_+/=]{30,}").word(),
    token("sentry-token", "Sentry", &["sntrys_", "sntryu_"], r"sntry[su]_[A-Za-z0-9_+/=]{40,}").word(),
    token("supabase-key", "Supabase", &["sbp_", "sb_secret_"], r"(?:sbp|sb_secret)_[A-Za-z0-9_-]{20,}").word(),
    token("figma-token", "Figma", &["figd_"], r"figd_[A-Za-z0-9_-]{30,}").word(),
    token("atlassian-token", "Atlassian", &["ATATT3"], r"ATATT3[A-Za-z0-9_=-]{40,}"),
    token("age-key", "age", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    token("jwt", "JSON Web Tokens", &["eyJ"], r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]+){0,2}").word().holding(|_| true),
    token("private-key", "PEM and PGP", &["-----BEGIN "], r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|-[^-])*-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|[\s\\nr]*[A-Za-z0-9+/=]{20}[A-Za-z0-9+/=\s\\]*)").chosen(|_| true),
    token("bearer-token", "`Authorization: Bearer`", &["Bearer ", "bearer ", "BEARER "], r"[A-Za-z]+ +([A-Za-z0-9._~+/=-]{8,})").chosen(is_drawn),
    token("basic-credentials", "`Authorization: Basic`", &["Basic ", "basic ", "BASIC "], r"[A-Za-z]+ +([A-Za-z0-9+/_-]{8,}={0,2})").chosen(is_name_and_password),
    token("url-password", "`scheme://user:password@host`", &["://", ":~1~1", r":\/\/"], r#":(?://|~1~1|\\/\\/)[^\s/?#@:"'<>\\]*:([^\s/?#"'<>\\]+)@"#).chosen(|_| true),
];

/// `sk-fading-circle-container` is a name; keys have digits or capitals.
fn is_no_slug(token: &[u8]) -> bool {
    token
        .iter()
        .skip(4)
        .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// `Bearer authentication` is prose.
fn is_drawn(token: &[u8]) -> bool {
    token.len() >= 20 || token.iter().any(u8::is_ascii_digit)
}

/// Returns true for base64 of `name:password`.
fn is_name_and_password(credentials: &[u8]) -> bool {
    base64::decode(credentials)
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .is_some_and(|text| text.contains(':') && !text.contains(char::is_control))
}

/// A text with the pattern of a shape.
pub(super) struct Found {
    /// The place of its secret.
    pub(super) at: Range<usize>,
    /// True if it is the token, by the checks that no pattern can express.
    pub(super) holds: bool,
}

/// A shape, compiled when its start first occurs: most texts have none.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) shape: &'static Shape,
    regex: OnceLock<Option<Regex>>,
}

/// Every shape of the table.
pub(super) fn all() -> &'static [Compiled] {
    static ALL: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
        SHAPES
            .iter()
            .map(|shape| Compiled {
                shape,
                regex: OnceLock::new(),
            })
            .collect()
    });
    &ALL
}

impl Compiled {
    pub(super) fn starts(&self) -> &'static [&'static str] {
        self.shape.starts
    }

    fn regex(&self) -> Option<&Regex> {
        let compiled = || {
            RegexBuilder::new(&format!(r"\A(?:{})", self.shape.pattern))
                .unicode(false)
                .build()
                .ok()
        };
        self.regex.get_or_init(compiled).as_ref()
    }

    /// Returns true if the token can begin at `at`.
    pub(super) fn is_in_place(&self, text: &[u8], at: usize) -> bool {
        !self.shape.begins_a_word || begins_a_word(text, at)
    }

    /// The text with the pattern of the token that begins at `at`.
    pub(super) fn find(&self, text: &[u8], at: usize) -> Option<Found> {
        if !self.is_in_place(text, at) {
            return None;
        }
        let rest = &text[at..];
        let regex = self.regex()?;
        let found = if regex.captures_len() > 1 {
            regex.captures(rest)?.get(1)?
        } else {
            regex.find(rest)?
        };
        let holds = (self.shape.holds)(found.as_bytes());
        Some(Found {
            at: at + found.start()..at + found.end(),
            holds,
        })
    }
}

/// Returns true if a word can begin here. The last letter of an escape (`\n`, `\u0022`, `%3D`) belongs to no word.
fn begins_a_word(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let Some(last) = before.last() else {
        return true;
    };
    if !last.is_ascii_alphanumeric() && !matches!(last, b'_' | b'-') {
        return true;
    }
    let ending = |length: usize| {
        before
            .len()
            .checked_sub(length)
            .map(|start| &before[start..])
    };
    matches!(ending(2), Some([b'\\', b'n' | b'r' | b't' | b'b' | b'f']))
        || ending(3).is_some_and(|escape| percent_byte(escape).is_some())
        || matches!(ending(6), Some([b'\\', b'u', digits @ ..]) if digits.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&'static str, &str)> {
        let starts = |compiled: &'static Compiled| {
            compiled
                .starts()
                .iter()
                .flat_map(|start| text.match_indices(start))
                .map(move |(at, _)| (compiled, at))
        };
        all()
            .iter()
            .flat_map(starts)
            .filter_map(|(compiled, at)| {
                let found = compiled
                    .find(text.as_bytes(), at)
                    .filter(|found| found.holds)?;
                Some((compiled.shape.name, &text[found.at]))
            })
            .collect()
    }

    /// Assembled at run time, so that no scanner of repositories reports it.
    fn drawn(length: usize) -> String {
        "a1B2c3D4e5F6g7H8".chars().cycle().take(length).collect()
    }

    #[test]
    fn the_whole_table_compiles() {
        for compiled in all() {
            let name = compiled.shape.name;
            assert!(
                compiled.regex().is_some() && !compiled.starts().is_empty(),
                "{name}"
            );
        }
    }

    fn tokens() -> Vec<(&'static str, String)> {
        let hex: String = "0123456789abcdef".repeat(4);
        vec![
            ("anthropic-key", format!("sk-ant-api03-{}-AA", drawn(90))),
            ("openai-key", format!("sk-proj-{}_x", drawn(60))),
            ("openai-key", format!("sk-or-v1-{hex}")),
            ("google-key", format!("AIzaSy{}", drawn(33))),
            ("google-auth-key", format!("AQ.Ab8{}", drawn(47))),
            ("google-oauth-token", format!("ya29.a0{}", drawn(60))),
            ("google-client-secret", format!("GOCSPX-{}", drawn(28))),
            ("groq-key", format!("gsk_{}", drawn(52))),
            ("xai-key", format!("xai-{}", drawn(80))),
            ("perplexity-key", format!("pplx-{}", drawn(48))),
            ("nvidia-key", format!("nvapi-{}", drawn(64))),
            ("tavily-key", format!("tvly-dev-{}", drawn(32))),
            (
                "langsmith-key",
                format!("lsv2_pt_{}_{}", &hex[..32], &hex[..10]),
            ),
            ("huggingface-token", format!("hf_{}", drawn(34))),
            ("replicate-token", format!("r8_{}", drawn(37))),
            ("github-token", format!("ghp_{}", drawn(36))),
            (
                "github-token",
                format!("ghs_12345_eyJ{}.eyJ{}.{}", drawn(30), drawn(200), drawn(80)),
            ),
            (
                "github-token",
                format!("github_pat_{}_{}", drawn(22), drawn(59)),
            ),
            ("gitlab-token", format!("glpat-{}", drawn(20))),
            (
                "gitlab-token",
                format!("glpat-{}.01.{}", drawn(27), drawn(9)),
            ),
            (
                "slack-token",
                format!("xoxb-123456789012-1234567890123-{}", drawn(24)),
            ),
            ("slack-token", format!("xapp-1-A012-345-{}", &hex)),
            ("aws-access-key", format!("AKIA{}", "IOSFODNN7EXAMPLE")),
            ("stripe-key", format!("sk_live_{}", drawn(24))),
            ("stripe-key", format!("rk_test_{}", drawn(99))),
            ("stripe-key", format!("whsec_{}", drawn(32))),
            ("npm-token", format!("npm_{}", drawn(36))),
            ("pypi-token", format!("pypi-AgEIcHlwaS5vcmc{}", drawn(120))),
            ("docker-token", format!("dckr_pat_{}", drawn(27))),
            ("digitalocean-token", format!("dop_v1_{hex}")),
            ("shopify-token", format!("shpat_{}", &hex[..32])),
            ("sendgrid-key", format!("SG.{}.{}", drawn(22), drawn(43))),
            ("vault-token", format!("hvs.{}", drawn(90))),
            ("databricks-token", format!("dapi{}", &hex[..32])),
            ("linear-key", format!("lin_api_{}", drawn(40))),
            ("notion-token", format!("ntn_{}", drawn(46))),
            ("grafana-token", format!("glsa_{}_{}", drawn(32), &hex[..8])),
            ("sentry-token", format!("sntryu_{hex}")),
            ("supabase-key", format!("sbp_{}", &hex[..40])),
            ("figma-token", format!("figd_{}", drawn(40))),
            (
                "atlassian-token",
                format!("ATATT3xFfGF0{}=ABCDEF12", drawn(160)),
            ),
            (
                "age-key",
                format!("AGE-SECRET-KEY-1{}", "QPZRY9X8".repeat(8)),
            ),
            (
                "jwt",
                format!("eyJ{}.eyJ{}.{}", drawn(17), drawn(40), drawn(43)),
            ),
        ]
    }

    #[test]
    fn tokens_are_found_whole_between_other_words() {
        for (name, token) in tokens() {
            for text in [
                token.clone(),
                format!("the key={token}, or \"{token}\"."),
                format!("a\\n{token}%3D{token}"),
                format!("\\u0022{token}"),
            ] {
                let times = found(&text)
                    .iter()
                    .filter(|found| **found == (name, &token))
                    .count();
                assert_eq!(times, text.matches(&token).count(), "{name} in {text}");
            }
        }
    }

    #[test]
    fn every_kind_of_token_is_tried() {
        let tried: Vec<_> = tokens().into_iter().map(|(name, _)| name).collect();
        let elsewhere = [
            "slack-webhook",
            "discord-webhook",
            "private-key",
            "bearer-token",
            "basic-credentials",
            "url-password",
        ];
        for shape in SHAPES {
            assert!(
                tried.contains(&shape.name) || elsewhere.contains(&shape.name),
                "{}",
                shape.name
            );
        }
    }

    #[test]
    fn a_secret_address_keeps_its_host() {
        let hook = drawn(24);
        let text = format!("https://hooks.slack.com/services/T000/B000/{hook}");
        assert_eq!(
            found(&text),
            [("slack-webhook", &*format!("services/T000/B000/{hook}"))]
        );
        let text = format!(
            "https://discord.com/api/webhooks/123456789012345678/{}",
            drawn(68)
        );
        assert_eq!(
            found(&text),
            [(
                "discord-webhook",
                &*format!("123456789012345678/{}", drawn(68))
            )]
        );
    }

    #[test]
    fn credentials_go_and_their_scheme_stays() {
        assert_eq!(
            found("Authorization: Bearer abc123def"),
            [("bearer-token", "abc123def")]
        );
        assert_eq!(
            found("curl -H 'authorization: bearer  x.y-z~0123'"),
            [("bearer-token", "x.y-z~0123")]
        );
        assert_eq!(
            found("Basic dXNlcjpodW50ZXIy"),
            [("basic-credentials", "dXNlcjpodW50ZXIy")]
        );
        assert_eq!(
            found("postgres://app:hunter2@db:5432/x"),
            [("url-password", "hunter2")]
        );
        assert_eq!(found("redis://:p@ss@cache"), [("url-password", "p@ss")]);
    }

    #[test]
    fn a_private_key_goes_from_begin_to_end() {
        for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
            for line in ["\n", "\\n", "\r\n"] {
                let body = drawn(64);
                let key = format!(
                    "-----BEGIN {kind}PRIVATE KEY-----{line}Proc-Type: 4,ENCRYPTED{line}{body}==\
                     {line}-----END {kind}PRIVATE KEY-----"
                );
                assert_eq!(found(&format!("a {key} b")), [("private-key", &*key)]);
            }
        }
        let cut = format!("-----BEGIN PRIVATE KEY-----\n{}\n{}", drawn(64), drawn(20));
        assert_eq!(found(&cut), [("private-key", &*cut)]);
    }

    #[test]
    fn words_that_only_begin_alike_are_left_alone() {
        for text in [
            "sk-fading-circle-container-wrapper",
            "the task-a1B2c3D4e5F6g7H8a1B2c3D4",
            "Bearer authentication, bearer token",
            "Basic authentication and basic knowledge, basic password",
            "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
            "look for -----BEGIN PRIVATE KEY----- in it",
            "http://localhost:8080/a@b http://host:80?mail=a@b.c git@host:x/y ssh://git@host:22/x",
            "npm_config_user_agent_of_the_package_manager_is_long",
            "AKIA is a prefix, eyJ too: eyJhbGciOiJIUzI1NiJ9",
            "https://hooks.slack.com/",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
