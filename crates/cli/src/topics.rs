//! What the help teaches beyond the list of options.

/// Shown under the list of commands.
pub(crate) const START: &str = "\
Start here:
  evergraph demo                                 the main job live, in under a minute
  evergraph run pagerank --graph graph500-16     an algorithm on a generated graph
  evergraph run wcc --graph FILE                 the same on a graph of yours
  evergraph load FILE --into g.evg               a database in a folder, which stays
  evergraph run wcc --db g.evg                   an algorithm on it
  evergraph bench insert kernels                 how fast it is on this machine
  evergraph help run                             all about a command, with examples
  evergraph help algorithms | formats | updates | durability
                                                 what there is to compute, read, replay, keep

Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted.";

pub(crate) const DEMO_EXAMPLES: &str = "\
Examples:
  evergraph demo
      a Graph500 graph of scale 18, one writer, 15 seconds
  evergraph demo --graph web.el.zst --directed --writers 2 --seconds 30
      your own graph, two writers
  evergraph demo --graph uniform-16 --weighted
      weights that change, too
  evergraph demo --durable demo.evg --durability sync
      every commit on the disk before it returns; opened again from its files in the end

What the writers commit: mostly single edges, added between vertices drawn in proportion to their
degrees so that hubs stay hubs, or deleted again; some edges of the given graph, deleted and put
back; new weights; transactions of 2 to 16 operations that read before they write; now and then a
vertex of moderate degree that is removed and added again with some of its edges. A conflict
between two writers is tried again, and counted.

The table: `live` is the time of an algorithm on its snapshot of the live store, `static` the time
of the same algorithm on a static CSR copy of that snapshot, both the median of all runs, each run
on one thread; `ratio` is live over static. `copy` is what making the static copy takes.";

pub(crate) const RUN_EXAMPLES: &str = "\
Examples:
  evergraph run pagerank --graph web.el.gz --directed --iterations 30
      the ten highest ranks, and how long each step took
  evergraph run bfs --graph road.gr.xz --source 1 --output-format graphalytics --output levels.txt
      a line per vertex, as LDBC Graphalytics has it
  evergraph run wcc --graph follows.csv --keys text --output-format csv
      vertices with names
  evergraph run sssp --graph graph500-16 --weighted --source 0 --verify
      a generated graph with random weights, the answer checked
  evergraph run triangles --graph g.el --updates today.log.zst --batch 100
      a graph as it is after a log of changes, replayed 100 lines per transaction
  evergraph run wcc --updates all.log
      a graph that consists of its changes alone
  evergraph run pagerank --db shop.evg --at 10m
      a database in a folder, as it was ten minutes ago

Formats of the result: `table` is a summary. `graphalytics` has a line `key value` per vertex;
what a search does not reach is 9223372036854775807 (bfs) or infinity (sssp). `csv` has the header
`vertex,value`, `json` is one object; there, what is not reached is empty and null. wcc and scc give
the key of the first vertex of a component, cdlp the label of a community, which is a key.";

pub(crate) const LOAD_EXAMPLES: &str = "\
Examples:
  evergraph load web.el.zst --directed --into web.evg
      a file, whatever reads it, into a new database
  evergraph load graph500-20 --into g.evg --durability none
      a generated graph, on the disk when all of it is there
  evergraph run wcc --db g.evg
      an algorithm on what was loaded

What an interrupted load needs to go on: the same graph, by the same line. The database is opened,
the edges that are there are counted and compared with the beginning of the graph, and the rest is
loaded. A load that is complete is only compared. Under `none` and `os`, and under `group` for a
moment, what was committed last may be missing after a crash; then it is loaded again.";

pub(crate) const KEEP_EXAMPLES: &str = "\
Examples:
  evergraph keep shop.evg
      how far back the past is kept
  evergraph keep shop.evg 24h
      a day, by the time of commits
  evergraph keep shop.evg 1000 versions
      so many commits
  evergraph keep shop.evg 2GiB
      as far as so much of the log goes";

