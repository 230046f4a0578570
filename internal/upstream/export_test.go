package upstream

// SplitResponse is for its own tests: from outside it only shows in how long a call takes.
var SplitResponse = splitResponse
