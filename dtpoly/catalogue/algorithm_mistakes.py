"""Descriptions of mistakes in a file, in its algorithm, and in the inputs of a run."""

from dtpoly.catalogue.catalogue_entry import CatalogueEntry

ALGORITHM: dict[str, CatalogueEntry] = {
    # Reading and syntax.
    "DT100": CatalogueEntry(
        "a file cannot be read",
        "Check the path and your right to read it. A folder is not read: name the files in it.",
    ),
    "DT101": CatalogueEntry(
        "a file is not UTF-8 text",
        "Save the file as UTF-8. The message shows the first byte that is not.",
    ),
    "DT102": CatalogueEntry(
        "a name has other characters than letters, digits and '_'",
        "Names also stand in the generated Python file and in its messages, so they keep to "
        "a-z, A-Z, 0-9 and '_'. Spell the letter out, as in alpha.",
    ),
    "DT103": CatalogueEntry(
        "a character has no meaning",
        "Remove the character, or put it into a comment, which starts with # and ends with the "
        "line. There are no strings: dtypes and options are plain words.",
    ),
    "DT104": CatalogueEntry(
        "a character only looks like one of the language",
        "Text from papers and web pages brings typographic signs and spaces along. Write the "
        "ASCII character that the hint names; curly brackets become "
        "parentheses, except in directives.",
    ),
    "DT105": CatalogueEntry(
        "a number is written as in another language",
        "Numbers look like 12, 0.5, .5 or 1e-5, without suffixes, separators and prefixes. "
        "A dtype is given by cast(e, dtype) or by a declaration.",
    ),
    "DT106": CatalogueEntry(
        "an expression nests too deeply",
        "Give a part of the expression a Func of its own. It can be inlined again, so this "
        "costs nothing.",
    ),
    "DT107": CatalogueEntry(
        "a bracket is never closed",
        "Close the bracket before the ';' of the statement. The caret shows the bracket that "
        "is still open there.",
    ),
    "DT108": CatalogueEntry(
        "a closing bracket has no partner",
        "Remove the bracket, or close those that were opened after its partner first.",
    ),
    "DT109": CatalogueEntry(
        "a ';' is missing",
        "Each declaration, definition and directive ends with ';', the last one too.",
    ),
    "DT110": CatalogueEntry(
        "this is not a statement",
        "A file has three kinds of statement: declarations (Func f;), definitions "
        "(f[x] = A[x];) and directives (f.block(x:16);). There are no loops and no "
        "conditions: labels are the loops, and where(c, a, b) chooses. A definition has one Func "
        "on its left side, and f.compile(g); returns several of them from one function.",
    ),
    "DT111": CatalogueEntry(
        "a declaration is malformed",
        "A declaration is Func, In, SIn, Var or RVar and then names with commas between them; "
        "Func, In and SIn take a dtype after a colon. Sizes and shapes are not declared: they "
        "follow from how tensors are indexed.",
    ),
    "DT112": CatalogueEntry(
        "the left side of a definition is malformed",
        "Write the Func, its labels in brackets, and one '='. A Func of a single value has "
        "empty brackets. There is no '+=': a reduction adds up over a label, and a Func that goes "
        "into a tensor at a place, with add, is added there.",
    ),
    "DT113": CatalogueEntry(
        "a directive is malformed",
        "A directive is FUNC.word(arguments); where an argument is x, x:16 or y:yi/8, with "
        "whole numbers. Each directive is a statement of its own.",
    ),
    "DT114": CatalogueEntry(
        "an expression is malformed",
        "A value is a number, a name, f[x, y], a call such as exp(e), or an expression in "
        "parentheses, and there is an operator between two of them. Products need their '*'.",
    ),
    "DT115": CatalogueEntry(
        "a word of the language is used as a name",
        "Choose another name. inf and nan are numbers that need no declaration.",
    ),
    "DT116": CatalogueEntry(
        "an operator of another language",
        "Write what the hint shows. The operators are + - * / % < <= > >= == != and, or, not; "
        "everything else is a function.",
    ),
    "DT117": CatalogueEntry(
        "comparisons do not chain",
        "Compare twice and join both with 'and'.",
    ),
    "DT118": CatalogueEntry(
        "a file has too many errors",
        "Mend the first ones and check again: later ones often follow from them.",
    ),
    "DT119": CatalogueEntry(
        "a file is too large",
        "A source may have 200,000 characters. Split it into files of one kernel each.",
    ),
    # Names and indices.
    "DT120": CatalogueEntry(
        "a name is not declared",
        "Correct the spelling, or declare the name: Func, In, SIn, Var, or RVar for a label "
        "that is reduced over.",
    ),
    "DT121": CatalogueEntry(
        "a name is declared twice",
        "Keep one of the declarations. An RVar may serve as an ordinary label too, so it needs "
        "no second declaration as Var.",
    ),
    "DT122": CatalogueEntry(
        "a Func is defined twice",
        "A Func has one definition. What would be a second step elsewhere is a second Func "
        "here; it can be fused with the first.",
    ),
    "DT123": CatalogueEntry(
        "a Func is never defined",
        "Define it, or declare it as In if the caller passes it.",
    ),
    "DT124": CatalogueEntry(
        "something else than a Func is defined",
        "Only a Func is defined. A Func may go into an input, also at places that are data: Func p "
        "into P; then p is defined. Or declare the name as Func.",
    ),
    "DT125": CatalogueEntry(
        "a Func needs itself",
        "A value cannot depend on itself, directly or through other Funcs. To add up over a "
        "label use a reduction. What goes on along a label is a scan: h = a * h + b is "
        "scan_affine. Any other iteration belongs to the caller.",
    ),
    "DT126": CatalogueEntry(
        "a tensor stands without indices",
        "Expressions speak of elements: index the tensor by one label per dimension.",
    ),
    "DT127": CatalogueEntry(
        "something that is no tensor is indexed",
        "Only tensor inputs and Funcs have indices. Remove them, or give the expression a Func "
        "of its own and index that.",
    ),
    "DT128": CatalogueEntry(
        "an unknown function",
        "Correct the spelling, write the function of this language that the hint names, or "
        "index a tensor with brackets instead of parentheses.",
    ),
    "DT129": CatalogueEntry(
        "a function has the wrong number of arguments",
        "Call it as the hint shows. A reduction names its labels after the operand.",
    ),
    "DT130": CatalogueEntry(
        "an unknown dtype",
        "Use one of bool, u8, i8, i16, i32, i64, f8e4m3, f8e5m2, f16, bf16, f32, f64.",
    ),
    "DT131": CatalogueEntry(
        "a number is too large",
        "A whole number must fit 64 bits, one in an index 31 bits, and a fraction f64. What is "
        "computed of indices and sizes must fit 64 bits, too: a note says up to which size it "
        "does. For infinity write inf.",
    ),
    "DT132": CatalogueEntry(
        "the left side is indexed by something else than a label",
        "The left side names the dimensions, so it has plain labels. Shift or scale the reads "
        "on the right instead. Elements that go to places of a tensor are declared: Func f into O "
        "at [T[l]] distinct; or, if they are added there, with add.",
    ),
    "DT133": CatalogueEntry(
        "a label stands twice on the left side",
        "Each dimension has a label of its own. A diagonal is chosen on the right: "
        "where(x == y, a, b).",
    ),
    "DT134": CatalogueEntry(
        "a tensor has different numbers of indices",
        "A tensor or Func has one index per dimension wherever it stands. Reduce or index the "
        "dimension that is left out.",
    ),
    "DT135": CatalogueEntry(
        "an index is not affine",
        "An index is a sum of labels times whole numbers, as in 2 * y + r - 1, and of quotients "
        "and remainders of such sums by numbers, as in x // 2 and x % 3: so its bounds can be "
        "proved. An end of a range has no quotients, but it may have sizes. An index or an end "
        "that is data has an element of a tensor in it, such as T[x]. So a number of the caller is "
        "an index if it is a tensor of one element, as in pos[0], and an index of any other form "
        "is in a table that the caller passes.",
    ),
    "DT136": CatalogueEntry(
        "an index has a fraction",
        "Write whole numbers in indices.",
    ),
    "DT137": CatalogueEntry(
        "a read starts before its tensor",
        "Say which value is outside, as in pad(A, 0)[x - 1], or shift all reads so that the "
        "first one is at 0.",
    ),
    "DT138": CatalogueEntry(
        "a pad is not of the form pad(A, value)[...]",
        "pad names the tensor and the value outside of it; the indices come after: "
        "pad(A, 0)[x - 1].",
    ),
    "DT139": CatalogueEntry(
        "the value of a pad is not a scalar",
        "Pad with a number, a scalar input, or an expression of those.",
    ),
    "DT217": CatalogueEntry(
        "an index is divided by what is no number above 0",
        "Write a whole number above 0 after // and % in an index. A quotient is rounded down, as "
        "in Python, and only by numbers can its bounds be proved.",
    ),
    "DT218": CatalogueEntry(
        "a scan has no meaning",
        "A scan has a result for each index of a Var on the left side: scan_sum(A[x, s], s, t) "
        "adds up all s up to t. So its operand reads s and not t, and it stands in no other "
        "reduction. before leaves out the element at t itself, and reverse begins at the end.",
    ),
    # Shapes.
    "DT140": CatalogueEntry(
        "shapes do not line up",
        "Operands line up from the right, and each pair of axes must be the same label or have "
        "a 1. reshape(e, x, 1) adds the 1; the hint shows it for this expression.",
    ),
    "DT141": CatalogueEntry(
        "a label is on the right but not on the left",
        "Reduce over the label, or give it to the left side.",
    ),
    "DT142": CatalogueEntry(
        "a Func repeats its value along a label",
        "This is allowed: every element along the label has the same value. If it is not "
        "meant, remove the label from the left side.",
    ),
    "DT143": CatalogueEntry(
        "a reshape drops a label",
        "A reshape only lays labels out: name each of them. Reduce over a label to get rid of it.",
    ),
    "DT144": CatalogueEntry(
        "a reshape reorders labels",
        "Keep the labels in their order. A Func transposes: t[x, y] = A[y, x].",
    ),
    "DT145": CatalogueEntry(
        "a reshape repeats its operand",
        "Write 1 where the operand lacks the label; the operands beside it bring the label in.",
    ),
    "DT146": CatalogueEntry(
        "a Var is reduced over",
        "Declare the label as RVar. It can still be an ordinary label elsewhere.",
    ),
    "DT147": CatalogueEntry(
        "a reduction over a label that its operand lacks",
        "Reduce over a label of the operand, or index the operand by this one. Both operands "
        "of an rdot have its label.",
    ),
    "DT148": CatalogueEntry(
        "a reduction does not name a label",
        "The arguments after the operand are labels, not axis numbers: rsum(A[x, k], k).",
    ),
    "DT149": CatalogueEntry(
        "a reduction names a label twice",
        "Name each label once.",
    ),
    # Calls.
    "DT150": CatalogueEntry(
        "len of something that is no label",
        "len takes a label and gives its size: len(k).",
    ),
    "DT151": CatalogueEntry(
        "program_id makes the result depend on the schedule",
        "An algorithm should mean the same under every schedule. If the index of the element "
        "is meant, use the label itself as a value.",
    ),
    "DT152": CatalogueEntry(
        "program_id of something that is no axis",
        "A launch grid has the axes 0, 1 and 2.",
    ),
    "DT153": CatalogueEntry(
        "an axis of a reshape is neither a label nor 1",
        "After the operand, name each of its labels once, in order, and write 1 for each "
        "further axis. Sizes and -1 have no place here.",
    ),
    "DT154": CatalogueEntry(
        "rargmax or rargmin over several labels",
        "The result is an index along one label. For several, reduce over one after the other.",
    ),
    "DT155": CatalogueEntry(
        "a directive on something that is no Func",
        "Only Funcs are computed, so only they are scheduled. Put the directive on the Func "
        "that reads the tensor.",
    ),
    "DT156": CatalogueEntry(
        "rargmax or rargmin of nothing",
        "The label has size 0, or its range has no index, and there is no index to return. Pass a "
        "larger size, or guard the call; give the label a range that always has an index.",
    ),
    "DT157": CatalogueEntry(
        "a tensor has the wrong rank",
        "Pass a tensor with as many axes as the program indexes; unsqueeze or flatten it first.",
    ),
    "DT158": CatalogueEntry(
        "an input has the wrong dtype",
        "Convert it to the declared dtype, or leave the dtype out of the declaration, so that "
        "it is the caller's.",
    ),
    "DT159": CatalogueEntry(
        "an argument that the program does not have or that is missing",
        "Pass every input by its name, and sizes for labels of the program only.",
    ),
    # Dtypes.
    "DT160": CatalogueEntry(
        "a condition is no bool",
        "Compare it: e != 0. Conditions are what comparisons, and, or, not, rany and rall give, "
        "and tensors of bool.",
    ),
    "DT161": CatalogueEntry(
        "dtypes have no common type",
        "8-bit floats do not promote. Cast one operand to the dtype that is meant.",
    ),
    "DT162": CatalogueEntry(
        "arithmetic on booleans",
        "Negate a condition with 'not'; cast it to a whole number to count with it.",
    ),
    "DT163": CatalogueEntry(
        "a Func is declared narrower than its value",
        "Cast the value, which says that the loss is meant, or declare the Func otherwise.",
    ),
    "DT164": CatalogueEntry(
        "a label has a dtype, or something else has a range",
        "Remove the dtype: a label has a size, and as a value it is a whole number. Only labels "
        "have a range.",
    ),
    "DT219": CatalogueEntry(
        "a packed input that cannot be one",
        "Two numbers of 4 bits lie in a byte along one axis of a tensor input: In W: i4 packed k. "
        "All reads show the axis by the label k. Outside of it there is 0, and no Func goes into "
        "it. Elsewhere a number has a byte at least: i8 or u8.",
    ),
    "DT230": CatalogueEntry(
        "an operator of whole numbers gets something else",
        "//, <<, >>, &, |, ^ and ~ compute with whole numbers and their bits; &, |, ^ and ~ also "
        "with bools. Cast a float to the whole-number type that is meant.",
    ),
    "DT231": CatalogueEntry(
        "a shift by a number that is no place of a bit",
        "A shift by less than 0, or by the number of bits of the type or more, leaves nothing. "
        "Write a smaller number, or cast what is shifted to a type with more bits.",
    ),
    "DT232": CatalogueEntry(
        "an index that is data is no whole number",
        "In E[T[l], k], the elements of T are indices. Declare T with a dtype of whole numbers, as "
        "in In T: i64; or cast what is computed, which says how it is rounded.",
    ),
    "DT235": CatalogueEntry(
        "the places of a list are no label of a small size",
        "rtopk(e, k, j) and rargtopk(e, k, j) give what stands at place j of a list. The label j "
        "has the length of the list as its size, from 1 to 64: Var j: 8. A single place is read "
        "from a Func, as in value[x, 0].",
    ),
    "DT236": CatalogueEntry(
        "a list of conditions",
        "Conditions are true or false, so a list of the largest of them is a list of the first "
        "that are true. Cast them to a whole number if that is meant.",
    ),
    "DT249": CatalogueEntry(
        "one random number for several elements",
        "A random number is a function of its arguments alone. Name all labels of the element, as "
        "in random(seed, x, y). A number that several elements share on purpose gets a Func of its "
        "own, over the labels that it has.",
    ),
    # Sizes.
    "DT165": CatalogueEntry(
        "a padding is no value of its tensor",
        "What is read outside of a tensor has the tensor's dtype, so the value must be one: no "
        "fraction and no infinity for whole numbers, no number that the dtype cannot hold. To pad "
        "with another kind of value, cast the tensor in a Func of its own and pad that.",
    ),
    "DT166": CatalogueEntry(
        "a tensor has too many dimensions",
        "A tensor has at most 64 dimensions. Index one axis by several labels, as in "
        "A[4 * x + y], or split the Func.",
    ),
    "DT167": CatalogueEntry(
        "a label cannot have that size",
        "Write a whole number of at least 1 after the colon, as in RVar r: 3. Without a number the "
        "tensors decide the size, or the caller passes it.",
    ),
    "DT168": CatalogueEntry(
        "fixed sizes contradict each other",
        "All labels that index one axis by themselves have one size. Fix the same number for them, "
        "or read at an index that is smaller: a sum of labels only has to be inside.",
    ),
    "DT169": CatalogueEntry(
        "a size is given that the file fixes otherwise",
        "The declaration of the label says its size. Leave the label out, or change the number in "
        "the file.",
    ),
    "DT170": CatalogueEntry(
        "a size must be passed",
        "No tensor shows this size. Pass it by the label's name.",
    ),
    "DT171": CatalogueEntry(
        "a read ends after its Func",
        "Say which value is outside, as in pad(f, 0)[x + 1], or define the Func over another "
        "label, which is then as large as it is read.",
    ),
    "DT172": CatalogueEntry(
        "tensors disagree on a size",
        "A label has one size in a program. Pass tensors that agree, or use another label where "
        "the size may differ.",
    ),
    "DT173": CatalogueEntry(
        "a read is outside of its tensor",
        "Pass a larger tensor, or read through pad(A, value).",
    ),
    "DT174": CatalogueEntry(
        "a size that the caller must pass",
        "This is only a note: no tensor shows the size, so the caller passes it by name.",
    ),
    # The whole file.
    "DT175": CatalogueEntry(
        "a declared name is never used",
        "Remove it from its declaration.",
    ),
    "DT176": CatalogueEntry(
        "a name is also that of a function",
        "Calls still mean the function, so the file is right but hard to read. Choose another "
        "name.",
    ),
    "DT177": CatalogueEntry(
        "nothing is compiled",
        "Put compile on each Func whose result is wanted; kernels are only made for what those "
        "need.",
    ),
    "DT178": CatalogueEntry(
        "a scheduled Func is not needed by any compiled one",
        "Compile the Func, or a Func that reads it; or remove its directives.",
    ),
    "DT179": CatalogueEntry(
        "a file has no statements",
        "Declare, define and compile at least one Func.",
    ),
    # Ranges of labels.
    "DT215": CatalogueEntry(
        "a range depends on a label that is not there",
        "The range of a label may name other labels. Each of them needs an index wherever the "
        "label is used: it stands on the left side of the Func, or a reduction around binds it. "
        "Put it there, or use a label without a range.",
    ),
    "DT216": CatalogueEntry(
        "a range has no index",
        "A range is half-open: it has its start, and ends before its stop. Indices begin at 0. "
        "Write a stop that is above the start for some sizes.",
    ),
    "DT237": CatalogueEntry(
        "an end of a range is no whole number that is given",
        "An end of a range may be data: a sum or product of elements of inputs, labels, sizes and "
        "numbers, or maximum, minimum and where of such. The inputs are declared with a dtype of "
        "whole numbers, also those that an element is read at. Loops begin and end there, so a "
        "Func cannot be an end: compute it in a file of its own.",
    ),
    "DT238": CatalogueEntry(
        "a reduction cannot go over a range that comes from data",
        "Outside of such a range, the operand of a reduction is a value that changes nothing: 0 in "
        "a sum, -inf in a maximum of floats. rargmax, lists, and maxima of whole numbers have no "
        "such value. Reduce floats, or use a label without a range and a mask of your own. A scan "
        "has a result at each index of another label, which has no such range: write a mask, or a "
        "reduction if the range depends on that label.",
    ),
    "DT254": CatalogueEntry(
        "a promise of range that cannot be one",
        "In In T: i64 within len(v); the caller promises that each element of T is at least 0 and "
        "below the size of v, or below a number. T is a tensor input of whole numbers that is "
        "neither packed nor written, and something is read or written at an element of it alone, "
        "as in E[T[l], k]: this is not tested then, and the axis has the size of v.",
    ),
    "DT255": CatalogueEntry(
        "a call passes data that is not in its range",
        "A file promises by within what elements are below, or by distinct that no two elements "
        "have the same place. Kernels rely on it and do not look. The reference looks, and so does "
        "a call that checks its data. Pass data that keeps the promise, or leave the promise out: "
        "then each index is tested, and nothing is read or written outside.",
    ),
}