pub(crate) const WATCH_EXAMPLES: &str = "\
Examples:
  evergraph watch shop.evg
      every commit that the files tell about
  evergraph watch shop.evg --follow
      every commit from now on, until Ctrl-C ends it with exit code 130
  evergraph watch shop.evg --from 1200 --max 10
      the commits of versions 1201 to 1210

A commit shows when it was written, under `--durability sync` a moment before it is certain to be
on the disk. What a checkpoint has removed is refused with the oldest version that is left.";

pub(crate) const GENERATE_EXAMPLES: &str = "\
Examples:
  evergraph generate graph500-20 --output g.el.zst
      about a million vertices, 15.7 million edges, few hubs
  evergraph generate uniform-16 --weighted --seed 7 --output u.mtx
      every vertex alike, with weights, in Matrix Market format
  evergraph generate updates --graph graph500-16 --output g.log.zst
      a log that builds the graph and changes it; see `evergraph generate updates --help`";

pub(crate) const GENERATE_UPDATES_EXAMPLES: &str = "\
Examples:
  evergraph generate updates --graph graph500-16 --output g.log.zst
      160 updates or so per vertex: a tenth of them builds the graph
  evergraph generate updates --graph web.el --directed --updates-per-edge 2 --output w.log
  evergraph run pagerank --updates w.log --directed
      replays the log from an empty graph";

pub(crate) const BENCH_EXAMPLES: &str = "\
Examples:
  evergraph bench insert kernels --graph graph500-18
      how fast edges go in, and kernels beside the same on a static CSR, in a few minutes
  evergraph bench all --json all.json --plot charts
      everything, with the rows as JSON and the charts as SVG; takes its time
  evergraph bench kernels --graph web.el.zst --directed --threads 1,2
      a graph of yours, with one thread and with two

A row is a figure: the median of --repeats samples, what it is compared with, and the ratio of the
two; for times, below 1 is faster than the static graph. `fresh` was taken right after writing,
`settled` after the store was left alone for --idle seconds. The answers of both sides are compared
each time. Ctrl-C stops; what was measured until then is still written.";

/// A page of help that is not about a command.
pub(crate) struct Topic {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) const TOPICS: [Topic; 4] = [
    Topic { name: "algorithms", text: ALGORITHMS },
    Topic { name: "formats", text: FORMATS },
    Topic { name: "updates", text: UPDATES },
    Topic { name: "durability", text: DURABILITY },
];

const ALGORITHMS: &str = "\
Algorithms of `evergraph run`. The first six have the exact semantics of LDBC Graphalytics.

  bfs        Fewest edges from a source to every vertex. --source KEY
  pagerank   The share of time a random surfer spends at every vertex; from a vertex without
             out-edges the surfer jumps anywhere. --iterations N (20), --damping D (0.85)
  wcc        The first vertex of the component of every vertex, directions ignored.
  cdlp       The community of every vertex, by synchronous label propagation: the most frequent
             label among the neighbours, the smallest of several. Labels start as the keys.
             --iterations N (10)
  lcc        The share of the possible edges among the neighbours of every vertex that are there.
  sssp       The least sum of weights from a source to every vertex. An edge without a weight
             counts 1; weights below 0 are an error. --source KEY, --weighted
  triangles  How many sets of three vertices are all joined, directions and self loops ignored.
  scc        The first vertex of the strongly connected component of every vertex.

All of them run in parallel (--threads N) on a snapshot of the live store. --verify checks the
answer with a serial computation that shares no code with the parallel one.
";

const FORMATS: &str = "\
What `--graph` takes

A generated graph: graph500-SCALE (Kronecker, few hubs) or uniform-SCALE, with 2^SCALE vertices and
about 16 edges per vertex, undirected, without weights unless --weighted is there. graph500-20-s7
has the seed 7. A file of such a name can be called ./graph500-20.

