; What can be folded: a statement of several lines, the schedule, and comments that follow each
; other. An editor leaves out what takes one line only.
(declaration) @fold
(definition) @fold
(alternatives) @fold
(directive) @fold
(schedule) @fold
(comment)+ @fold
