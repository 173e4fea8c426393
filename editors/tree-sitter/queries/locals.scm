; Where names are made, and where they are used. A file is one scope.
(file) @local.scope

((declaration kind: "Func" (declared name: (identifier) @local.definition.function)))
((declaration kind: ["In" "SIn"] (declared name: (identifier) @local.definition.parameter)))
((declaration kind: ["Var" "RVar"] (declared name: (identifier) @local.definition.var)))

; Loops that a directive makes, such as mi in `f.map(m:mi/8, n, mi)`.
(part . (identifier) @local.definition.var "/")

(identifier) @local.reference
