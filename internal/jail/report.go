package jail

// Report is what Enter put in force, and how it knows. It travels to the daemon with READY.
type Report struct {
	Seccomp  string   `json:"seccomp"`  // "kill, 1 filter, 18 system calls"; "off" in an unjailed build
	Landlock int      `json:"landlock"` // the ABI in force, 0 only in an unjailed build
	Rlimits  []string `json:"rlimits"`  // "name=soft" or "name=soft:hard", as the kernel has them
	Proved   []string `json:"proved"`   // each thing that was tried, and failed as it must
}
