" Colours .dt files. Made by python -m dtpoly.editor.grammars from the language itself.
if exists("b:current_syntax")
  finish
endif
syntax keyword dtType Func In SIn Var RVar
syntax keyword dtDtype bf16 bool f16 f32 f64 f8e4m3 f8e5m2 i16 i32 i4 i64 i8 u4 u8
syntax keyword dtOperator and or not
syntax keyword dtConstant inf nan
syntax keyword dtPlaced in at where algorithm into add distinct packed within
syntax match dtFunction /\<\(abs\|cast\|cdiv\|ceil\|clamp\|cos\|div_rn\|erf\|exp\|exp2\|fdiv\|floor\|fma\|len\|log\|log2\|maximum\|minimum\|pad\|pow\|program_id\|rall\|random\|random_bits\|rany\|rargmax\|rargmin\|rargtopk\|rdot\|reshape\|rmax\|rmin\|round\|rprod\|rsqrt\|rsum\|rtopk\|scan_affine\|scan_max\|scan_min\|scan_prod\|scan_sum\|sigmoid\|sin\|sqrt\|sqrt_rn\|tanh\|trunc\|where\)\ze\s*(/
syntax match dtDirective /\w\s*\.\s*\zs\h\w*\ze\s*(/
syntax match dtNumber /\<[0-9][0-9_]*\(\.[0-9_]\+\)\?\([eE][+-]\?[0-9]\+\)\?\>/
syntax match dtComment /#.*$/
highlight default link dtType Type
highlight default link dtDtype Type
highlight default link dtOperator Operator
highlight default link dtConstant Constant
highlight default link dtPlaced Keyword
highlight default link dtFunction Function
highlight default link dtDirective Special
highlight default link dtNumber Number
highlight default link dtComment Comment
let b:current_syntax = "dtpoly"
