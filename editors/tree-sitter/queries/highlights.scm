; Colours .dt files. Made by python -m dtpoly.editor.grammars from the language itself.
(comment) @comment
(string) @string
(number) @number
; inf nan
(constant) @constant.builtin
[
    "Func" "In" "SIn" "Var" "RVar"] @keyword.type
[
    "and" "not" "or"] @keyword.operator
[
    "in" "at" "where" "algorithm" "into" "add" "distinct" "packed" "within"] @keyword
[
    "!=" "%" "&" "*" "+" "-" ".." "/" "//" "<" "<<" "<=" "=" "==" ">" ">=" ">>" "^" "|" "~"] @operator
[
    "(" ")" "[" "]" "{" "}"] @punctuation.bracket
[
    "," ";" ":" "."] @punctuation.delimiter
((identifier) @type.builtin
  (#any-of? @type.builtin
    "bf16" "bool" "f16" "f32" "f64" "f8e4m3" "f8e5m2" "i16" "i32" "i4" "i64" "i8" "u4" "u8"))
((call function: (identifier) @function.builtin)
  (#any-of? @function.builtin
    "abs" "cast" "cdiv" "ceil" "clamp" "cos" "div_rn" "erf" "exp" "exp2" "fdiv" "floor" "fma"
    "len" "log" "log2" "maximum" "minimum" "pad" "pow" "program_id" "rall" "random" "random_bits"
    "rany" "rargmax" "rargmin" "rargtopk" "rdot" "reshape" "rmax" "rmin" "round" "rprod" "rsqrt"
    "rsum" "rtopk" "scan_affine" "scan_max" "scan_min" "scan_prod" "scan_sum" "sigmoid" "sin"
    "sqrt" "sqrt_rn" "tanh" "trunc" "where"))
; Directives of the language, and those of plugins.
((directive name: (identifier) @function.method.builtin)
  (#any-of? @function.method.builtin
    "align" "alternate" "atomic" "beside" "block" "compile" "compile_to_kernel" "descending"
    "descriptor" "early" "flatten" "fuse_at" "inline" "map" "num_stages" "num_warps" "online"
    "panels" "persistent" "pitch" "precision" "reorder" "same_bits" "split" "store" "stream"
    "swap" "tensorize" "unroll" "warp_specialize"))
((directive name: (identifier) @function.method)
  (#not-match? @function.method "^(align|alternate|atomic|beside|block|compile|compile_to_kernel|descending|descriptor|early|flatten|fuse_at|inline|map|num_stages|num_warps|online|panels|persistent|pitch|precision|reorder|same_bits|split|store|stream|swap|tensorize|unroll|warp_specialize)$"))
