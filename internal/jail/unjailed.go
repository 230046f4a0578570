//go:build !sandboxd_unjailed

package jail

// Unjailed says that this build confines nothing. It is true only with the build tag
// sandboxd_unjailed, which is for one thing: the baseline that benchmarks compare the jail with.
const Unjailed = false