A file, its format told by the extension or by --format:

  format         extensions                              directed
  edge-list      .el .e .edges .edgelist .txt .csv       no, unless --directed, or a comment
                 .tsv .wel, out.NAME                     of SNAP or KONECT says so
  graphalytics   NAME.v with NAME.e, NAME.properties,    as the properties say, else no
                 or NAME alone
  matrix-market  .mtx                                    yes, unless symmetric
  metis          .graph .metis                           no
  dimacs         .gr                                     yes (`p sp`), no (`p tw`)

.gz, .zst or .xz after the extension is decompressed on the way.

An edge list has an edge a line: two keys, perhaps a weight, perhaps a time, separated by spaces,
tabs or commas. Lines that begin with # or % are comments; a first line of words is a header if the
rest are numbers. Keys are 64-bit numbers or texts (--keys); texts with blanks or commas stand in
double quotes. --vertices names a file with all vertices, one a line, so that those without edges
are there, and an edge with any other end is an error.

--weighted takes the third column as the weight of the edge. --duplicates ignore and --self-loops
drop|forbid say what happens to edges that stand twice and to loops. --directed and --undirected
overrule the file.
";

const UPDATES: &str = "\
Update logs, for `evergraph run ALGORITHM --updates FILE`

A line per update, words separated by blanks, # before comments; .gz, .zst, .xz are decompressed.

  a U V [W]   add the edge from U to V, with the weight W
  d U V       delete the edge from U to V
  u U V W     give the edge from U to V the weight W
  av U        add the vertex U
  dv U        delete the vertex U and its edges

Every --batch N lines (1, if not said) are one transaction: all of them take effect, or none. The
first line that does not fit the graph ends the run with exit code 1 and its file and line: an edge
that is there already or is not there, a vertex that is unknown or is there already, a weight in a
graph without --weighted, a self loop with --self-loops forbid or drop. Vertices must be added
before their edges. In an undirected graph V U is the same edge as U V.

Without --graph the log starts from an empty graph: undirected, or --directed; keys are numbers, or
--keys text. `evergraph generate updates` makes such logs.
";

const DURABILITY: &str = "\
Databases in folders

A database is a folder with a log of commits and, now and then, a checkpoint of the whole graph. One
process can have it open to write, or several to read; `evergraph watch` needs neither. Nothing is
lost by ending a program in whatever way: the next one that opens the folder finds every commit that
was acknowledged, as far as --durability says:

  sync      a commit returns when it is on the disk, and survives a loss of power
  group:MS  a commit is on the disk MS milliseconds after it returned, and the time the disk takes
  os        a commit is handed to the system within milliseconds: it survives the end of the
            program, not a loss of power
  none      nothing is logged; all is on the disk when the database is closed

Commands

  evergraph load FILE --into PATH       a graph into a database; goes on if it was interrupted
  evergraph run ALGORITHM --db PATH     an algorithm on it; --at VERSION|TIME for the past
  evergraph keep PATH 24h               how far back the past is kept: told, or changed
  evergraph watch PATH                  its commits as lines of JSON; --follow for more to come
  evergraph stats PATH                  what it holds, in which files, how far back they tell
  evergraph check PATH                  every file read and checked; exit code 1 if one is wrong
  evergraph salvage PATH --into NEW     a new database of what is good of a damaged one
  evergraph demo --durable PATH         the demo in a folder

A line of `evergraph watch`; weights stand in databases that have them:

  {\"changes\":[{\"op\":\"add_vertex\",\"vertex\":7},
              {\"from\":7,\"op\":\"add_edge\",\"to\":3,\"weight\":0.5},
              {\"from\":1,\"op\":\"set_weight\",\"to\":2,\"weight\":1.5},
              {\"from\":4,\"op\":\"remove_edge\",\"to\":5},
              {\"op\":\"remove_vertex\",\"vertex\":4}],
   \"time\":\"2026-05-01T12:00:00.000000Z\",\"version\":12}

A checkpoint takes the place of the log before it. How much of the past is kept beyond that the
folder remembers: `evergraph load --keep HOW`, `evergraph keep PATH HOW`, or `Options::keep` of a
program say it; unless somebody does, nothing more than is needed.
";
