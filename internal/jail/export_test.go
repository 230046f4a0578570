package jail

// Rules, Rule, Arg and Value are the filter's source, for the tests that assemble it.
var Rules = rules

type (
	Rule  = rule
	Arg   = arg
	Value = value
)

// MaxThreads is what Check lets pass.
const MaxThreads = maxThreads
