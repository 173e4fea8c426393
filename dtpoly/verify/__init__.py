"""The verifier: it reads an emitted file back and proves what it computes.

It has rooms, and each imports from itself and from those before it: `semantics` (what Triton's
operations mean, a table of data), `algebra` (numbers, terms and sets), `triton` (a kernel's text,
and what it does), `plan` (how a file launches its kernels), `proof` (what must be shown), `bits`
(whether two calls round a row alike) and `checker` (of certificates).
"""
