//! `evergraph help`: a command or a topic explained.

use clap::{Command, CommandFactory};

use crate::args::{Args, HelpArgs};
use crate::failure::Failure;
use crate::output;
use crate::topics::TOPICS;

/// Prints the page that the words name; without words, the list of commands.
pub(crate) fn help(args: &HelpArgs) -> Result<(), Failure> {
    if let [word] = args.words.as_slice()
        && let Some(topic) = TOPICS.iter().find(|topic| topic.name == *word)
    {
        return output::print(topic.text);
    }
    let mut command = Args::command();
    command.build();
    let page = args.words.iter().try_fold(&mut command, |command, word| {
        let name = command.get_name().to_owned();
        command.find_subcommand_mut(word).ok_or_else(|| unknown(word, &name))
    })?;
    output::print(&long_help(page))
}

fn long_help(command: &mut Command) -> String {
    command.render_long_help().to_string()
}

fn unknown(word: &str, command: &str) -> Failure {
    let topics: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    let known = match command {
        "evergraph" => format!("a command or a topic; topics are {}", topics.join(", ")),
        _ => format!("a part of {command}"),
    };
    Failure::Usage(format!("`{word}` is not {known}"))
}
