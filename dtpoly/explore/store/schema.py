"""Defines the tables of a file of results, in SQLite's words."""

# "dtpy" marks such a file, and the version tells its layout from later ones.
APPLICATION = 0x64747079
VERSION = 2

TABLES = (
    """
-- An algorithm at sizes, on a device with versions of software: times of one may be compared.
create table question (
    id integer primary key,
    key text not null unique,       -- a hash of all below but the name
    name text not null,             -- the file, for people
    program text not null,          -- the algorithm, without directives
    program_hash text not null,
    func text not null,             -- which is computed
    sizes text not null,            -- JSON: label -> size
    dtype text not null,            -- of inputs that declare none
    seed integer not null,          -- of the inputs
    device text not null,
    versions text not null,         -- JSON: name -> version
    began text not null             -- when it was first asked
)
""",
    """
-- What came of a point. There is at most one, and it is never overwritten.
create table result (
    question integer not null references question,
    point text not null,            -- the short form of the schedule
    parameters text not null,       -- JSON: axis -> what was chosen
    outcome text not null,          -- measured, slow, unproved, refused, failed, wrong, hung,
                                    -- crashed, bug
    kind text not null,             -- why, in a few words
    reason text not null,           -- why, in full
    median real,                    -- milliseconds; of what was unproved it does not count
    quarter real,
    three_quarters real,
    samples integer not null,
    error real,                     -- the largest difference to the reference
    allowed real,                   -- what rounding explains
    baselines text not null,        -- JSON: name -> median of the runs in between
    text_hash text not null,
    seconds real not null,          -- until it was known
    done text not null,             -- when
    primary key (question, point)
)
""",
    """
-- What a cost model expects, in milliseconds.
create table prediction (
    asked text not null,            -- a hash of what a question asks, wherever it is measured
    point text not null,
    median real not null,
    primary key (asked, point)
)
""",
    """
-- Emitted texts, or why there is none. They are for all sizes.
create table emitted (
    program_hash text not null,
    point text not null,
    text blob,                      -- compressed by zlib
    call text not null,             -- JSON: how its function is called
    kind text not null,
    reason text not null,
    primary key (program_hash, point)
)
""",
    """
-- What a compiler says of a text, for a kind of GPU that need not be there.
create table compiled (
    asked text not null,            -- a hash of what a question asks, wherever it is measured
    target text not null,           -- as in cuda:90
    point text not null,
    kind text not null,             -- why it is not worth a run, in a few words; else empty
    reason text not null,           -- the same in full
    kernels text not null,          -- JSON: what each kernel needs
    primary key (asked, target, point)
)
""",
    """
-- What is proved of a text, for all sizes.
create table proof (
    program_hash text not null,
    text_hash text not null,
    verdict text not null,          -- proved, unknown, refuted
    layer text not null,            -- the first one that is not proved
    reason text not null,           -- and why
    primary key (program_hash, text_hash)
)
""",
    """
-- Points that are being measured, so that two runs on one file do not both do that.
create table claim (
    question integer not null references question,
    point text not null,
    host text not null,
    process integer not null,
    until real not null,            -- after this it is void; also if the process is no more
    primary key (question, point)
)
""",
    """
-- Each time that somebody explored.
create table run (
    id integer primary key,
    question integer not null references question,
    command text not null,
    strategy text not null,
    seed integer not null,
    points integer not null,        -- of the space
    began text not null,
    ended text                      -- none if it was killed
)
""",
)

# The names of these tables.
NAMES = ("question", "result", "prediction", "emitted", "compiled", "proof", "claim", "run")
