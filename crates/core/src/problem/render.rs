//! Problems as a person reads them: file, line, column, the source line and a caret.

use super::{Level, Position, Problem, SourceFile, Sources, Span};
use crate::escape::escape;
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level as Severity, Renderer, Snippet, renderer::DecorStyle,
};

/// All problems in source order, as text.
pub fn render(problems: &[Problem], sources: &Sources, colour: bool) -> String {
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(140);
    let mut sorted: Vec<_> = problems.iter().collect();
    sorted.sort_by_key(|problem| problem.span);
    let mut text = String::new();
    for problem in sorted {
        text.push_str(&renderer.render(&[group(problem, sources)]));
        text.push_str("\n\n");
    }
    text
}

fn group<'a>(problem: &'a Problem, sources: &'a Sources) -> Group<'a> {
    let severity = match problem.level {
        Level::Error => Severity::ERROR,
        Level::Warning => Severity::WARNING,
    };
    let mut group = Group::with_title(severity.primary_title(escape(&problem.message)));
    if let Some(span) = problem.span {
        let same_file = problem
            .also
            .as_ref()
            .filter(|(also, _)| also.file == span.file);
        group = group.element(snippet(sources, span, problem, same_file));
        if let Some((also, words)) = problem
            .also
            .as_ref()
            .filter(|(also, _)| also.file != span.file)
        {
            let Position { path, line, column } = sources.position(*also);
            group = group.element(
                Severity::NOTE.message(format!("{words}: {}:{line}:{column}", escape(path))),
            );
        }
    }
    if let Some(help) = &problem.help {
        group = group.element(Severity::HELP.message(escape(help)));
    }
    group
}

/// Only the lines around the problem: rendering stays cheap in a file of any size.
fn snippet<'a>(
    sources: &'a Sources,
    span: Span,
    problem: &'a Problem,
    also: Option<&'a (Span, String)>,
) -> Snippet<'a, Annotation<'a>> {
    let file = sources.file(span.file);
    let first = also.map_or(span.start, |(also, _)| also.start.min(span.start));
    let last = also.map_or(span.start, |(also, _)| also.start.max(span.start));
    let (first_line, _) = file.line_column(first);
    let (last_line, _) = file.line_column(last);
    let window = file.line_range(first_line).start..file.line_range(last_line).end;
    let text = &file.text[window.clone()];
    let mut primary = AnnotationKind::Primary.span(clamp(file, span, &window));
    if let Some(label) = &problem.label {
        primary = primary.label(escape(label));
    }
    let mut snippet = Snippet::source(text)
        .path(escape(&file.path))
        .line_start(first_line)
        .annotation(primary);
    if let Some((also, words)) = also {
        snippet = snippet.annotation(
            AnnotationKind::Context
                .span(clamp(file, *also, &window))
                .label(escape(words)),
        );
    }
    snippet
}

/// The part of a span on its first line, relative to the window.
fn clamp(file: &SourceFile, span: Span, window: &std::ops::Range<usize>) -> std::ops::Range<usize> {
    let (line, _) = file.line_column(span.start);
    let line_end = file.line_range(line).end;
    let text = file.text[span.start..span.end.clamp(span.start, line_end)].trim_end();
    let start = span.start - window.start;
    start..(start + text.len()).min(window.len())
}
