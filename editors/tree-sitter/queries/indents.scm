; A line that goes on in a statement is indented once, and a closing bracket stands below what it
; closes.
[
  (declaration)
  (definition)
  (directive)
  (alternatives)
  (constraint)
  (arguments)
  (labels)
  (call)
  (read)
  (parenthesised)
  (choice)
] @indent.begin

[")" "]" "}"] @indent.branch
";" @indent.end
(comment) @indent.auto
