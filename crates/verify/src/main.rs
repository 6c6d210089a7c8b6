//! The program behind `cargo xtask verify`: campaigns in rounds until the time is over, or the
//! check of one history from a file.
//!
//! Results go to standard output, one line per campaign; progress to standard error. The first
//! anomaly ends the program with failure, and with the command that replays its round.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program talks to people")]

use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use evergraph_verify::campaign::{CAMPAIGNS, Campaign, Counts};
use evergraph_verify::checker::{self, RealTime};
use evergraph_verify::crash::kill;
use evergraph_verify::history::edn;
use evergraph_verify::level::Level;

const USAGE: &str = "\
usage: cargo xtask verify [--minutes M] [--seed S] [--only CAMPAIGN]
       cargo xtask verify --history FILE

  --minutes M      run for M minutes, and one round of each campaign at least; 1 if not given
  --seed S         the seed of the first round, each later one has the next; by the clock if not given
  --only CAMPAIGN  histories, graphs, scenarios, acid, orders, crash, errors, damage or kills;
                   or faults, see docs/design/verification.md
  --history FILE   check a history of lists in EDN instead";

struct Args {
    time: Duration,
    seed: u64,
    campaigns: Vec<Campaign>,
    history: Option<String>,
}

fn main() -> ExitCode {
    #[cfg(feature = "faults")]
    if std::env::args().any(|word| word == "--list-faults") {
        for (name, promise, what) in evergraph::FAULTS {
            println!("{name}\t{promise}\t{what}");
        }
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [kill::COMMAND, folder, mode] = words.iter().map(String::as_str).collect::<Vec<_>>()[..]
    {
        return ended(kill::commit_until_killed(folder, mode));
    }
    let outcome = match Args::parse(words.into_iter()) {
        Ok(args) => match &args.history {
            Some(file) => check_file(file),
            None => run(&args),
        },
        Err(problem) => Err(format!("{problem}\n{USAGE}")),
    };
    ended(outcome)
}

fn ended(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("verify: {problem}");
            ExitCode::FAILURE
        }
    }
}

impl Args {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut args = Self {
            time: Duration::from_mins(1),
            seed: since.as_secs(),
            campaigns: CAMPAIGNS.to_vec(),
            history: None,
        };
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} stands alone"))?;
            let wrong = || format!("{word} cannot be {value}");
            match &*word {
                "--minutes" => {
                    let minutes: f64 = value.parse().map_err(|_| wrong())?;
                    let time = Duration::try_from_secs_f64(60.0 * minutes);
                    args.time = time.map_err(|_| wrong())?;
                }
                "--seed" => args.seed = value.parse().map_err(|_| wrong())?,
                "--only" => {
                    args.campaigns.retain(|campaign| campaign.name == value);
                    if args.campaigns.is_empty() {
                        return Err(wrong());
                    }
                }
                "--history" => args.history = Some(value),
                _ => return Err(format!("{word} is not known")),
            }
        }
        Ok(args)
    }
}

/// Runs rounds of all campaigns by turns.
fn run(args: &Args) -> Result<(), String> {
    let start = Instant::now();
    let mut sums = vec![(Counts::default(), Duration::ZERO); args.campaigns.len()];
    let mut seed = args.seed;
    while seed == args.seed || start.elapsed() < args.time {
        for (campaign, (counts, time)) in args.campaigns.iter().zip(&mut sums) {
            eprint!(
                "\rverify: {:4.0} s, seed {seed}, {:9} ",
                start.elapsed().as_secs_f64(),
                campaign.name
            );
            let round = Instant::now();
            *counts += (campaign.round)(seed).map_err(|problem| {
                let name = campaign.name;
                let replay = format!("cargo xtask verify --minutes 0 --seed {seed} --only {name}");
                format!("\n{name}, seed {seed}: {problem}\nreplay with: {replay}")
            })?;
            *time += round.elapsed();
        }
        seed = seed.wrapping_add(1);
    }
    eprintln!();
    for (campaign, (counts, time)) in args.campaigns.iter().zip(&sums) {
        println!("{}", line(campaign.name, counts, (args.seed, seed.wrapping_sub(1)), *time));
    }
    Ok(())
}

/// What a campaign did, on one line.
fn line(name: &str, counts: &Counts, (first, last): (u64, u64), time: Duration) -> String {
    let Counts { runs, transactions, interleavings, conflicts, skews, checking, images } = counts;
    let seconds = time.as_secs_f64();
    if *images > 0 {
        let rate = *images as f64 / seconds;
        return format!(
            "{name:9}  seeds {first} to {last}: {runs} runs, {images} disks looked at, 0 losses; \
             {seconds:.1} s, {rate:.0} disks/s"
        );
    }
    let rate = *transactions as f64 / seconds;
    let checked = match *checking {
        Duration::ZERO => String::new(),
        time => format!(", checked at {:.0}/s", *transactions as f64 / time.as_secs_f64()),
    };
    format!(
        "{name:9}  seeds {first} to {last}: {runs} runs, {transactions} transactions, \
         {interleavings} interleavings, {conflicts} conflicts, {skews} allowed skews, 0 anomalies; \
         {seconds:.1} s, {rate:.0} transactions/s{checked}"
    )
}

/// Says what a history in a file shows.
fn check_file(file: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let history = edn::read(&text).map_err(|error| format!("{file}, {error}"))?;
    let verdict = checker::check(&history, RealTime::Heeded);
    for level in Level::ALL {
        let word = if verdict.admits(level) { "admits" } else { "does not admit" };
        println!("{level} {word} {file}");
    }
    println!("{} transactions committed, {} edges", verdict.committed, verdict.edges);
    verdict.complaint(&history, Level::Serializable).map_or(Ok(()), Err)
}
