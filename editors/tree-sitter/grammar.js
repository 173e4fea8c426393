// The grammar of .dt and .dts files for tree-sitter: what the language's own parser accepts, and a
// little more, since a text is often half written when an editor colours it. What is wrong with a
// text, the language server says.
//
// `tree-sitter generate` writes src/ anew. The words and operators are compared with those of the
// language by tests/editor/test_tree_sitter.py.

// What binds most loosely comes first: the operators between two operands, and those before one.
const NOT = 3;
const INFIX = [
  [1, ["or"]],
  [2, ["and"]],
  [4, ["<", "<=", ">", ">=", "==", "!="]],
  [5, ["|"]],
  [6, ["^"]],
  [7, ["&"]],
  [8, ["<<", ">>"]],
  [9, ["+", "-"]],
  [10, ["*", "/", "//", "%"]],
];
const SIGN = 11;
const POSTFIX = 12;

const separated = (rule) => seq(rule, repeat(seq(",", rule)));

module.exports = grammar({
  name: "dtpoly",

  extras: ($) => [/[ \t\r\n\f\v]/, $.comment],

  word: ($) => $.identifier,

  rules: {
    file: ($) =>
      repeat(choice(seq(choice($.declaration, $.definition), ";"), $.schedule, ";")),

    // The statements of a schedule that follow each other.
    schedule: ($) => prec.right(repeat1(seq($._scheduling, ";"))),

    _scheduling: ($) => choice($.directive, $.alternatives, $.constraint, $.algorithm_file),

    // Func f: f32 into W at [T[x]] add;  RVar k in [0, m + 1);  In A: i4 packed k;
    declaration: ($) =>
      seq(field("kind", choice("Func", "In", "SIn", "Var", "RVar")), separated($.declared)),

    declared: ($) =>
      seq(
        field("name", $.identifier),
        optional(seq(":", field("type", choice($.identifier, $._signed)))),
        optional($.range),
        optional($.into),
        optional(seq("packed", field("packed", $.identifier))),
        optional(seq("within", field("within", $._expression))),
      ),

    range: ($) =>
      seq("in", "[", field("start", $._expression), ",", field("stop", $._expression), ")"),

    into: ($) =>
      seq(
        "into",
        field("tensor", $.identifier),
        optional(seq("at", "[", separated($._expression), "]")),
        optional(choice("distinct", "add")),
      ),

    // f[x, y] = A[x, y] + 1;
    definition: ($) =>
      seq(field("func", $._func), $.labels, "=", field("body", $._expression)),

    labels: ($) => seq("[", optional(separated($._expression)), "]"),

    // f.block(x:16);
    directive: ($) =>
      seq(field("func", $._func), ".", field("name", $.identifier), $.arguments),

    arguments: ($) => seq("(", optional(separated($.argument)), ")"),

    argument: ($) =>
      seq(
        choice($._dotted, $._signed, $.choice),
        optional(seq(":", field("value", choice($._signed, $.choice, $.part)))),
      ),

    part: ($) => seq($.identifier, optional(seq("/", choice($._signed, $.choice)))),

    // {4, 8, 16..64 *2}
    choice: ($) => seq("{", separated($.option), "}"),

    option: ($) =>
      choice(
        $._dotted,
        seq($._signed, optional(seq("..", $._signed, optional(seq(choice("*", "+"), $._signed))))),
      ),

    // { f.map(x, y) | f.num_warps(4), f.num_stages(2) | };
    alternatives: ($) =>
      seq("{", optional($._together), repeat(seq("|", optional($._together))), "}"),

    _together: ($) => separated(choice($.directive, $.alternatives)),

    // where tensorize.x <= block.x;
    constraint: ($) => seq("where", $._expression),

    // algorithm "softmax.dt";
    algorithm_file: ($) => seq("algorithm", field("file", $.string)),

    // Words that begin a statement of their own may be names, too.
    _func: ($) =>
      choice(
        $.identifier,
        alias("where", $.identifier),
        alias("algorithm", $.identifier),
      ),

    _expression: ($) =>
      choice(
        $._operand,
        $.unary,
        $.binary,
      ),

    _operand: ($) =>
      choice(
        $.identifier,
        $.member,
        $.number,
        $.constant,
        $.parenthesised,
        $.call,
        $.read,
      ),

    member: ($) => prec(POSTFIX, seq($.identifier, repeat1(seq(".", $.identifier)))),

    constant: (_) => choice("inf", "nan"),

    parenthesised: ($) => seq("(", $._expression, ")"),

    call: ($) =>
      prec(
        POSTFIX,
        seq(field("function", $._operand), "(", optional(separated($._expression)), ")"),
      ),

    read: ($) =>
      prec(
        POSTFIX,
        seq(field("tensor", $._operand), "[", optional(separated($._expression)), "]"),
      ),

    unary: ($) =>
      choice(
        prec(SIGN, seq(field("operator", choice("-", "+", "~")), $._expression)),
        prec(NOT, seq(field("operator", "not"), $._expression)),
      ),

    binary: ($) =>
      choice(
        ...INFIX.map(([level, operators]) =>
          prec.left(
            level,
            seq(
              field("left", $._expression),
              field("operator", choice(...operators)),
              field("right", $._expression),
            ),
          ),
        ),
      ),

    _dotted: ($) => choice($.identifier, $.member),

    _signed: ($) => seq(optional(choice("-", "+")), alias($._bound, $.number)),

    identifier: (_) => /[A-Za-z_][A-Za-z0-9_]*/,

    number: (_) => /([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/,

    // In a choice a number ends before the `..` of a range.
    _bound: (_) => /([0-9]+(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?/,

    string: (_) => /"[^"\n\r]*"|'[^'\n\r]*'/,

    comment: (_) => /#[^\n\r]*/,
  },
});
