//! What do the servers want a model to know about them, and how is it told?

use crate::toolbox::Connected;

/// The instructions of each server, in the order of the servers.
pub fn instructions_of(servers: &[Connected]) -> Vec<(String, String)> {
    let said = |server: &Connected| {
        let text = server.client.server().instructions.clone()?;
        (!text.trim().is_empty()).then(|| (server.name.clone(), text))
    };
    servers.iter().filter_map(said).collect()
}

/// The system prompt as hosts build it: the user's text, then a section for each server.
pub fn system_prompt(own: Option<&str>, instructions: &[(String, String)]) -> Option<String> {
    let mut sections: Vec<String> = own
        .filter(|own| !own.is_empty())
        .map(str::to_owned)
        .into_iter()
        .collect();
    if !instructions.is_empty() {
        sections.push("# Instructions of the MCP servers".to_owned());
    }
    sections.extend(
        instructions
            .iter()
            .map(|(server, text)| format!("## {server}\n\n{}", text.trim())),
    );
    (!sections.is_empty()).then(|| sections.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_has_a_section_after_the_users_own_text() {
        let said = [
            ("docs".to_owned(), "Search first.\n".to_owned()),
            ("mail".to_owned(), "Ask.".to_owned()),
        ];
        assert_eq!(
            system_prompt(Some("Be brief."), &said).as_deref(),
            Some(
                "Be brief.\n\n# Instructions of the MCP servers\n\n## docs\n\nSearch first.\n\n## mail\n\nAsk."
            )
        );
        assert_eq!(
            system_prompt(Some("Be brief."), &[]).as_deref(),
            Some("Be brief.")
        );
        assert_eq!(system_prompt(None, &[]), None);
    }
}
