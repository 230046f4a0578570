//go:build sandboxd_unjailed

package jail

// Unjailed is true: this build confines nothing, and is the baseline arm of benchmarks.
const Unjailed = true
