"""Descriptions of mistakes in a file, in its algorithm, and in the inputs of a run."""

from dtpoly.catalogue.entry import Entry

ALGORITHM: dict[str, Entry] = {
    # Reading and syntax.
    "DT100": Entry(
        "a file cannot be read",
        "Check the path and your right to read it. A folder is not read: name the files in it.",
    ),
    "DT101": Entry(
        "a file is not UTF-8 text",
        "Save the file as UTF-8. The message shows the first byte that is not.",
    ),
    "DT102": Entry(
        "a name has other characters than letters, digits and '_'",
        "Names also stand in the generated Python file and in its messages, so they keep to "
        "a-z, A-Z, 0-9 and '_'. Spell the letter out, as in alpha.",
    ),
    "DT103": Entry(
        "a character has no meaning",
        "Remove the character, or put it into a comment, which starts with # and ends with the "
        "line. There are no strings: dtypes and options are plain words.",
    ),
    "DT104": Entry(
        "a character only looks like one of the language",
        "Text from papers and web pages brings typographic signs and spaces along. Write the "
        "ASCII character that the hint names; curly brackets become "
        "parentheses, except in directives.",
    ),
    "DT105": Entry(
        "a number is written as in another language",
        "Numbers look like 12, 0.5, .5 or 1e-5, without suffixes, separators and prefixes. "
        "A dtype is given by cast(e, dtype) or by a declaration.",
    ),
    "DT106": Entry(
        "an expression nests too deeply",
        "Give a part of the expression a Func of its own. It can be inlined again, so this "
        "costs nothing.",
    ),
    "DT107": Entry(
        "a bracket is never closed",
        "Close the bracket before the ';' of the statement. The caret shows the bracket that "
        "is still open there.",
    ),
    "DT108": Entry(
        "a closing bracket has no partner",
        "Remove the bracket, or close those that were opened after its partner first.",
    ),
    "DT109": Entry(
        "a ';' is missing",
        "Each declaration, definition and directive ends with ';', the last one too.",
    ),
    "DT110": Entry(
        "this is not a statement",
        "A file has three kinds of statement: declarations (Func f;), definitions "
        "(f[x] = A[x];) and directives (f.block(x:16);). There are no loops and no "
        "conditions: labels are the loops, and where(c, a, b) chooses.",
    ),
    "DT111": Entry(
        "a declaration is malformed",
        "A declaration is Func, In, SIn, Var or RVar and then names with commas between them; "
        "Func, In and SIn take a dtype after a colon. Sizes and shapes are not declared: they "
        "follow from how tensors are indexed.",
    ),
    "DT112": Entry(
        "the left side of a definition is malformed",
        "Write the Func, its labels in brackets, and one '='. A Func of a single value has "
        "empty brackets.",
    ),
    "DT113": Entry(
        "a directive is malformed",
        "A directive is FUNC.word(arguments); where an argument is x, x:16 or y:yi/8, with "
        "whole numbers. Each directive is a statement of its own.",
    ),
    "DT114": Entry(
        "an expression is malformed",
        "A value is a number, a name, f[x, y], a call such as exp(e), or an expression in "
        "parentheses, and there is an operator between two of them. Products need their '*'.",
    ),
    "DT115": Entry(
        "a word of the language is used as a name",
        "Choose another name. inf and nan are numbers that need no declaration.",
    ),
    "DT116": Entry(
        "an operator of another language",
        "Write what the hint shows. The operators are + - * / % < <= > >= == != and, or, not; "
        "everything else is a function.",
    ),
    "DT117": Entry(
        "comparisons do not chain",
        "Compare twice and join both with 'and'.",
    ),
    "DT118": Entry(
        "a file has too many errors",
        "Mend the first ones and check again: later ones often follow from them.",
    ),
    "DT119": Entry(
        "a file is too large",
        "A source may have 200,000 characters. Split it into files of one kernel each.",
    ),
    # Names and indices.
    "DT120": Entry(
        "a name is not declared",
        "Correct the spelling, or declare the name: Func, In, SIn, Var, or RVar for a label "
        "that is reduced over.",
    ),
    "DT121": Entry(
        "a name is declared twice",
        "Keep one of the declarations. An RVar may serve as an ordinary label too, so it needs "
        "no second declaration as Var.",
    ),
    "DT122": Entry(
        "a Func is defined twice",
        "A Func has one definition. What would be a second step elsewhere is a second Func "
        "here; it can be fused with the first.",
    ),
    "DT123": Entry(
        "a Func is never defined",
        "Define it, or declare it as In if the caller passes it.",
    ),
    "DT124": Entry(
        "something else than a Func is defined",
        "Inputs are not written to. Declare the name as Func, or define another Func.",
    ),
    "DT125": Entry(
        "a Func needs itself",
        "A value cannot depend on itself, directly or through other Funcs. To add up over a "
        "label use a reduction; iteration belongs to the caller.",
    ),
    "DT126": Entry(
        "a tensor stands without indices",
        "Expressions speak of elements: index the tensor by one label per dimension.",
    ),
    "DT127": Entry(
        "something that is no tensor is indexed",
        "Only tensor inputs and Funcs have indices. Remove them, or give the expression a Func "
        "of its own and index that.",
    ),
    "DT128": Entry(
        "an unknown function",
        "Correct the spelling, write the function of this language that the hint names, or "
        "index a tensor with brackets instead of parentheses.",
    ),
    "DT129": Entry(
        "a function has the wrong number of arguments",
        "Call it as the hint shows. A reduction names its labels after the operand.",
    ),
    "DT130": Entry(
        "an unknown dtype",
        "Use one of bool, u8, i8, i16, i32, i64, f8e4m3, f8e5m2, f16, bf16, f32, f64.",
    ),
    "DT131": Entry(
        "a number is too large",
        "A whole number must fit 64 bits, one in an index 31 bits, and a fraction f64. What is "
        "computed of indices and sizes must fit 64 bits, too: a note says up to which size it "
        "does. For infinity write inf.",
    ),
    "DT132": Entry(
        "the left side is indexed by something else than a label",
        "The left side names the dimensions, so it has plain labels. Shift or scale the reads "
        "on the right instead.",
    ),
    "DT133": Entry(
        "a label stands twice on the left side",
        "Each dimension has a label of its own. A diagonal is chosen on the right: "
        "where(x == y, a, b).",
    ),
    "DT134": Entry(
        "a tensor has different numbers of indices",
        "A tensor or Func has one index per dimension wherever it stands. Reduce or index the "
        "dimension that is left out.",
    ),
    "DT135": Entry(
        "an index is not affine",
        "An index is a sum of labels times whole numbers, as in 2 * y + r - 1: so its bounds "
        "can be proved. Indices that come from data are not supported.",
    ),
    "DT136": Entry(
        "an index has a fraction",
        "Write whole numbers in indices.",
    ),
    "DT137": Entry(
        "a read starts before its tensor",
        "Say which value is outside, as in pad(A, 0)[x - 1], or shift all reads so that the "
        "first one is at 0.",
    ),
    "DT138": Entry(
        "a pad is not of the form pad(A, value)[...]",
        "pad names the tensor and the value outside of it; the indices come after: "
        "pad(A, 0)[x - 1].",
    ),
    "DT139": Entry(
        "the value of a pad is not a scalar",
        "Pad with a number, a scalar input, or an expression of those.",
    ),
    # Shapes.
    "DT140": Entry(
        "shapes do not line up",
        "Operands line up from the right, and each pair of axes must be the same label or have "
        "a 1. reshape(e, x, 1) adds the 1; the hint shows it for this expression.",
    ),
    "DT141": Entry(
        "a label is on the right but not on the left",
        "Reduce over the label, or give it to the left side.",
    ),
    "DT142": Entry(
        "a Func repeats its value along a label",
        "This is allowed: every element along the label has the same value. If it is not "
        "meant, remove the label from the left side.",
    ),
    "DT143": Entry(
        "a reshape drops a label",
        "A reshape only lays labels out: name each of them. Reduce over a label to get rid of it.",
    ),
    "DT144": Entry(
        "a reshape reorders labels",
        "Keep the labels in their order. A Func transposes: t[x, y] = A[y, x].",
    ),
    "DT145": Entry(
        "a reshape repeats its operand",
        "Write 1 where the operand lacks the label; the operands beside it bring the label in.",
    ),
    "DT146": Entry(
        "a Var is reduced over",
        "Declare the label as RVar. It can still be an ordinary label elsewhere.",
    ),
    "DT147": Entry(
        "a reduction over a label that its operand lacks",
        "Reduce over a label of the operand, or index the operand by this one. Both operands "
        "of an rdot have its label.",
    ),
    "DT148": Entry(
        "a reduction does not name a label",
        "The arguments after the operand are labels, not axis numbers: rsum(A[x, k], k).",
    ),
    "DT149": Entry(
        "a reduction names a label twice",
        "Name each label once.",
    ),
    # Calls.
    "DT150": Entry(
        "len of something that is no label",
        "len takes a label and gives its size: len(k).",
    ),
    "DT151": Entry(
        "program_id makes the result depend on the schedule",
        "An algorithm should mean the same under every schedule. If the index of the element "
        "is meant, use the label itself as a value.",
    ),
    "DT152": Entry(
        "program_id of something that is no axis",
        "A launch grid has the axes 0, 1 and 2.",
    ),
    "DT153": Entry(
        "an axis of a reshape is neither a label nor 1",
        "After the operand, name each of its labels once, in order, and write 1 for each "
        "further axis. Sizes and -1 have no place here.",
    ),
    "DT154": Entry(
        "rargmax or rargmin over several labels",
        "The result is an index along one label. For several, reduce over one after the other.",
    ),
    "DT155": Entry(
        "a directive on something that is no Func",
        "Only Funcs are computed, so only they are scheduled. Put the directive on the Func "
        "that reads the tensor.",
    ),
    "DT156": Entry(
        "rargmax or rargmin of nothing",
        "The label has size 0, and there is no index to return. Pass a larger size, or guard "
        "the call.",
    ),
    "DT157": Entry(
        "a tensor has the wrong rank",
        "Pass a tensor with as many axes as the program indexes; unsqueeze or flatten it first.",
    ),
    "DT158": Entry(
        "an input has the wrong dtype",
        "Convert it to the declared dtype, or leave the dtype out of the declaration, so that "
        "it is the caller's.",
    ),
    "DT159": Entry(
        "an argument that the program does not have or that is missing",
        "Pass every input by its name, and sizes for labels of the program only.",
    ),
    # Dtypes.
    "DT160": Entry(
        "a condition is no bool",
        "Compare it: e != 0. Conditions are what comparisons, and, or, not, rany and rall give, "
        "and tensors of bool.",
    ),
    "DT161": Entry(
        "dtypes have no common type",
        "8-bit floats do not promote. Cast one operand to the dtype that is meant.",
    ),
    "DT162": Entry(
        "arithmetic on booleans",
        "Negate a condition with 'not'; cast it to a whole number to count with it.",
    ),
    "DT163": Entry(
        "a Func is declared narrower than its value",
        "Cast the value, which says that the loss is meant, or declare the Func otherwise.",
    ),
    "DT164": Entry(
        "a label has a dtype",
        "Remove the dtype: a label has a size, and as a value it is a whole number.",
    ),
    # Sizes.
    "DT165": Entry(
        "a padding is no value of its tensor",
        "What is read outside of a tensor has the tensor's dtype, so the value must be one: no "
        "fraction and no infinity for whole numbers, no number that the dtype cannot hold. To pad "
        "with another kind of value, cast the tensor in a Func of its own and pad that.",
    ),
    "DT166": Entry(
        "a tensor has too many dimensions",
        "A tensor has at most 64 dimensions. Index one axis by several labels, as in "
        "A[4 * x + y], or split the Func.",
    ),
    "DT167": Entry(
        "a label cannot have that size",
        "Write a whole number of at least 1 after the colon, as in RVar r: 3. Without a number the "
        "tensors decide the size, or the caller passes it.",
    ),
    "DT168": Entry(
        "fixed sizes contradict each other",
        "All labels that index one axis by themselves have one size. Fix the same number for them, "
        "or read at an index that is smaller: a sum of labels only has to be inside.",
    ),
    "DT169": Entry(
        "a size is given that the file fixes otherwise",
        "The declaration of the label says its size. Leave the label out, or change the number in "
        "the file.",
    ),
    "DT170": Entry(
        "a size must be passed",
        "No tensor shows this size. Pass it by the label's name.",
    ),
    "DT171": Entry(
        "a read ends after its Func",
        "Say which value is outside, as in pad(f, 0)[x + 1], or define the Func over another "
        "label, which is then as large as it is read.",
    ),
    "DT172": Entry(
        "tensors disagree on a size",
        "A label has one size in a program. Pass tensors that agree, or use another label where "
        "the size may differ.",
    ),
    "DT173": Entry(
        "a read is outside of its tensor",
        "Pass a larger tensor, or read through pad(A, value).",
    ),
    "DT174": Entry(
        "a size that the caller must pass",
        "This is only a note: no tensor shows the size, so the caller passes it by name.",
    ),
    # The whole file.
    "DT175": Entry(
        "a declared name is never used",
        "Remove it from its declaration.",
    ),
    "DT176": Entry(
        "a name is also that of a function",
        "Calls still mean the function, so the file is right but hard to read. Choose another "
        "name.",
    ),
    "DT177": Entry(
        "nothing is compiled",
        "Put compile on each Func whose result is wanted; kernels are only made for what those "
        "need.",
    ),
    "DT178": Entry(
        "a scheduled Func is not needed by any compiled one",
        "Compile the Func, or a Func that reads it; or remove its directives.",
    ),
    "DT179": Entry(
        "a file has no statements",
        "Declare, define and compile at least one Func.",
    ),
}
