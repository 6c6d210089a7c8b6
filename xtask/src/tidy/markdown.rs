//! What the rules read in a Markdown file: links, code between backticks, headings.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::tree::line_of;

/// A text of the file and the line it stands on.
pub(super) type Located = (usize, String);

/// The parts of one file.
#[derive(Default)]
pub(super) struct Markdown {
    /// Where links and images lead.
    pub(super) links: Vec<Located>,
    /// Code inside a line; blocks of code are left out.
    pub(super) code: Vec<Located>,
    /// What a link may name behind `#`.
    pub(super) anchors: Vec<String>,
}

impl Markdown {
    pub(super) fn parse(text: &str) -> Self {
        let mut markdown = Self::default();
        let mut heading: Option<String> = None;
        let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES);
        for (event, range) in parser.into_offset_iter() {
            let line = line_of(text, range.start);
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    markdown.links.push((line, dest_url.into_string()));
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    markdown.anchors.extend(heading.take().map(|heading| anchor(&heading)));
                }
                Event::Code(code) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&code);
                    }
                    markdown.code.push((line, code.into_string()));
                }
                Event::Text(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        markdown
    }
}

/// The name that code hosts give to a heading.
fn anchor(heading: &str) -> String {
    let keep = |c: char| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
    };
    heading.chars().filter_map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_told_apart() {
        let text = "# The `code` map: a tour\n\nSee [a](b.md#c) and ![d](e.png).\n\n`x/y.rs`\n\n\
                    ```\n[no](no.md) `no/no`\n```\n";
        let markdown = Markdown::parse(text);
        let located = |line, text: &str| (line, text.to_owned());
        assert_eq!(markdown.links, [located(3, "b.md#c"), located(3, "e.png")]);
        assert_eq!(markdown.code, [located(1, "code"), located(5, "x/y.rs")]);
        assert_eq!(markdown.anchors, ["the-code-map-a-tour"]);
    }
}
